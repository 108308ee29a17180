"""``Chunk``: the segments of a chunk sorted by stream, as arrays, and which streams are undisturbed in it.

Rules of this file: only numpy.  The segments lie one behind the other in a virtual stream that holds all of them, so that one
position names a byte.  Repeated, overlapping and reordered segments are put straight here up to the first hole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.streams.reassembly import LOOK_BACK
from rocketwire_tools.pcap.streams.segments import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.files.records import Integers, Records
    from rocketwire_tools.pcap.packets.packets import Segments

    Array = np.ndarray[Any, Any]

FIN: Final = 1
SYN: Final = 2
RST: Final = 4
MASK: Final = 0xFFFFFFFF
_HALF: Final = 1 << 31
_LANE: Final = 34
"""Bits of a number that say where in its group something is; the others say which group it is."""
_MOST_SHARED: Final = 8
"""Parts into which the ends of others may cut the segments of a group on average."""
_COLUMNS: Final = ("sequence", "length", "captured", "data", "record", "flags")


class Chunk:
    """Sorted segments; those of a stream, a group, in the order of their capture, unless ``straight`` moved them.

    Args:
        records: the records of the chunk.
        slots: of the stream of each group.
        count: segments of each group, none of which is empty.
        columns: the columns of the segments: ``_COLUMNS``.
        moved: whether segments do not lie in the order of their capture.

    Attributes:
        low: number of the first segment of each group.
        high: number behind its last one.
        sequence: of each segment.
        length: bytes of its payload.
        captured: bytes of it that were captured.
        data: offset of its payload in the buffer.
        record: number of its record.
        flags: its flags.
        starts: its virtual position, and as one more the end of the last.
        unusual: whether it has flags that matter, or was not captured whole.
        follows: whether it has nothing unusual and follows simply on the one before, or begins a group.
    """

    sequence: Array
    length: Array
    captured: Array
    data: Array
    record: Array
    flags: Array

    def __init__(
        self,
        records: Records,
        slots: Array,
        count: Array,
        columns: dict[str, Array],
        *,
        moved: bool = False,
    ) -> None:
        self.records = records
        self.slots = slots
        self.moved = moved
        self.high = np.cumsum(count)
        self.low = self.high - count
        self.__dict__.update(columns)
        self.starts = np.zeros(len(self.length) + 1, np.int64)
        np.cumsum(self.length, out=self.starts[1:])
        self.unusual = self.captured != self.length
        self.unusual |= self.flags & (SYN | FIN | RST) != 0
        self.follows = ~self.unusual
        self.follows[1:] &= (self.sequence[:-1] + self.length[:-1]) & MASK == self.sequence[1:]
        self.follows[self.low] = ~self.unusual[self.low]

    def __len__(self) -> int:
        """Its segments."""
        return len(self.length)

    def undisturbed(self) -> Array:
        """Which groups have segments that simply follow each other."""
        return ~self._any(~self.follows)

    def has_syn(self) -> Array:
        """Which groups have a segment that begins a connection."""
        return self._any(self.flags & SYN != 0)

    def _any(self, segments: Array) -> Array:
        """Which groups have one of some segments (given as truths)."""
        before = np.zeros(len(self) + 1, np.int32)
        np.cumsum(segments, out=before[1:])
        some: Array = before[self.high] != before[self.low]
        return some

    def members(self, groups: Array) -> Array:
        """What is given for each group, for each segment."""
        of: Array = np.repeat(groups, self.high - self.low)
        return of

    def part(self, wanted: Array) -> Chunk:
        """A chunk with some of the segments (given as truths)."""
        if wanted.all():
            return self
        before = np.zeros(len(self) + 1, np.int64)
        np.cumsum(wanted, out=before[1:])
        count = before[self.high] - before[self.low]
        some = np.flatnonzero(count)
        columns = {name: getattr(self, name)[wanted] for name in _COLUMNS}
        return Chunk(self.records, self.slots[some], count[some], columns, moved=self.moved)

    def with_others(self, other: Chunk) -> Chunk:
        """The segments of both, of each stream first those of this one."""
        if not len(other):
            return self
        if not len(self):
            return other
        columns = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _COLUMNS
        }
        slots = np.concatenate([self.members(self.slots), other.members(other.slots)])
        return _sorted(self.records, slots, columns)

    def place(self, record: int) -> Place:
        """Where a record is, and when it was captured."""
        return Place(int(self.records.where[record]), int(self.records.time_ns[record]))

    def piece(self, start: int, end: int, number: int) -> bytes:
        """Bytes between two virtual positions, from segment ``number`` on or behind it."""
        starts, data, buffer = self.starts, self.data, self.records.buffer
        while start >= starts[number + 1] and start < end:
            number += 1
        offset = int(data[number]) + start - int(starts[number])
        if end <= starts[number + 1]:
            return bytes(buffer[offset : offset + end - start])
        parts: list[bytes] = []
        while start < end:
            stop = min(int(starts[number + 1]), end)
            offset = int(data[number]) + start - int(starts[number])
            parts.append(bytes(buffer[offset : offset + stop - start]))
            start = stop
            number += 1
        return b"".join(parts)

    # ---- putting straight

    def straight(self, ready: Array, expected: Array, hold_ns: int) -> tuple[Chunk, Chunk]:
        """Divide the chunk.

        Args:
            ready: the groups whose streams wait for nothing, as truths.
            expected: the sequence number with which each group should go on.
            hold_ns: nanoseconds that a segment waits for others at most.

        Returns:
            The segments of the groups that are ready as far as they follow each other, put in order and without bytes that an
            earlier record has; and all others as they are, without those of which nothing is left.
        """
        orderly = ready & self.undisturbed() & (self.sequence[self.low] == expected)
        simple, rest = self.members(orderly), self.members(~ready)
        disturbed = np.flatnonzero(self.members(ready & ~orderly))
        if not len(disturbed):
            return self.part(simple), self.part(rest)
        pieces, left = self._pieces(disturbed, expected, hold_ns)
        rest[left] = True
        return self.part(simple).with_others(pieces), self.part(rest)

    def _pieces(self, of: Array, expected: Array, hold_ns: int) -> tuple[Chunk, Array]:
        """Put segments in order.

        Args:
            of: their numbers.
            expected: the sequence number with which each group should go on.
            hold_ns: as above.

        Returns:
            What follows each other up to the first hole of each group; and the numbers of the segments of which something is
            left behind it.
        """
        group = self.members(np.arange(len(self.low)))[of]
        ahead = (self.sequence[of] - expected[group]) & MASK
        ahead -= (ahead >= _HALF) * (1 << 32)
        end = ahead + self.length[of]
        # What has flags, or is so far behind, may be another connection's, and what comes after it, too.
        open_ = ~_from_first(group, self.unusual[of] | (end <= -LOOK_BACK))
        usable = np.flatnonzero(open_ & (end > 0))
        lane = group[usable] << _LANE
        spans = _spans(lane + np.maximum(ahead[usable], 0), lane + end[usable])
        size = np.bincount(group[usable], minlength=len(self.low))
        crowded = np.bincount(group[usable], spans.covered, len(self.low)) > _MOST_SHARED * size
        if crowded.any():
            return self._pieces_without(crowded[group], of, expected, hold_ns)
        start, stop, owner = _earliest(spans, self.record[of[usable]])
        owner = usable[owner]
        lane = start >> _LANE << _LANE
        kept = ~_from_first(lane, start != _before(stop, lane))
        waits = kept & self._waits(lane, self.record[of[owner]], hold_ns)
        if waits.any():
            late = np.zeros(len(self.low), np.bool_)
            late[lane[waits] >> _LANE] = True
            return self._pieces_without(late[group], of, expected, hold_ns)
        start, stop, owner, lane = start[kept], stop[kept], owner[kept], lane[kept]
        reached = np.zeros(len(self.low), np.int64)
        reached[lane >> _LANE] = stop - lane  # the last one of each group is the one that stays
        done = open_ & (end <= reached[group])
        segment, of_group = of[owner], group[owner]
        columns = {
            "sequence": (expected[of_group] + start - lane) & MASK,
            "length": stop - start,
            "captured": stop - start,
            "data": self.data[segment] + start - lane - ahead[owner],
            "record": self.record[segment],
            "flags": self.flags[segment],
        }
        pieces = _sorted(self.records, self.slots[of_group], columns)
        return pieces, of[~done]

    def _pieces_without(
        self, others: Array, of: Array, expected: Array, hold_ns: int
    ) -> tuple[Chunk, Array]:
        """As ``_pieces``, but some of the segments (given as truths) are left as they are."""
        pieces, left = self._pieces(of[~others], expected, hold_ns)
        return pieces, np.concatenate([of[others], left])

    def _waits(self, lane: Array, record: Array, hold_ns: int) -> Array:
        """Which pieces wait longer than that for those in front of them.

        Args:
            lane: of each, the same for those of a group.
            record: number of the record of each.
            hold_ns: nanoseconds.
        """
        seen = _before(np.maximum.accumulate(lane + record), lane - 1) - lane
        latest = np.maximum.accumulate(self.records.time_ns)
        waits: Array = latest[np.maximum(seen, 0)] - self.records.time_ns[record] > hold_ns
        return waits & (seen >= 0)


def _sorted(records: Records, slots: Array, columns: dict[str, Array]) -> Chunk:
    """A chunk of segments that were moved, given the slot of each."""
    order = np.argsort(slots, kind="stable")
    slots = slots[order]
    new = np.append(True, slots[1:] != slots[:-1])[: len(slots)]
    count = np.diff(np.append(np.flatnonzero(new), len(slots)))
    columns = {name: column[order] for name, column in columns.items()}
    return Chunk(records, slots[new], count, columns, moved=True)


class _Spans(NamedTuple):
    """Segments as spans between points.

    Attributes:
        points: all positions at which one begins or ends, in order.
        first: number of the point at which each begins.
        covered: how many spans between points each has.
    """

    points: Array
    first: Array
    covered: Array


def _spans(start: Array, end: Array) -> _Spans:
    points = distinct(np.concatenate([start, end]))
    first = np.searchsorted(points, start)
    return _Spans(points, first, np.searchsorted(points, end) - first)


def _earliest(spans: _Spans, record: Array) -> tuple[Array, Array, Array]:
    """Divide overlapping segments, so that each byte is of the earliest record that has it.

    Args:
        spans: the segments.
        record: number of the record of each.

    Returns:
        Start, end and number of the segment of each piece, in order.
    """
    points, first, count = spans
    segment = np.repeat(np.arange(len(count)), count)
    at = np.arange(len(segment)) + np.repeat(first - np.cumsum(count) + count, count)
    order = np.lexsort((record[segment], at))
    segment, at = segment[order], at[order]
    new = np.append(True, at[1:] != at[:-1])[: len(at)]
    segment, at = segment[new], at[new]
    begins, ends = points[at], points[at + 1]
    new = np.append(True, (segment[1:] != segment[:-1]) | (begins[1:] != ends[:-1]))[: len(at)]
    last = np.append(new[1:], True)[: len(at)]
    return begins[new], ends[last], segment[new]


def _from_first(group: Array, stops: Array) -> Array:
    """Which entries are the first in their group that stops, or come after it; groups lie one behind the other."""
    if not len(group):
        return stops
    new = np.append(True, group[1:] != group[:-1])
    number = np.cumsum(new) * 2
    stopped: Array = np.maximum.accumulate(number + stops) > number
    return stopped


def _before(running: Array, first: Array) -> Array:
    """The value in front of each entry, in its own lane at least ``first``."""
    before = np.empty_like(running)
    before[:1] = first[:1]
    before[1:] = running[:-1]
    result: Array = np.maximum(before, first)
    return result


def distinct(values: Array) -> Array:
    """As ``np.unique``, which imports all of ``numpy.ma``."""
    values = np.sort(values)
    new = np.empty(len(values), np.bool_)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    result: Array = values[new]
    return result


def chunk_of(
    records: Records, segments: Segments, wanted: Integers, slots: Callable[[Array, Array], Array]
) -> Chunk:
    """The chunk of some segments.

    Args:
        records: the records of the chunk.
        segments: all its segments.
        wanted: numbers of those that matter.
        slots: gives the slots of streams of their senders and receivers.
    """
    order = sorted_by_stream(segments, wanted)
    source, target = segments.source[order], segments.target[order]
    new = np.append(True, (source[1:] != source[:-1]) | (target[1:] != target[:-1]))
    low = np.flatnonzero(new)
    columns = {name: getattr(segments, name)[order] for name in _COLUMNS}
    count = np.diff(np.append(low, len(order)))
    return Chunk(records, slots(source[low], target[low]), count, columns)


def sorted_by_stream(segments: Segments, wanted: Integers) -> Integers:
    """The wanted segments sorted by stream, each stream's in the order of their capture."""
    order = np.lexsort((segments.target[wanted], segments.source[wanted]))
    result: Integers = wanted[order]
    return result
