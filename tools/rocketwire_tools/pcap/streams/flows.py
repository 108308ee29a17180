"""``Flows``: sorts the segments of a capture into streams, chunk by chunk, and cuts frames out of
them.

``vector_cutter`` processes all streams that are in order, or can be put in order, at once.
``Stream`` processes the others one by one until they are in order again. If there are too many
streams, silent ones are forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from rocketwire.wire.layouts.fused import PREFIX_SIZE
from rocketwire_tools.pcap.streams import vector_cutter
from rocketwire_tools.pcap.streams.chunk import FIN, MASK, RST, SYN, Chunk, chunk_of
from rocketwire_tools.pcap.streams.connections import Connections
from rocketwire_tools.pcap.streams.header_bytes import STEP
from rocketwire_tools.pcap.streams.reassembly import PIECE, Frame, Limits
from rocketwire_tools.pcap.streams.resync import is_header
from rocketwire_tools.pcap.streams.sequential import SequentialFeeder
from rocketwire_tools.pcap.streams.stream import Stream
from rocketwire_tools.pcap.streams.stream_table import IGNORED, SEQUENTIAL, VECTORISED, StreamTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.files.records import Array, Records
    from rocketwire_tools.pcap.packets.packets import Segments

ACK: Final = 16
MAX_STREAMS: Final = 65_536  # Streams that are remembered
MAX_KEPT: Final = 128 << 20
"""Bytes of memory for incomplete data of all streams; four times as many if bodies are kept."""

_TURNS: Final = 4  # Attempts per chunk to process remaining streams at once
_FEW: Final = 512  # Fewer segments are processed faster one by one


class KeepingStream(Stream):
    """A stream that keeps bodies."""

    __slots__ = ()

    wants_bodies = True


@dataclass(slots=True)
class FrameColumns:
    """Frames that begin and end in the chunk, one entry each."""

    number: Array  # of the stream
    source: Array  # sender, as in ``packets.Segments``
    target: Array  # receiver
    first: Array  # number of the record of the first byte
    last: Array  # number of the record of the last captured byte
    buffer: bytearray | Array  # holds the headers
    header: Array  # offset of each header
    header_length: Array  # bytes of the header
    header_type: Array  # JSON or ROCKETMQ
    length: Array  # value of the length word
    body: list[bytes] | None  # the bodies, if they are kept


@dataclass(slots=True)
class ChunkFrames:
    records: Records | None = None  # of the chunk; None at the end of the capture
    # frames of the vectorised path
    columns: list[FrameColumns] = field(default_factory=list[FrameColumns])
    frames: list[Frame] = field(default_factory=list[Frame])  # all other frames


class Flows:
    def __init__(
        self,
        limits: Limits | None = None,  # bounds of the wait for missing segments
        *,
        bodies: bool = False,  # whether to keep bodies
        max_streams: int = MAX_STREAMS,  # streams that are remembered
    ) -> None:
        self.limits = Limits() if limits is None else limits
        self.forgotten = 0  # streams that were forgotten before they ended
        self.careful = False  # process all streams one by one, for tests
        self._bodies = bodies
        self._most_kept = 4 * MAX_KEPT if bodies else MAX_KEPT
        self._kept = 0
        self._max = max_streams
        self._slots = StreamTable(KeepingStream if bodies else Stream)
        self._connections = Connections(self._slots.next_number)
        self._waiting: set[Stream] = set()
        self._open: set[Stream] = set()

    def feed(self, records: Records, segments: Segments) -> ChunkFrames:
        frames = ChunkFrames(records)
        self._connections.prune()
        relevant = np.flatnonzero((segments.length > 0) | (segments.flags & (SYN | FIN | RST) != 0))
        if len(relevant):
            self._feed_chunk(chunk_of(records, segments, relevant, self._slots.of), frames)
        self._connections.settle()
        self._settle(records, segments, frames)
        return frames

    def number(self, number: Array, file_offset: Array) -> None:
        self._connections.number(number, file_offset)

    def _feed_chunk(self, chunk: Chunk, frames: ChunkFrames) -> None:
        self._slots.seen[chunk.slots] = int(chunk.records.time_ns[-1])
        if not self.careful:
            chunk = without_control_segments(chunk, self._slots)
        for turn in range(_TURNS):
            chunk = chunk.part(chunk.members(~self._is_ignored(chunk)))
            if len(chunk) and not self.careful:
                chunk = self._feed_vectorised(chunk, frames)
            if not len(chunk):
                return
            to_end = self.careful or len(chunk) < _FEW or turn == _TURNS - 1
            chunk = self._feed_sequentially(chunk, frames, to_end=to_end)

    def _is_ignored(self, chunk: Chunk) -> Array:
        return (self._slots.mode[chunk.slots] == IGNORED) & ~chunk.has_syn()

    # ---- vectorised path

    def _feed_vectorised(self, chunk: Chunk, frames: ChunkFrames) -> Chunk:
        # Feed streams up to the first segment that is out of order; returns the remaining segments
        states = self._slots
        chunk, remaining = chunk.put_in_order(
            states.mode[chunk.slots] == VECTORISED,
            states.sequence[chunk.slots],
            self.limits.hold_ns,
        )
        if not len(chunk):
            return remaining
        slots = chunk.slots
        start, end = chunk.starts[chunk.low], chunk.starts[chunk.high]
        boundary = start + states.need[slots]
        self._continue_bodies(chunk, np.flatnonzero(states.open[slots]), boundary, frames)
        states.sequence[slots] = (states.sequence[slots] + (end - start)) & MASK
        states.need[slots] = np.maximum(boundary - end, 0)
        within = boundary < end
        if not within.any():
            return remaining
        cuttings = vector_cutter.cut(chunk, within, boundary)
        slot = chunk.members(slots)
        for split in (False, True):
            numbers = np.flatnonzero(cuttings.frames.split == split)
            if len(numbers):
                frames.columns.append(self._make_columns(chunk, slot, cuttings.take(numbers)))
        uncut = self._leave_unfinished(chunk, slot, cuttings.unfinished)
        return uncut.merge(remaining)

    def _continue_bodies(
        self, chunk: Chunk, groups: Array, boundary: Array, frames: ChunkFrames
    ) -> None:
        start, end = chunk.starts[chunk.low[groups]], chunk.starts[chunk.high[groups]]
        stop = np.minimum(boundary[groups], end)
        last = vector_cutter.last_records(chunk, chunk.low[groups], np.maximum(stop, start + 1))
        for index, group in enumerate(groups.tolist()):
            slot = int(chunk.slots[group])
            stream = self._slots.stream(slot)
            packet, body = chunk.packet_ref(int(last[index])), None
            if self._bodies:
                low = int(chunk.low[group])
                body = chunk.piece(int(start[index]), int(stop[index]), low)
            if boundary[group] > end[index]:
                stream.continues(packet, body)
                continue
            frames.frames.append(stream.closes(packet, body))
            self._slots.open[slot] = False
            self._open.discard(stream)

    def _make_columns(
        self, chunk: Chunk, slot: Array, cuttings: vector_cutter.CutFrames
    ) -> FrameColumns:
        # Columns of frames whose headers all lie in one segment each, or all do not
        complete, bodies = cuttings.frames, None
        start = complete.position + PREFIX_SIZE
        if self._bodies:
            bodies = _pieces(chunk, start + complete.header, complete.end, complete.segment)
        buffer: Any = chunk.records.buffer
        header = complete.offset + PREFIX_SIZE
        if complete.split[0]:
            parts = _pieces(chunk, start, start + complete.header, complete.segment)
            buffer = np.frombuffer(b"".join([*parts, bytes(STEP)]), np.uint8)
            header = np.cumsum(complete.header) - complete.header
        slots = slot[complete.segment]
        return FrameColumns(
            self._slots.number[slots],
            self._slots.source[slots],
            self._slots.target[slots],
            cuttings.first,
            cuttings.last,
            buffer,
            header,
            complete.header,
            complete.header_type,
            complete.length,
            bodies,
        )

    def _leave_unfinished(
        self, chunk: Chunk, slot: Array, candidates: vector_cutter.Candidates
    ) -> Chunk:
        # Open unfinished frames; returns the segments that must be fed one by one
        unfinished = np.zeros(len(chunk), np.bool_)
        high = chunk.members(chunk.high)
        for index, good in enumerate(candidates.good.tolist()):
            segment = int(candidates.segment[index])
            stream = self._slots.stream(int(slot[segment]))
            if good:
                self._leave_open(chunk, stream, candidates, index, int(high[segment]))
                self._open.add(stream)
            else:
                ahead = int(candidates.position[index] - chunk.starts[segment])
                stream.next_sequence = (int(chunk.sequence[segment]) + ahead) & MASK
                unfinished[segment : high[segment]] = True
            self._slots.note(int(slot[segment]), stream)
        return chunk.part(unfinished)

    def _leave_open(
        self,
        chunk: Chunk,
        stream: Stream,
        candidates: vector_cutter.Candidates,
        number: int,
        high: int,
    ) -> None:
        segment, end = int(candidates.segment[number]), int(chunk.starts[high])
        start = int(candidates.position[number]) + PREFIX_SIZE
        body_start = start + int(candidates.header[number])
        header = chunk.piece(start, body_start, segment)
        body = chunk.piece(body_start, end, segment) if self._bodies else None
        first = chunk.packet_ref(int(chunk.record[segment]))
        last = chunk.packet_ref(int(chunk.record[segment:high].max()))
        stream.open(
            header,
            int(candidates.header_type[number]),
            int(candidates.length[number]),
            first,
            last,
            body,
        )
        stream.need = int(candidates.end[number]) - end

    # ---- sequential path

    def _feed_sequentially(self, chunk: Chunk, frames: ChunkFrames, *, to_end: bool) -> Chunk:
        # Feed streams segment by segment until they can be vectorised; returns the remaining
        # segments
        feeder = SequentialFeeder(chunk, self.limits, to_end=to_end)
        take = frames.frames.append
        unfed = np.zeros(len(chunk), np.bool_)
        for group, slot in enumerate(chunk.slots.tolist()):
            stream = self._slots.stream(slot)
            stream, number = feeder.feed(stream, group, take, self._renew)
            self._note(slot, stream)
            unfed[number : chunk.high[group]] = True
        return chunk.part(unfed)

    def _renew(self, stream: Stream, file_offset: int) -> Stream:
        self._waiting.discard(stream)
        self._open.discard(stream)
        self._connections.begin(stream.number, file_offset)
        return self._slots.renew(stream)

    def _note(self, slot: int, stream: Stream) -> None:
        self._slots.note(slot, stream)
        (self._waiting.add if stream.waits else self._waiting.discard)(stream)
        (self._open.discard if stream.header is None else self._open.add)(stream)

    def _settle(self, records: Records, segments: Segments, frames: ChunkFrames) -> None:
        # After a chunk: skip overdue holes, and forget streams if there are too many
        if not len(records.time_ns):
            return
        now = int(records.time_ns[-1])
        take = frames.frames.append
        if self._waiting:
            waiting = list(self._waiting)
            self._acknowledge(segments, take)
            for stream in waiting:
                stream.expire(now, self.limits, take)
                self._note(self._slots.slot(stream), stream)
        if len(self._slots) > self._max:
            self._forget(self._slots.oldest(len(self._slots) // 2), take)
        self._slots.drop_objects()
        self._kept += int(segments.captured.sum()) + PIECE * len(segments.captured)
        if self._kept > self._most_kept:
            self._limit_memory(take)

    def _limit_memory(self, take: Callable[[Frame], None]) -> None:
        # Measure the memory of incomplete data, and forget streams if it is too much
        kept = {self._slots.slot(stream): stream.kept for stream in self._slots.objects}
        self._kept = sum(kept.values())
        if self._kept <= self._most_kept:
            return
        surplus = self._kept - self._most_kept // 2
        slots = np.array(list(kept), np.int64)
        sizes = np.array(list(kept.values()), np.int64)
        order = np.lexsort((-sizes, self._slots.seen[slots]))
        count = int(np.searchsorted(np.cumsum(sizes[order]), surplus)) + 1
        largest = order[:count][sizes[order[:count]] > 0]
        self._kept -= int(sizes[largest].sum())
        self._forget(slots[largest], take)

    def _acknowledge(self, segments: Segments, take: Callable[[Frame], None]) -> None:
        # Skip holes that the receiver has acknowledged: the capture missed them
        waiting = {
            (waiting_stream.target, waiting_stream.source): waiting_stream
            for waiting_stream in self._waiting
        }
        sources = np.array([key[0] for key in waiting], np.int64)
        flagged = (segments.flags & (ACK | RST)) == ACK
        numbers = np.flatnonzero(np.isin(segments.source, sources) & flagged)
        latest: dict[tuple[int, int], int] = {}
        for source, target, acknowledged in zip(
            segments.source[numbers].tolist(),
            segments.target[numbers].tolist(),
            segments.acknowledged[numbers].tolist(),
            strict=True,
        ):
            latest[source, target] = acknowledged
        for key, acknowledged in latest.items():
            if (stream := waiting.get(key)) is not None:
                stream.acknowledge(acknowledged, take)

    def _forget(self, slots: Array, take: Callable[[Frame], None]) -> None:
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
        frames: list[Frame] = []
        for stream in self._slots.objects:
            stream.finish(frames.append)
        self._waiting.clear()
        self._open.clear()
        return frames

    def hosts(self) -> set[int]:
        return self._slots.hosts()

    def in_doubt(self, end: int) -> list[Stream]:
        """The streams in which an incomplete frame may have begun before a record."""
        return [stream for stream in self._slots.objects if stream.may_have_begun(end)]

    def waits_since(self, since_ns: int = 0) -> int | None:
        """Offset of the first record in which an incomplete frame may end; None without one."""
        offsets = [
            since
            for stream in self._waiting | self._open
            if (since := stream.waits_since(since_ns)) is not None
        ]
        return min(offsets, default=None)


def _pieces(chunk: Chunk, start: Array, end: Array, segment: Array) -> list[bytes]:
    # Bytes between virtual positions, which begin in a segment or after it
    return list(map(chunk.piece, start.tolist(), end.tolist(), segment.tolist()))


def without_control_segments(chunk: Chunk, states: StreamTable) -> Chunk:
    """Process segments without data, and return the chunk without them."""
    is_empty = chunk.length == 0
    if not is_empty.any():
        return chunk
    keep = np.ones(len(is_empty), np.bool_)
    stop = _apply_ends(chunk, states, is_empty, keep)
    _apply_syns(chunk, states, stop, keep)
    _start_streams(chunk, states, stop, keep)
    return chunk.part(keep)


def _apply_ends(chunk: Chunk, states: StreamTable, is_empty: Array, keep: Array) -> Array:
    # Process FIN and RST at the end of streams; returns the index after the last other segment of
    # each
    is_kept = ~(is_empty & (chunk.flags & SYN == 0))
    number = np.where(is_kept, np.arange(1, len(is_empty) + 1), 0)
    stop = np.maximum(np.maximum.reduceat(number, chunk.low), chunk.low)
    is_foreign = states.mode[chunk.slots] == IGNORED
    stop[is_foreign] = chunk.high[is_foreign]
    states.ended[chunk.slots[stop < chunk.high]] = True
    keep &= np.arange(len(is_empty)) < chunk.members(stop)
    return cast("Array", stop)


def _apply_syns(chunk: Chunk, states: StreamTable, stop: Array, keep: Array) -> None:
    low = chunk.low
    begin = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    groups = np.flatnonzero(begin & (stop == low + 1))
    new = states.announce(chunk.slots[groups], (chunk.sequence[low[groups]] + 1) & MASK)
    keep[low[groups[new]]] = False


def _start_streams(chunk: Chunk, states: StreamTable, stop: Array, keep: Array) -> None:
    first = chunk.low + (chunk.flags[chunk.low] & SYN != 0)
    groups = np.flatnonzero((states.mode[chunk.slots] == SEQUENTIAL) & (first < stop))
    first, low = first[groups], chunk.low[groups]
    syn = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    follows = (chunk.sequence[low] + 1) & MASK == chunk.sequence[first]
    likely = ~chunk.unusual[first] & ((first == low) | (syn & follows))
    groups, first, low = groups[likely], first[likely], low[likely]
    if not len(groups):
        return
    candidates = vector_cutter.read_prefixes(chunk, chunk.starts[first], first, chunk.starts[1:])
    good = _have_headers(chunk, candidates)
    groups, first, low = groups[good], first[good], low[good]
    started = states.start(chunk.slots[groups], chunk.sequence[first], first > low)
    keep[low[started & (first > low)]] = False
    for slot, first_number, number in zip(
        chunk.slots[groups[~started]].tolist(),
        low[~started].tolist(),
        first[~started].tolist(),
        strict=True,
    ):
        stream = states.stream(slot)
        if stream.begins(int(chunk.sequence[number]), has_syn=number > first_number):
            states.note(slot, stream)
            keep[first_number:number] = False


def _have_headers(chunk: Chunk, candidates: vector_cutter.Candidates) -> Array:
    buffer, readable = chunk.records.buffer, candidates.good.copy()
    for number in np.flatnonzero(candidates.good).tolist():
        start = int(candidates.offset[number]) + PREFIX_SIZE
        header = bytes(buffer[start : start + int(candidates.header[number])])
        readable[number] = is_header(int(candidates.header_type[number]), header)
    return readable
