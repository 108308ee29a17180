"""Turns the bytes of a connection into captured segments, with losses and repetitions, and
determines the truth about frames."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from tests.support.captures.traffic import Dialogue

FIN, SYN, ACK = 1, 2, 16
_WHOLE = 1 << 32


class Packet(NamedTuple):
    """A TCP segment as it was captured."""

    time_ns: int
    source: tuple[str, int]
    target: tuple[str, int]
    sequence: int
    acknowledged: int
    flags: int
    data: bytes


class SentFrame(NamedTuple):
    """A frame that was sent, and what of it was captured.

    Attributes:
        source: address and port of the sender.
        target: of the receiver.
        time_ns: when its first byte was captured; None if it was not.
        end_time_ns: when the last captured of its bytes was.
        length: of the frame, all of it.
        header: whether all of its prefix and header was captured.
        body: whether all of its body was.
        data: the frame.
    """

    source: tuple[str, int]
    target: tuple[str, int]
    time_ns: int | None
    end_time_ns: int | None
    length: int
    header: bool
    body: bool
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Shares of segments to which something happens.

    Attributes:
        lost: the capture misses it.
        repeated: it is sent again.
        reordered: it is captured later than it should be.
        snaplen: bytes of each packet's payload that are kept; 0 for all.
        offload: share of connections with segments of up to 63 KB.
    """

    lost: float = 0.0
    repeated: float = 0.004
    reordered: float = 0.004
    snaplen: int = 0
    offload: float = 0.3


CLEAN = Trouble(repeated=0.0, reordered=0.0)
LOSSY = Trouble(lost=0.01, repeated=0.02, reordered=0.02)


class _Side:
    """One direction of a connection on its way."""

    def __init__(self, source: tuple[str, int], target: tuple[str, int], first: int) -> None:
        self.source = source
        self.target = target
        self.first = first
        self.sent = 0
        self.frames: list[tuple[int, bytes]] = []
        self.captured: list[tuple[int, int, int]] = []


def packets(
    dialogue: Dialogue, trouble: Trouble, chance: random.Random, truth: list[SentFrame]
) -> list[Packet]:
    """Send the messages of a connection, and append the truth about its frames."""
    firsts = [chance.choice((_WHOLE - 3000, chance.randrange(_WHOLE))) for _ in range(2)]
    client = _Side(dialogue.client, dialogue.server, firsts[0])
    server = _Side(dialogue.server, dialogue.client, firsts[1])
    captured: list[Packet] = []
    if dialogue.has_start and dialogue.utterances:
        _handshake(captured, client, server, dialogue.utterances[0].time_ns - 900_000)
    segment_size = chance.choice((1448, 1428)) if chance.random() >= trouble.offload else 63_000
    waiting: dict[bool, list[bytes]] = {
        True: [dialogue.opening] if dialogue.opening else [],
        False: [],
    }
    for number, utterance in enumerate(dialogue.utterances):
        side = client if utterance.client else server
        text = b"".join([*waiting[utterance.client], utterance.data])
        if utterance.is_frame:
            offset = sum(map(len, waiting[utterance.client]))
            side.frames.append((side.sent + offset, utterance.data))
        following = (
            dialogue.utterances[number + 1] if number + 1 < len(dialogue.utterances) else None
        )
        is_corked = (
            following is not None
            and following.client == utterance.client
            and following.time_ns - utterance.time_ns < 300_000
        )
        if is_corked:
            waiting[utterance.client] = [text]
            continue
        waiting[utterance.client] = []
        receiver = server if utterance.client else client
        _send(captured, side, receiver, text, utterance.time_ns, segment_size, trouble, chance)
    for side in (client, server):
        truth.extend(_truth(side))
    return captured


