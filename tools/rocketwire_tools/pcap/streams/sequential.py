"""Feeds streams one after the other, segment by segment, until they can be vectorised again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire_tools.pcap.streams.chunk import FIN, MASK, RST, SYN
from rocketwire_tools.pcap.streams.reassembly import (
    LOOK_BACK,
    LOOK_BACK_NS,
    Frame,
    Limits,
    PacketRef,
)
from rocketwire_tools.pcap.streams.stream import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.pcap.streams.chunk import Chunk
    from rocketwire_tools.pcap.streams.stream import Stream

_HALF: Final = 1 << 31
_FIRST_SEGMENTS: Final = 512
REORDERED_NS: Final = LOOK_BACK_NS
"""Within this time, ``LOOK_BACK`` bytes and ``_FIRST_SEGMENTS`` segments, a stream's first
segments may be captured in another order. Later ones are retransmissions."""
_BLOCK: Final = 64  # Segments that become objects at once


class _Segment(NamedTuple):
    sequence: int
    length: int
    captured: int
    data: int
    flags: int
    unusual: bool
    file_offset: int
    time_ns: int


class SequentialFeeder:
    def __init__(self, chunk: Chunk, limits: Limits, *, to_end: bool) -> None:
        self._chunk = chunk
        self._limits = limits
        self._to_end = to_end
        self._buffer = chunk.records.buffer
        self._last = int(chunk.records.time_ns[-1])
        self._has_syn = chunk.has_syn()

    def feed(
        self,
        stream: Stream,  # the stream
        group: int,  # index of its group
        take: Callable[[Frame], None],  # receives completed frames
        # returns the stream of the next connection between the same ends, which begins with a
        # record at an offset
        renew: Callable[[Stream, int], Stream],
    ) -> tuple[Stream, int]:
        """Feed at least one segment of a stream; returns the stream of the last segment, and the
        index of the first segment that was not fed."""
        low, high = int(self._chunk.low[group]), int(self._chunk.high[group])
        if stream.next_sequence < 0:
            earliest = self._first_sequence(low, high)
            stream.resume(earliest, earliest)
        for index, segment in enumerate(self._segments(low, high), low):
            if not self._to_end and index > low:
                if (
                    segment.sequence == stream.next_sequence
                    and not segment.unusual
                    and stream.is_vectorisable
                ):
                    return stream, index
                if stream.protocol in FOREIGN and not self._has_syn[group]:
                    return stream, high
            if segment.flags & SYN:
                sequence = (segment.sequence + 1) & MASK
                if stream.starts_another_connection(sequence):
                    stream.finish(take)
                    stream = renew(stream, segment.file_offset)
                stream.begin(sequence)
            elif segment.length and stream.is_of_another_connection(segment.sequence):
                stream.finish(take)
                stream = renew(stream, segment.file_offset)
            self._feed_segment(stream, segment, take)
        return stream, high

    def _segments(self, low: int, high: int) -> Iterator[_Segment]:
        chunk, records = self._chunk, self._chunk.records
        for start in range(low, high, _BLOCK):
            block = slice(start, min(start + _BLOCK, high))
            record = chunk.record[block]
            columns: tuple[Any, ...] = (
                chunk.sequence[block],
                chunk.length[block],
                chunk.captured[block],
                chunk.data[block],
                chunk.flags[block],
                chunk.unusual[block],
                records.file_offset[record],
                records.time_ns[record],
            )
            yield from map(
                _Segment._make, zip(*(values.tolist() for values in columns), strict=True)
            )

    def _first_sequence(self, low: int, high: int) -> int:
        # The first sequence number of a stream without captured beginning, whose first segments may
        # be reordered. -1 if the first segment is a beginning, or if the next chunk decides.
        segments = self._segments(low, min(low + _FIRST_SEGMENTS, high))
        first, earliest = next(segments), 0
        if first.unusual or self._last - first.time_ns < REORDERED_NS:
            return -1
        for segment in segments:
            if segment.unusual or segment.time_ns - first.time_ns >= REORDERED_NS:
                break
            ahead = (segment.sequence - first.sequence & MASK ^ _HALF) - _HALF
            if -LOOK_BACK < ahead < earliest:
                earliest = ahead
        return first.sequence + earliest & MASK

    def _feed_segment(
        self, stream: Stream, segment: _Segment, take: Callable[[Frame], None]
    ) -> None:
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence = (sequence + 1) & MASK
        if segment.length:
            text = bytes(self._buffer[segment.data : segment.data + segment.captured])
            packet = PacketRef(segment.file_offset, segment.time_ns)
            stream.add(sequence, text, segment.length, packet, self._limits, take)
        if segment.flags & (FIN | RST):
            stream.ended = True
