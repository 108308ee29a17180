"""Feeding streams one after the other, segment by segment, until they are plain again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire_tools.pcap.streams.chunk import FIN, MASK, RST, SYN
from rocketwire_tools.pcap.streams.reassembly import LOOK_BACK, LOOK_BACK_NS
from rocketwire_tools.pcap.streams.segments import Frame, Limits, Place
from rocketwire_tools.pcap.streams.stream import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.pcap.streams.chunk import Chunk
    from rocketwire_tools.pcap.streams.stream import Stream

_HALF: Final = 1 << 31
_FIRST_SEGMENTS: Final = 512
REORDERED_NS: Final = LOOK_BACK_NS
"""Among so many segments, ``LOOK_BACK`` bytes and so many nanoseconds a stream's first ones may have been captured in another
order; what comes later was sent again."""
_BLOCK: Final = 64
"""Segments that are made objects of at once."""


class _Segment(NamedTuple):
    """A segment: as in ``Chunk``, and the place of its record."""

    sequence: int
    length: int
    captured: int
    data: int
    flags: int
    unusual: bool
    where: int
    time_ns: int


class Singly:
    """Feeds the streams of a chunk.

    Args:
        chunk: has their segments.
        limits: how long is waited for missing segments.
        to_end: whether all segments are fed, also when the stream is plain.
    """

    def __init__(self, chunk: Chunk, limits: Limits, *, to_end: bool) -> None:
        self._chunk = chunk
        self._limits = limits
        self._to_end = to_end
        self._buffer = chunk.records.buffer
        self._last = int(chunk.records.time_ns[-1])
        self._has_syn = chunk.has_syn()

    def feed(
        self,
        stream: Stream,
        group: int,
        take: Callable[[Frame], None],
        renew: Callable[[Stream, int], Stream],
    ) -> tuple[Stream, int]:
        """Feed the segments of one stream, at least one of them.

        Args:
            stream: the stream.
            group: number of its group.
            take: gets frames.
            renew: gives the stream of another connection between the same two ends, which begins with a record at an
                offset.

        Returns:
            The stream that the last segment belongs to, and the number of the first segment that was not fed.
        """
        low, high = int(self._chunk.low[group]), int(self._chunk.high[group])
        if stream.next_sequence < 0:
            earliest = self._earliest(low, high)
            stream.goes_on(earliest, earliest)
        for number, segment in enumerate(self._segments(low, high), low):
            if not self._to_end and number > low:
                if (
                    segment.sequence == stream.next_sequence
                    and not segment.unusual
                    and stream.is_plain
                ):
                    return stream, number
                if stream.protocol in FOREIGN and not self._has_syn[group]:
                    return stream, high
            if segment.flags & SYN:
                sequence = (segment.sequence + 1) & MASK
                if stream.is_another(sequence):
                    stream.finish(take)
                    stream = renew(stream, segment.where)
                stream.begin(sequence)
            elif segment.length and stream.is_elsewhere(segment.sequence):
                stream.finish(take)
                stream = renew(stream, segment.where)
            self._feed_one(stream, segment, take)
        return stream, high

    def _segments(self, low: int, high: int) -> Iterator[_Segment]:
        chunk, records = self._chunk, self._chunk.records
        for start in range(low, high, _BLOCK):
            some = slice(start, min(start + _BLOCK, high))
            record = chunk.record[some]
            columns: tuple[Any, ...] = (
                chunk.sequence[some], chunk.length[some], chunk.captured[some], chunk.data[some],
                chunk.flags[some], chunk.unusual[some], records.where[record], records.time_ns[record],
            )  # fmt: skip
            yield from map(_Segment._make, zip(*(one.tolist() for one in columns), strict=True))

    def _earliest(self, low: int, high: int) -> int:
        """Sequence number with which a stream goes on that began before it was seen: the network may have
        brought its first segments in another order.  -1 if the first one says that it begins, or if the next chunk may
        tell."""
        segments = self._segments(low, min(low + _FIRST_SEGMENTS, high))
        first, least = next(segments), 0
        if first.unusual or self._last - first.time_ns < REORDERED_NS:
            return -1
        for one in segments:
            if one.unusual or one.time_ns - first.time_ns >= REORDERED_NS:
                break
            ahead = (one.sequence - first.sequence & MASK ^ _HALF) - _HALF
            if -LOOK_BACK < ahead < least:
                least = ahead
        return first.sequence + least & MASK

    def _feed_one(self, stream: Stream, segment: _Segment, take: Callable[[Frame], None]) -> None:
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence = (sequence + 1) & MASK
        if segment.length:
            text = bytes(self._buffer[segment.data : segment.data + segment.captured])
            place = Place(segment.where, segment.time_ns)
            stream.add(sequence, text, segment.length, place, self._limits, take)
        if segment.flags & (FIN | RST):
            stream.ended = True
