"""Every stream of a capture: segments sorted into streams, chunk by chunk, and frames cut out of them.

Rules of this file: streams that are plain go to ``cutting``, all others to ``Stream`` segment by segment.  A stream that
nothing came from for long is forgotten when there are too many.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.cutting import Cut, Cutter
from rocketwire_tools.pcap.segments import Frame, Limits, Place
from rocketwire_tools.pcap.stream import FOREIGN, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.pcap.capture import Integers, Records
    from rocketwire_tools.pcap.packets import Segments

FIN: Final = 1
SYN: Final = 2
RST: Final = 4
ACK: Final = 16
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_MASK: Final = 0xFFFFFFFF
MAX_STREAMS: Final = 200_000
"""Streams remembered at a time."""


class KeepingStream(Stream):
    """A stream whose bodies are kept."""

    __slots__ = ()

    wants_bodies = True


@dataclass(slots=True)
class Found:
    """Frames of one chunk.

    Attributes:
        cuts: those that begin and end in the chunk, as ``Cutter`` gives them.
        frames: all others.
        times: capture time by number of record.
        where: offset in the file by number of record.
    """

    times: Integers
    where: Integers
    cuts: list[Cut] = field(default_factory=list[Cut])
    frames: list[Frame] = field(default_factory=list[Frame])


class Flows:
    """The streams of one capture, or of a part of it.

    Args:
        limits: how long is waited for missing segments.
        bodies: whether bodies are kept.
        max_streams: streams remembered at a time.

    Attributes:
        forgotten: streams that were forgotten because there were too many.
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
        self._max = max_streams
        self._last_number = 0
        self._streams: dict[tuple[int, int], Stream] = {}
        self._waiting: set[Stream] = set()

    def feed(self, records: Records, segments: Segments) -> Found:
        """Take a chunk, and give the frames that came to their end."""
        found = Found(times=records.time_ns, where=records.where)
        wanted = np.flatnonzero((segments.length > 0) | (segments.flags & (SYN | FIN | RST) != 0))
        if len(wanted):
            self._feed_sorted(records, segments, _sorted(segments, wanted), found)
        self._settle(records, segments, found)
        return found

    def _feed_sorted(
        self, records: Records, segments: Segments, order: Integers, found: Found
    ) -> None:
        chunk = _Chunk(records, segments, order)
        cutter = Cutter(
            records.buffer,
            chunk.data,
            chunk.starts,
            chunk.record,
            records.where,
            records.time_ns,
            bodies=self._bodies,
        )
        now = int(records.time_ns[-1])
        take = found.frames.append
        known = self._streams.get
        for key, low, high in chunk.groups():
            stream = known(key) or self._new_stream(key)
            stream.seen = now
            if stream.protocol in FOREIGN and not chunk.has_syn(low, high):
                continue
            self._feed_stream(stream, chunk, cutter, low, high, take)
            if stream.waits:
                self._waiting.add(stream)
            elif self._waiting:
                self._waiting.discard(stream)
        found.cuts = cutter.cuts

    def _feed_stream(
        self,
        stream: Stream,
        chunk: _Chunk,
        cutter: Cutter,
        low: int,
        high: int,
        take: Callable[[Frame], None],
    ) -> None:
        """Feed the segments of one stream: runs of plain ones at once, others one by one."""
        while low < high:
            if stream.is_plain and not self.careful and chunk.continues(low, stream.next_sequence):
                stop = chunk.end_of_run(low, high)
                done = cutter.cut(stream, low, stop, take)
                stream.advance(done - chunk.starts[low])
                if done == chunk.starts[stop]:
                    low = stop
                    continue
                low = cutter.segment_of(done, low, stop)
            chunk.feed_one(stream, low, self.limits, take)
            low += 1

    def _new_stream(self, key: tuple[int, int]) -> Stream:
        other = self._streams.get((key[1], key[0]))
        if other is None:
            self._last_number += 2
            number = self._last_number
        else:
            number = other.number ^ 1
        kind = KeepingStream if self._bodies else Stream
        stream = self._streams[key] = kind(*key, number)
        return stream

    def _settle(self, records: Records, segments: Segments, found: Found) -> None:
        """After a chunk: let holes be declared, and old streams be forgotten."""
        if not len(records.time_ns):
            return
        now = int(records.time_ns[-1])
        if self._waiting:
            self._acknowledge(segments, found)
        for stream in list(self._waiting):
            stream.expire(now, self.limits, found.frames.append)
            if not stream.waits:
                self._waiting.discard(stream)
        if len(self._streams) > self._max:
            self._forget(found)

    def _acknowledge(self, segments: Segments, found: Found) -> None:
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
                stream.acknowledge(acknowledged, found.frames.append)

    def _forget(self, found: Found) -> None:
        """Forget those that have been silent longest."""
        by_age = sorted(self._streams.values(), key=lambda one: (not one.ended, one.seen))
        for stream in by_age[: len(by_age) // 2]:
            stream.finish(found.frames.append)
            self._waiting.discard(stream)
            del self._streams[stream.source, stream.target]
            self.forgotten += 1

    def finish(self) -> list[Frame]:
        """The capture ends: give what is there."""
        frames: list[Frame] = []
        for stream in self._streams.values():
            stream.finish(frames.append)
        self._waiting.clear()
        return frames

    def in_doubt(self) -> list[Stream]:
        """The streams of which something was seen that may belong to a frame that is not known yet."""
        return [one for one in self._streams.values() if one.is_in_doubt]

    def waits_since(self, since_ns: int = 0) -> int | None:
        """Offset of the first record in which a frame may end that has not been given; None for none.

        Args:
            since_ns: bodies on which nothing has come from that time on do not count.
        """
        offsets = [
            since
            for one in self._streams.values()
            if (since := one.waits_since(since_ns)) is not None
        ]
        return min(offsets, default=None)


class _Chunk:
    """The segments of a chunk, sorted by stream; those of a stream in the order of their capture.

    Attributes:
        data: offset of each payload in the buffer.
        record: number of each one's record.
        starts: position of each in a virtual stream that holds all of them, and the end of the last.
    """

    def __init__(self, records: Records, segments: Segments, order: Integers) -> None:
        self._records = records
        self._segments = segments
        self._order = order
        source, target = segments.source[order], segments.target[order]
        new = np.empty(len(order), np.bool_)
        new[0] = True
        np.not_equal(source[1:], source[:-1], out=new[1:])
        new[1:] |= target[1:] != target[:-1]
        self._begins = np.flatnonzero(new)
        self._keys = zip(source[self._begins].tolist(), target[self._begins].tolist(), strict=True)
        sequence, length = segments.sequence[order], segments.length[order]
        flags = segments.flags[order]
        starts = np.zeros(len(order) + 1, np.int64)
        np.cumsum(length, out=starts[1:])
        self.data: list[int] = segments.data[order].tolist()
        self.record: list[int] = segments.record[order].tolist()
        self.starts: list[int] = starts.tolist()
        self._sequence: list[int] = sequence.tolist()
        unusual = (segments.captured[order] != length) | (flags & (SYN | FIN | RST) != 0)
        breaks = unusual.copy()
        breaks[1:] |= ((sequence[:-1] + length[:-1]) & _MASK != sequence[1:]) & ~new[1:]
        self._unusual = set(np.flatnonzero(unusual).tolist())
        self._breaks: list[int] = np.flatnonzero(breaks).tolist()
        self._syns: list[int] = np.flatnonzero(flags & SYN).tolist()
        self._one_by_one: list[list[int]] | None = None

    def groups(self) -> Iterator[tuple[tuple[int, int], int, int]]:
        """Sender and receiver of each stream, number of its first segment, and number behind its last."""
        begins = self._begins.tolist()
        return zip(self._keys, begins, [*begins[1:], len(self.data)], strict=True)

    def has_syn(self, low: int, high: int) -> bool:
        """Whether one of the segments begins a connection."""
        at = bisect_left(self._syns, low)
        return at < len(self._syns) and self._syns[at] < high

    def continues(self, number: int, sequence: int) -> bool:
        """Whether a segment is the one expected, and has nothing special."""
        return self._sequence[number] == sequence and number not in self._unusual

    def end_of_run(self, number: int, high: int) -> int:
        """Number of the next segment that does not simply follow the one before."""
        at = bisect_right(self._breaks, number)
        return min(self._breaks[at], high) if at < len(self._breaks) else high

    def feed_one(
        self, stream: Stream, number: int, limits: Limits, take: Callable[[Frame], None]
    ) -> None:
        """Feed one segment."""
        if self._one_by_one is None:
            self._one_by_one = self._columns()
        flags, captured, length, where, time_ns = self._one_by_one
        sequence = self._sequence[number]
        if flags[number] & SYN:
            sequence = (sequence + 1) & _MASK
            stream.begin(sequence, take)
        if length[number]:
            data = self.data[number]
            text = bytes(self._records.buffer[data : data + captured[number]])
            place = Place(where[number], time_ns[number])
            stream.add(sequence, text, length[number], place, limits, take)
        if flags[number] & (FIN | RST):
            stream.ended = True

    def _columns(self) -> list[list[int]]:
        segments, records, order = self._segments, self._records, self._order
        record = segments.record[order]
        return [
            column.tolist()
            for column in (
                segments.flags[order],
                segments.captured[order],
                segments.length[order],
                records.where[record],
                records.time_ns[record],
            )
        ]


def _sorted(segments: Segments, wanted: Integers) -> Integers:
    """The wanted segments sorted by stream, each stream's in the order of their capture."""
    source, target = segments.source[wanted], segments.target[wanted]
    mixed: Any = source.view(np.uint64) * _MIX ^ target.view(np.uint64)
    order = np.argsort(mixed, kind="stable")
    mixed = mixed[order]
    same = mixed[1:] == mixed[:-1]
    differs = (source[order][1:] != source[order][:-1]) | (target[order][1:] != target[order][:-1])
    if (same & differs).any():  # two streams with one mixture
        order = np.lexsort((target, source))
    result: Integers = wanted[order]
    return result
