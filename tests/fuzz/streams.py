"""Compare streams of several frames, in pieces of any size, with Java's ``NettyDecoder``.

Rules of this file: each frame of a stream is also given to Java alone.  If the two sides disagree
about that, the trial is about this frame, as in the formats of the headers; else it is about the
stream.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError
from rocketwire.wire.command import CommandDecoder, decode
from rocketwire.wire.frame import FrameDecoder
from tests.fuzz.headers import BinaryHeaders, JsonHeaders, build_frame, java_command, neutral
from tests.fuzz.trials import Outcome, Refusal, Trial, javas, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.chance import Chance
    from tests.peers.oracle import Oracle

ROUND = 1000
FORMS = (JsonHeaders(), BinaryHeaders())
PREFIX = 8


@dataclass(frozen=True, slots=True)
class _Stream:
    kind: str
    data: bytes
    sizes: tuple[int, ...]


def cut(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole frames of a stream up to the first that cannot be one, and what follows them."""
    frames: list[bytes] = []
    decoder = FrameDecoder()
    decoder.feed(data)
    at = 0
    try:
        while decoder.next_frame() is not None:
            end = len(data) - decoder.buffered
            frames.append(data[at:end])
            at = end
    except DecodeError:
        pass
    return frames, data[at:]


def read_stream(data: bytes, sizes: tuple[int, ...]) -> Outcome:
    """The commands of a stream that comes in pieces of these sizes, again and again, and whether it may go on."""
    decoder = CommandDecoder()
    commands: list[Outcome] = []
    at = 0
    try:
        for size in itertools.cycle(sizes):
            decoder.feed(data[at : at + size])
            while (command := decoder.next_command()) is not None:
                commands.append(neutral(command))
            at += size
            if at >= len(data):
                break
    except DecodeError:
        return {"commands": commands, "behind": [], "open": False}
    return {"commands": commands, "behind": [], "open": True}


class Streams:
    """Streams of frames of both serialisations."""

    name = "stream"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        """A quarter is as Java wrote it, perhaps without its end; the rest is damaged somewhere."""
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            commands = [chance.choice(FORMS).command(chance) for _ in range(max(2, size // 8))]
            written = oracle.ask_all({**neutral(one), "op": "encode_frame"} for one in commands)
            frames = [bytes.fromhex(one["hex"]) for one in written if one["ok"]]
            frames = frames or [build_frame(b"{}", b"", SerializeType.JSON)]
            streams = [self._stream(chance, frames) for _ in range(size)]
            yield from self._compare(oracle, streams)

    def _compare(self, oracle: Oracle, streams: list[_Stream]) -> Iterator[Trial]:
        pieces = [cut(stream.data)[0] for stream in streams]
        singly = oracle.ask_all(
            {"op": "decode_frame", "hex": frame.hex()} for frames in pieces for frame in frames
        )
        alone = [java_command(answer) for answer in singly]
        answers = oracle.ask_all(
            {"op": "stream", "hex": stream.data.hex(), "sizes": stream.sizes} for stream in streams
        )
        for stream, frames, answer in zip(streams, pieces, answers, strict=True):
            single, alone = alone[: len(frames)], alone[len(frames) :]
            dispute = self._dispute(stream, frames, single)
            if dispute is not None:
                yield dispute
                continue
            our = ours(read_stream, stream.data, stream.sizes)
            java = javas(answer, "commands")
            if not isinstance(java, Refusal) and isinstance(our, dict):
                read = len(cast("dict[str, Any]", our)["commands"])
                java = {"commands": java[:read], "behind": java[read:], "open": answer["open"]}
            yield Trial(kind=stream.kind, data=stream.data, java=java, ours=our)

    def _dispute(self, stream: _Stream, frames: list[bytes], single: list[Outcome]) -> Trial | None:
        """The first frame, before any that both refuse, that only one side reads."""
        for frame, java in zip(frames, single, strict=True):
            our = ours(_read, frame)
            if isinstance(java, Refusal) != isinstance(our, Refusal):
                return self._alone(stream.kind, frame, java, our)
            if isinstance(java, Refusal):
                return None
        return None

    def _alone(self, kind: str, frame: bytes, java: Outcome, our: Outcome) -> Trial:
        def again(other: Oracle) -> Outcome:
            return java_command(other.ask("decode_frame", hex=frame.hex()))

        return Trial(kind=kind, data=frame, java=java, ours=our, about="frame", retry=again)

    # ------------------------------------------------------------------------ making them

    def _stream(self, chance: Chance, frames: list[bytes]) -> _Stream:
        chosen = [chance.choice(frames) for _ in range(1 + chance.below(4))]
        way = chance.below(8)
        kind = "read what Java wrote" if way < 2 else "read damaged"
        if 2 <= way < 6:
            accident = (self._odd, self._odd, self._damaged, self._wrong_prefix)[way - 2]
            at = chance.below(len(chosen))
            chosen[at] = accident(chance, chosen[at])
        data = b"".join(chosen)
        if way >= 6:
            data = chance.damage(data, 2)
        if way == 1:
            data = data[: chance.below(len(data) + 1)]
        return _Stream(kind, data, self._sizes(chance, len(data)))

    def _odd(self, chance: Chance, _frame: bytes) -> bytes:
        form = chance.choice(FORMS)
        return build_frame(form.odd(chance), chance.data(), form.form)

    def _damaged(self, chance: Chance, frame: bytes) -> bytes:
        size = int.from_bytes(frame[5:PREFIX], "big")
        header = chance.damage(frame[PREFIX : PREFIX + size], 2)
        return build_frame(header, frame[PREFIX + size :], SerializeType(frame[4]))

    def _wrong_prefix(self, chance: Chance, frame: bytes) -> bytes:
        """A length, a type or a header length that is a little wrong, or very."""
        word = int.from_bytes(frame[:4], "big")
        if chance.below(2):
            word = chance.choice((word + chance.whole(4), chance.below(9), chance.whole(32)))
            return (word & 0xFFFFFFFF).to_bytes(4, "big") + frame[4:]
        size = int.from_bytes(frame[5:PREFIX], "big")
        if chance.below(2):
            size = chance.choice((size + chance.whole(4), chance.whole(24))) & 0xFFFFFF
        kind = frame[4] if chance.below(2) else chance.below(256)
        return frame[:4] + bytes((kind,)) + size.to_bytes(3, "big") + frame[PREFIX:]

    def _sizes(self, chance: Chance, length: int) -> tuple[int, ...]:
        way = chance.below(8)
        if way == 0:
            return (1 + chance.below(8),)
        if way < 4:
            return (max(1, length),)
        return tuple(1 + chance.below(max(1, length // 2)) for _ in range(1 + chance.below(5)))


def _read(frame: bytes) -> Outcome:
    return neutral(decode(frame))
