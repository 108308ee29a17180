"""Every stream of a capture: segments sorted into streams, chunk by chunk, and frames cut out of them.

Rules of this file: streams that are undisturbed, or can be put straight, go to ``vector_cutter`` together, what is left of a chunk to
``Stream`` one by one, until they are undisturbed again.  A stream that nothing came from for long is forgotten when there are too many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.layouts.functions import PREFIX_SIZE
from rocketwire_tools.pcap.streams import mid_stream, vector_cutter
from rocketwire_tools.pcap.streams.chunk import FIN, MASK, RST, SYN, Chunk, chunk_of
from rocketwire_tools.pcap.streams.connections import Connections
from rocketwire_tools.pcap.streams.header_bytes import STEP
from rocketwire_tools.pcap.streams.reassembly import PIECE
from rocketwire_tools.pcap.streams.segments import Frame, Limits
from rocketwire_tools.pcap.streams.sequential import Singly
from rocketwire_tools.pcap.streams.stream import Stream
from rocketwire_tools.pcap.streams.stream_table import PLAIN, STRANGE, Slots
from rocketwire_tools.pcap.streams.syn_fin import unmarked

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.files.buffers import Buffer
    from rocketwire_tools.pcap.files.records import Integers, Records
    from rocketwire_tools.pcap.packets.packets import Segments

    Array = np.ndarray[Any, Any]

ACK: Final = 16
MAX_STREAMS: Final = 65_536
"""Streams remembered at a time."""
MOST_KEPT: Final = 128 << 20
"""Bytes of memory that all streams take because something of them is not whole or not in order yet; four times as many where
bodies are wanted."""


_TURNS: Final = 4
"""How often streams that were fed one by one are looked at together again in a chunk."""
_FEW: Final = 512
"""Segments that are fed one by one in the time that it takes to look at them together."""


class KeepingStream(Stream):
    """A stream whose bodies are kept."""

    __slots__ = ()

    wants_bodies = True


@dataclass(slots=True)
class Together:
    """Frames that begin and end in the chunk and were cut out of many streams at once, an entry for each.

    Attributes:
        number: of the stream.
        source: sender, as in ``packets.Segments``.
        target: receiver.
        first: number of the record of the first byte.
        last: number of the record of the last captured byte.
        buffer: has the headers.
        header: where each begins in it.
        header_length: bytes of it.
        kind: JSON or ROCKETMQ.
        length: value of the length word.
        body: the bodies, where they are wanted.
    """

    number: Integers
    source: Integers
    target: Integers
    first: Integers
    last: Integers
    buffer: Buffer | Integers
    header: Integers
    header_length: Integers
    kind: Integers
    length: Integers
    body: list[bytes] | None


@dataclass(slots=True)
class Found:
    """Frames of one chunk.

    Attributes:
        records: those of the chunk; None at the end of the capture.
        together: those cut out of many streams at once.
        frames: all others.
    """

    records: Records | None = None
    together: list[Together] = field(default_factory=list[Together])
    frames: list[Frame] = field(default_factory=list[Frame])


class Flows:
    """The streams of one capture, or of a part of it.

    Args:
        limits: how long is waited for missing segments.
        bodies: whether bodies are kept.
        max_streams: streams remembered at a time.

    Attributes:
        forgotten: streams that were forgotten before they ended, because there were too many.
        careful: take no short way, for tests.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        bodies: bool = False,
        max_streams: int = MAX_STREAMS,
    ) -> None:
        self.limits = Limits() if limits is None else limits
        self.forgotten = 0
        self.careful = False
        self._bodies = bodies
        self._most_kept = 4 * MOST_KEPT if bodies else MOST_KEPT
        self._kept = 0
        self._max = max_streams
        self._slots = Slots(KeepingStream if bodies else Stream)
        self._connections = Connections(self._slots.next_number)
        self._waiting: set[Stream] = set()
        self._open: set[Stream] = set()

    def feed(self, records: Records, segments: Segments) -> Found:
        """Take a chunk, and give the frames that came to their end."""
        found = Found(records)
        self._connections.prune()
        wanted = np.flatnonzero((segments.length > 0) | (segments.flags & (SYN | FIN | RST) != 0))
        if len(wanted):
            self._feed_chunk(chunk_of(records, segments, wanted, self._slots.of), found)
        self._connections.settle()
        self._settle(records, segments, found)
        return found

    def number(self, number: Array, where: Array) -> None:
        """Let frames that came to their end know which of the connections between their ends they belong to.

        Args:
            number: of each frame's stream, which becomes that of its direction of the connection.
            where: offset of the record of each frame's first byte.
        """
        self._connections.number(number, where)

    def _feed_chunk(self, chunk: Chunk, found: Found) -> None:
        self._slots.seen[chunk.slots] = int(chunk.records.time_ns[-1])
        if not self.careful:
            chunk = unmarked(chunk, self._slots)
            mid_stream.join(chunk, self._slots)
        for turn in range(_TURNS):
            chunk = chunk.part(chunk.members(~self._is_ignored(chunk)))
            if len(chunk) and not self.careful:
                chunk = self._feed_together(chunk, found)
            if not len(chunk):
                return
            to_end = self.careful or len(chunk) < _FEW or turn == _TURNS - 1
            chunk = self._feed_singly(chunk, found, to_end=to_end)

    def _is_ignored(self, chunk: Chunk) -> Array:
        """Which groups need not be looked at."""
        ignored: Array = (self._slots.way[chunk.slots] == STRANGE) & ~chunk.has_syn()
        return ignored

    # ---- many streams at once

    def _feed_together(self, chunk: Chunk, found: Found) -> Chunk:
        """Feed the streams that are plain, up to the first place at which they are not; returns what is left."""
        states = self._slots
        chunk, rest = chunk.straight(
            states.way[chunk.slots] == PLAIN, states.sequence[chunk.slots], self.limits.hold_ns
        )
        if not len(chunk):
            return rest
        slots = chunk.slots
        start, end = chunk.starts[chunk.low], chunk.starts[chunk.high]
        boundary = start + states.need[slots]
        self._go_on(chunk, np.flatnonzero(states.open[slots]), boundary, found)
        states.sequence[slots] = (states.sequence[slots] + (end - start)) & MASK
        states.need[slots] = np.maximum(boundary - end, 0)
        within = boundary < end
        if not within.any():
            return rest
        cuttings = vector_cutter.cut(chunk, within, boundary)
        slot = chunk.members(slots)
        for split in (False, True):
            some = np.flatnonzero(cuttings.whole.split == split)
            if len(some):
                found.together.append(self._together(chunk, slot, cuttings.take(some)))
        left = self._leave(chunk, slot, cuttings.left)
        return left.with_others(rest)

    def _go_on(self, chunk: Chunk, groups: Array, boundary: Array, found: Found) -> None:
        """Go on with the bodies that are open."""
        start, end = chunk.starts[chunk.low[groups]], chunk.starts[chunk.high[groups]]
        stop = np.minimum(boundary[groups], end)
        last = vector_cutter.last_records(chunk, chunk.low[groups], np.maximum(stop, start + 1))
        for number, group in enumerate(groups.tolist()):
            slot = int(chunk.slots[group])
            stream = self._slots.stream(slot)
            place, body = chunk.place(int(last[number])), None
            if self._bodies:
                low = int(chunk.low[group])
                body = chunk.piece(int(start[number]), int(stop[number]), low)
            if boundary[group] > end[number]:
                stream.continues(place, body)
                continue
            found.frames.append(stream.closes(place, body))
            self._slots.open[slot] = False
            self._open.discard(stream)

    def _together(self, chunk: Chunk, slot: Array, cuttings: vector_cutter.Cuttings) -> Together:
        """Frames of which all headers lie in one segment each, or none does.

        Args:
            chunk: has them.
            slot: of each segment.
            cuttings: the frames.
        """
        whole, bodies = cuttings.whole, None
        start = whole.at + PREFIX_SIZE
        if self._bodies:
            bodies = _pieces(chunk, start + whole.header, whole.after, whole.segment)
        buffer: Any = chunk.records.buffer
        header = whole.offset + PREFIX_SIZE
        if whole.split[0]:
            parts = _pieces(chunk, start, start + whole.header, whole.segment)
            buffer = np.frombuffer(b"".join([*parts, bytes(STEP)]), np.uint8)
            header = np.cumsum(whole.header) - whole.header
        of = slot[whole.segment]
        return Together(
            self._slots.number[of],
            self._slots.source[of],
            self._slots.target[of],
            cuttings.first,
            cuttings.last,
            buffer,
            header,
            whole.header,
            whole.kind,
            whole.length,
            bodies,
        )

    def _leave(self, chunk: Chunk, slot: Array, left: vector_cutter.Places) -> Chunk:
        """Leave bodies open; returns what cannot be cut, to be fed segment by segment."""
        unfinished = np.zeros(len(chunk), np.bool_)
        high = chunk.members(chunk.high)
        for number, good in enumerate(left.good.tolist()):
            segment = int(left.segment[number])
            stream = self._slots.stream(int(slot[segment]))
            if good:
                self._leave_open(chunk, stream, left, number, int(high[segment]))
                self._open.add(stream)
            else:
                ahead = int(left.at[number] - chunk.starts[segment])
                stream.next_sequence = (int(chunk.sequence[segment]) + ahead) & MASK
                unfinished[segment : high[segment]] = True
            self._slots.note(int(slot[segment]), stream)
        return chunk.part(unfinished)

    def _leave_open(
        self, chunk: Chunk, stream: Stream, left: vector_cutter.Places, number: int, high: int
    ) -> None:
        segment, end = int(left.segment[number]), int(chunk.starts[high])
        start = int(left.at[number]) + PREFIX_SIZE
        body_start = start + int(left.header[number])
        header = chunk.piece(start, body_start, segment)
        body = chunk.piece(body_start, end, segment) if self._bodies else None
        first = chunk.place(int(chunk.record[segment]))
        last = chunk.place(int(chunk.record[segment:high].max()))
        stream.open(header, int(left.kind[number]), int(left.length[number]), first, last, body)
        stream.need = int(left.after[number]) - end

    # ---- stream by stream

    def _feed_singly(self, chunk: Chunk, found: Found, *, to_end: bool) -> Chunk:
        """Feed streams segment by segment until they are plain; returns what is left."""
        singly = Singly(chunk, self.limits, to_end=to_end)
        take = found.frames.append
        left = np.zeros(len(chunk), np.bool_)
        for group, slot in enumerate(chunk.slots.tolist()):
            stream = self._slots.stream(slot)
            stream, number = singly.feed(stream, group, take, self._renewed)
            self._note(slot, stream)
            left[number : chunk.high[group]] = True
        return chunk.part(left)

    def _renewed(self, stream: Stream, where: int) -> Stream:
        self._waiting.discard(stream)
        self._open.discard(stream)
        self._connections.begin(stream.number, where)
        return self._slots.renew(stream)

    def _note(self, slot: int, stream: Stream) -> None:
        self._slots.note(slot, stream)
        (self._waiting.add if stream.waits else self._waiting.discard)(stream)
        (self._open.discard if stream.header is None else self._open.add)(stream)

    def _settle(self, records: Records, segments: Segments, found: Found) -> None:
        """After a chunk: let holes be declared, and old streams be forgotten."""
        if not len(records.time_ns):
            return
        now = int(records.time_ns[-1])
        take = found.frames.append
        if self._waiting:
            before = list(self._waiting)
            self._acknowledge(segments, take)
            for stream in before:
                stream.expire(now, self.limits, take)
                self._note(self._slots.slot(stream), stream)
        if len(self._slots) > self._max:
            self._forget(self._slots.oldest(len(self._slots) // 2), take)
        self._slots.let_sleep()
        self._kept += int(segments.captured.sum()) + PIECE * len(segments.captured)
        if self._kept > self._most_kept:
            self._count_kept(take)

    def _count_kept(self, take: Callable[[Frame], None]) -> None:
        """See what is kept, of which ``_kept`` may be too much, and forget streams if it is."""
        kept = {self._slots.slot(one): one.kept for one in self._slots.awake}
        self._kept = sum(kept.values())
        if self._kept <= self._most_kept:
            return
        surplus = self._kept - self._most_kept // 2
        slots = np.array(list(kept), np.int64)
        sizes = np.array(list(kept.values()), np.int64)
        order = np.lexsort((-sizes, self._slots.seen[slots]))
        count = int(np.searchsorted(np.cumsum(sizes[order]), surplus)) + 1
        some = order[:count][sizes[order[:count]] > 0]
        self._kept -= int(sizes[some].sum())
        self._forget(slots[some], take)

    def _acknowledge(self, segments: Segments, take: Callable[[Frame], None]) -> None:
        """Holes that the receiver does not have, because it acknowledged what was in them."""
        waiting = {(one.target, one.source): one for one in self._waiting}
        sources = np.array([key[0] for key in waiting], np.int64)
        flagged = (segments.flags & (ACK | RST)) == ACK
        of = np.flatnonzero(np.isin(segments.source, sources) & flagged)
        latest: dict[tuple[int, int], int] = {}
        for source, target, acknowledged in zip(
            segments.source[of].tolist(),
            segments.target[of].tolist(),
            segments.acknowledged[of].tolist(),
            strict=True,
        ):
            latest[source, target] = acknowledged
        for key, acknowledged in latest.items():
            if (stream := waiting.get(key)) is not None:
                stream.acknowledge(acknowledged, take)

    def _forget(self, slots: Array, take: Callable[[Frame], None]) -> None:
        """Forget streams."""
        self.forgotten += int(np.count_nonzero(~self._slots.ended[slots]))
        for slot in slots.tolist():
            if not self._slots.has_other(slot):
                self._connections.forget(int(self._slots.number[slot]))
            stream = self._slots.forget(slot)
            if stream is not None:
                stream.finish(take)
                self._waiting.discard(stream)
                self._open.discard(stream)

    def finish(self) -> list[Frame]:
        """The capture ends: give what is there."""
        frames: list[Frame] = []
        for stream in self._slots.awake:
            stream.finish(frames.append)
        self._waiting.clear()
        self._open.clear()
        return frames

    def hosts(self) -> set[int]:
        """The addresses of all streams that are remembered, as ``packets.Addresses`` numbers them."""
        return self._slots.hosts()

    def in_doubt(self, end: int) -> list[Stream]:
        """The streams in which a frame may have begun before a record, and is not known yet.

        Args:
            end: offset of the record.
        """
        return [one for one in self._slots.awake if one.may_have_begun(end)]

    def waits_since(self, since_ns: int = 0) -> int | None:
        """Offset of the first record in which a frame may end that has not been given; None for none.

        Args:
            since_ns: bodies on which nothing has come from that time on do not count.
        """
        offsets = [
            since
            for one in self._waiting | self._open
            if (since := one.waits_since(since_ns)) is not None
        ]
        return min(offsets, default=None)


def _pieces(chunk: Chunk, start: Array, end: Array, segment: Array) -> list[bytes]:
    """Bytes between virtual positions, from segments on or behind them."""
    return list(map(chunk.piece, start.tolist(), end.tolist(), segment.tolist()))
