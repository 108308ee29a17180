"""Feeding streams one after the other: runs of segments that follow each other to ``Cutter``, all others to ``Stream``."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.chunk import FIN, MASK, RST, SYN
from rocketwire_tools.pcap.cutting import Cut, Cutter
from rocketwire_tools.pcap.reassembly import LOOK_BACK, LOOK_BACK_NS
from rocketwire_tools.pcap.segments import Frame, Limits, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.chunk import Chunk
    from rocketwire_tools.pcap.stream import Stream


_HALF: Final = 1 << 31
_FIRST_SEGMENTS: Final = 512
_FIRST_BYTES: Final = LOOK_BACK
REORDERED_NS: Final = LOOK_BACK_NS
"""Among so many segments, bytes and nanoseconds a stream's first ones may have been captured in another order; what
comes later was sent again."""


class Singly:
    """Feeds the streams of a chunk.

    Args:
        chunk: has their segments.
        limits: how long is waited for missing segments.
        bodies: whether bodies are wanted.
        careful: take no short way.
    """

    def __init__(self, chunk: Chunk, limits: Limits, *, bodies: bool, careful: bool) -> None:
        self._limits = limits
        self._careful = careful
        self._buffer = chunk.records.buffer
        self._starts: list[int] = chunk.starts.tolist()
        self._sequence: list[int] = chunk.sequence.tolist()
        self._data: list[int] = chunk.data.tolist()
        self._flags: list[int] = chunk.flags.tolist()
        self._length: list[int] = chunk.length.tolist()
        self._captured: list[int] = chunk.segments.captured[chunk.order].tolist()
        self._where: list[int] = chunk.records.where[chunk.record].tolist()
        self._times: list[int] = chunk.records.time_ns[chunk.record].tolist()
        self._last = int(chunk.records.time_ns[-1])
        self._unusual = set(np.flatnonzero(chunk.unusual).tolist())
        self._breaks: list[int] = np.flatnonzero(~chunk.follows).tolist()
        self._cutter = Cutter(
            self._buffer,
            self._data,
            self._starts,
            chunk.record.tolist(),
            chunk.records.where,
            chunk.records.time_ns,
            bodies=bodies,
        )

    @property
    def cuts(self) -> list[Cut]:
        """What was cut out of runs."""
        return self._cutter.cuts

    def feed(
        self,
        stream: Stream,
        low: int,
        high: int,
        take: Callable[[Frame], None],
        renew: Callable[[Stream], Stream],
    ) -> Stream:
        """Feed the segments of one stream.

        Args:
            stream: the stream.
            low: number of its first segment.
            high: number behind its last one.
            take: gets frames that are not among ``cuts``.
            renew: gives the stream of another connection between the same two ends.

        Returns:
            The stream that the last segment belongs to.
        """
        if stream.next_sequence < 0:
            earliest = self._earliest(low, high)
            stream.goes_on(earliest, earliest)
        while low < high:
            if (
                stream.is_plain
                and not self._careful
                and self._sequence[low] == stream.next_sequence
                and low not in self._unusual
            ):
                stop = self._end_of_run(low, high)
                done = self._cutter.cut(stream, low, stop, take)
                stream.advance(done - self._starts[low])
                if done == self._starts[stop]:
                    low = stop
                    continue
                low = self._cutter.segment_of(done, low, stop)
            if self._flags[low] & SYN:
                sequence = (self._sequence[low] + 1) & MASK
                if stream.is_another(sequence):
                    stream.finish(take)
                    stream = renew(stream)
                stream.begin(sequence)
            elif self._length[low] and stream.is_elsewhere(self._sequence[low]):
                stream.finish(take)
                stream = renew(stream)
            self._feed_one(stream, low, take)
            low += 1
        return stream

    def _earliest(self, low: int, high: int) -> int:
        """Sequence number with which a stream goes on that began before it was seen: the network may have
        brought its first segments in another order.  -1 if the first one says that it begins, or if the next chunk may
        tell."""
        first, least = self._sequence[low], 0
        if low in self._unusual or self._last - self._times[low] < REORDERED_NS:
            return -1
        for number in range(low + 1, min(low + _FIRST_SEGMENTS, high)):
            if number in self._unusual or self._times[number] - self._times[low] >= REORDERED_NS:
                break
            ahead = (self._sequence[number] - first & MASK ^ _HALF) - _HALF
            if -_FIRST_BYTES < ahead < least:
                least = ahead
        return first + least & MASK

    def _end_of_run(self, number: int, high: int) -> int:
        """Number of the next segment that does not simply follow the one before."""
        at = bisect_right(self._breaks, number)
        return min(self._breaks[at], high) if at < len(self._breaks) else high

    def _feed_one(self, stream: Stream, number: int, take: Callable[[Frame], None]) -> None:
        flags = self._flags[number]
        sequence = self._sequence[number]
        if flags & SYN:
            sequence = (sequence + 1) & MASK
        if self._length[number]:
            data = self._data[number]
            text = bytes(self._buffer[data : data + self._captured[number]])
            place = Place(self._where[number], self._times[number])
            stream.add(sequence, text, self._length[number], place, self._limits, take)
        if flags & (FIN | RST):
            stream.ended = True