def _handshake(captured: list[Packet], client: _Side, server: _Side, now: int) -> None:
    syn_sequences = (client.first - 1) % _WHOLE, (server.first - 1) % _WHOLE
    captured.append(Packet(now, client.source, client.target, syn_sequences[0], 0, SYN, b""))
    captured.append(
        Packet(
            now + 100_000,
            server.source,
            server.target,
            syn_sequences[1],
            client.first,
            SYN | ACK,
            b"",
        )
    )
    captured.append(
        Packet(now + 200_000, client.source, client.target, client.first, server.first, ACK, b"")
    )


def _send(
    captured: list[Packet],
    side: _Side,
    receiver: _Side,
    text: bytes,
    now: int,
    segment_size: int,
    trouble: Trouble,
    chance: random.Random,
) -> None:
    offset = 0
    while offset < len(text):
        data = text[offset : offset + segment_size]
        position = side.sent + offset
        offset += len(data)
        now += 1000
        time_ns = now
        fate = chance.random()
        if fate < trouble.lost:
            continue
        if fate < trouble.lost + trouble.reordered:
            time_ns += chance.randrange(50_000, 40_000_000)
        _capture(captured, side, receiver, position, data, time_ns, trouble)
        if chance.random() < trouble.repeated:
            low = chance.randrange(len(data))
            if chance.random() < 0.5:
                low = 0
            repeated_ns = time_ns + chance.randrange(1_000_000, 300_000_000)
            _capture(captured, side, receiver, position + low, data[low:], repeated_ns, trouble)
    side.sent += len(text)
    if chance.random() < 0.5:
        acknowledged = (side.first + side.sent) % _WHOLE
        sequence = (receiver.first + receiver.sent) % _WHOLE
        ack_ns = now + 400_000_000 if trouble.repeated or trouble.reordered else now + 40_000
        captured.append(
            Packet(ack_ns, receiver.source, receiver.target, sequence, acknowledged, ACK, b"")
        )


def _capture(
    captured: list[Packet],
    side: _Side,
    receiver: _Side,
    position: int,
    data: bytes,
    time_ns: int,
    trouble: Trouble,
) -> None:
    sequence = (side.first + position) % _WHOLE
    captured.append(Packet(time_ns, side.source, side.target, sequence, receiver.first, ACK, data))
    kept = min(len(data), trouble.snaplen) if trouble.snaplen else len(data)
    if kept:
        side.captured.append((position, position + kept, time_ns))


def _truth(side: _Side) -> Iterator[SentFrame]:
    captured = sorted(side.captured, key=lambda segment: segment[0])
    starts = [segment[0] for segment in captured]
    longest = max((end - start for start, end, _ in captured), default=0)
    for position, data in side.frames:
        end = position + len(data)
        low = bisect_right(starts, position - longest)
        high = bisect_right(starts, end)
        near = sorted(captured[max(low - 1, 0) : high], key=lambda segment: segment[2])
        header_end = position + 8 + int.from_bytes(data[5:8], "big")
        first, last, holes = _coverage(near, position, end)
        yield SentFrame(
            side.source, side.target, first, last, len(data),
            not any(start < header_end for start, _ in holes),
            not any(stop > header_end for _, stop in holes),
            data,
        )  # fmt: skip


def _coverage(
    segments: list[tuple[int, int, int]], start: int, end: int
) -> tuple[int | None, int | None, list[tuple[int, int]]]:
    """When the first byte was captured, when the last captured one was, and what was not."""
    holes = [(start, end)]
    first = last = None
    for low, high, time_ns in segments:
        if high <= start or low >= end or not holes:
            continue
        remaining: list[tuple[int, int]] = []
        for hole_start, hole_end in holes:
            if high <= hole_start or low >= hole_end:
                remaining.append((hole_start, hole_end))
                continue
            if low <= start and hole_start == start:
                first = time_ns
            last = time_ns if last is None else max(last, time_ns)
            if low > hole_start:
                remaining.append((hole_start, low))
            if high < hole_end:
                remaining.append((high, hole_end))
        holes = remaining
    return first, last, holes
