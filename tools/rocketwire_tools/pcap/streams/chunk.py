"""``Chunk``: the segments of a chunk as arrays, sorted by stream, and which streams are in order in
it.

The segments lie one after the other in a virtual stream, so that one position identifies a byte.
Repeated, overlapping and reordered segments are put in order here up to the first hole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.streams.reassembly import LOOK_BACK, PacketRef

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.files.records import Array, Records
    from rocketwire_tools.pcap.packets.packets import Segments

FIN: Final = 1
SYN: Final = 2
RST: Final = 4
MASK: Final = 0xFFFFFFFF
_HALF: Final = 1 << 31
_LANE: Final = 34  # Bits of a number for the position in a group; the upper bits are the group
_MAX_SHARED: Final = 8
"""Parts into which the ends of other segments may cut the segments of a group on average."""
_COLUMNS: Final = ("sequence", "length", "captured", "data", "record", "flags")


class Chunk:
    """Sorted segments. A group has the segments of a stream in the order of their capture, unless
    ``put_in_order`` moved them.
    """

    sequence: Array  # of each segment
    length: Array  # bytes of its payload
    captured: Array  # captured bytes of its payload
    data: Array  # offset of its payload in the buffer
    record: Array  # number of its record
    flags: Array  # its flags

    def __init__(
        self,
        records: Records,  # the records of the chunk
        slots: Array,  # of the stream of each group
        count: Array,  # segments of each group, at least 1
        columns: dict[str, Array],  # the columns of the segments: ``_COLUMNS``
        *,
        moved: bool = False,  # whether segments are not in the order of their capture
    ) -> None:
        self.records = records
        self.slots = slots
        self.moved = moved
        self.high = np.cumsum(count)  # index after the last segment of each group
        self.low = self.high - count  # index of the first segment of each group
        self.__dict__.update(columns)
        # its virtual position; one more entry for the end of the last segment
        self.starts = np.zeros(len(self.length) + 1, np.int64)
        np.cumsum(self.length, out=self.starts[1:])
        # whether it has SYN, FIN or RST, or was not captured whole
        self.unusual = self.captured != self.length
        self.unusual |= self.flags & (SYN | FIN | RST) != 0
        # whether it is not unusual and follows the segment before it, or begins a group
        self.follows = ~self.unusual
        self.follows[1:] &= (self.sequence[:-1] + self.length[:-1]) & MASK == self.sequence[1:]
        self.follows[self.low] = ~self.unusual[self.low]

    def __len__(self) -> int:
        return len(self.length)

    def are_in_order(self) -> Array:
        return ~self._any(~self.follows)

    def has_syn(self) -> Array:
        return self._any(self.flags & SYN != 0)

    def _any(self, segments: Array) -> Array:
        counts = np.zeros(len(self) + 1, np.int32)
        np.cumsum(segments, out=counts[1:])
        return counts[self.high] != counts[self.low]

    def members(self, groups: Array) -> Array:
        """Repeat a value of each group for each of its segments."""
        return np.repeat(groups, self.high - self.low)

    def part(self, mask: Array) -> Chunk:
        if mask.all():
            return self
        counts = np.zeros(len(self) + 1, np.int64)
        np.cumsum(mask, out=counts[1:])
        count = counts[self.high] - counts[self.low]
        groups = np.flatnonzero(count)
        columns = {name: getattr(self, name)[mask] for name in _COLUMNS}
        return Chunk(self.records, self.slots[groups], count[groups], columns, moved=self.moved)

    def merge(self, chunk: Chunk) -> Chunk:
        """The segments of two chunks; in each stream, those of this chunk come first."""
        if not len(chunk):
            return self
        if not len(self):
            return chunk
        columns = {
            name: np.concatenate([getattr(self, name), getattr(chunk, name)]) for name in _COLUMNS
        }
        slots = np.concatenate([self.members(self.slots), chunk.members(chunk.slots)])
        return _sorted(self.records, slots, columns)

    def packet_ref(self, record: int) -> PacketRef:
        return PacketRef(int(self.records.file_offset[record]), int(self.records.time_ns[record]))

    def piece(self, start: int, end: int, number: int) -> bytes:
        """Bytes between two virtual positions, which begin in segment ``number`` or after it."""
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

    # ---- ordering

    def put_in_order(self, ready: Array, expected: Array, hold_ns: int) -> tuple[Chunk, Chunk]:
        """Divide the chunk into the consecutive segments of the ready groups, in order and without
        bytes of an earlier record; and all other segments unchanged, except completely used ones.
        """
        orderly = ready & self.are_in_order() & (self.sequence[self.low] == expected)
        simple, remaining = self.members(orderly), self.members(~ready)
        disturbed = np.flatnonzero(self.members(ready & ~orderly))
        if not len(disturbed):
            return self.part(simple), self.part(remaining)
        pieces, unused = self._pieces(disturbed, expected, hold_ns)
        remaining[unused] = True
        return self.part(simple).merge(pieces), self.part(remaining)

    def _pieces(self, numbers: Array, expected: Array, hold_ns: int) -> tuple[Chunk, Array]:
        """Put segments in order; returns the consecutive pieces up to the first hole of each group,
        and the indices of the segments with bytes after it."""
        group = self.members(np.arange(len(self.low)))[numbers]
        ahead = (self.sequence[numbers] - expected[group]) & MASK
        ahead -= (ahead >= _HALF) * (1 << 32)
        end = ahead + self.length[numbers]
        # A segment with flags, or far back, may start another connection, and so may later ones.
        is_ordinary = ~_from_first(group, self.unusual[numbers] | (end <= -LOOK_BACK))
        usable = np.flatnonzero(is_ordinary & (end > 0))
        lane = group[usable] << _LANE
        spans = _spans(lane + np.maximum(ahead[usable], 0), lane + end[usable])
        size = np.bincount(group[usable], minlength=len(self.low))
        crowded = np.bincount(group[usable], spans.covered, len(self.low)) > _MAX_SHARED * size
        if crowded.any():
            return self._pieces_without(crowded[group], numbers, expected, hold_ns)
        start, stop, owner = _earliest(spans, self.record[numbers[usable]])
        owner = usable[owner]
        lane = start >> _LANE << _LANE
        kept = ~_from_first(lane, start != _before(stop, lane))
        waits = kept & self._waits(lane, self.record[numbers[owner]], hold_ns)
        if waits.any():
            is_late = np.zeros(len(self.low), np.bool_)
            is_late[lane[waits] >> _LANE] = True
            return self._pieces_without(is_late[group], numbers, expected, hold_ns)
        start, stop, owner, lane = start[kept], stop[kept], owner[kept], lane[kept]
        reached = np.zeros(len(self.low), np.int64)
        reached[lane >> _LANE] = stop - lane  # the last value of each group wins
        is_used = is_ordinary & (end <= reached[group])
        segment, of_group = numbers[owner], group[owner]
        columns = {
            "sequence": (expected[of_group] + start - lane) & MASK,
            "length": stop - start,
            "captured": stop - start,
            "data": self.data[segment] + start - lane - ahead[owner],
            "record": self.record[segment],
            "flags": self.flags[segment],
        }
        pieces = _sorted(self.records, self.slots[of_group], columns)
        return pieces, numbers[~is_used]

    def _pieces_without(
        self, excluded: Array, numbers: Array, expected: Array, hold_ns: int
    ) -> tuple[Chunk, Array]:
        # Like ``_pieces``, but leave the segments of a mask unchanged
        pieces, unused = self._pieces(numbers[~excluded], expected, hold_ns)
        return pieces, np.concatenate([numbers[excluded], unused])

    def _waits(self, lane: Array, record: Array, hold_ns: int) -> Array:
        # Which pieces wait too long for the pieces before them
        latest_record = _before(np.maximum.accumulate(lane + record), lane - 1) - lane
        latest = np.maximum.accumulate(self.records.time_ns)
        waits: Array = latest[np.maximum(latest_record, 0)] - self.records.time_ns[record] > hold_ns
        return waits & (latest_record >= 0)


def _sorted(records: Records, slots: Array, columns: dict[str, Array]) -> Chunk:
    order = np.argsort(slots, kind="stable")
    slots = slots[order]
    new = np.append(True, slots[1:] != slots[:-1])[: len(slots)]
    count = np.diff(np.append(np.flatnonzero(new), len(slots)))
    columns = {name: column[order] for name, column in columns.items()}
    return Chunk(records, slots[new], count, columns, moved=True)


class _Spans(NamedTuple):
    points: Array  # all start and end positions in order
    first: Array  # index of the point at which each segment begins
    covered: Array  # number of spans between points that each segment covers


def _spans(start: Array, end: Array) -> _Spans:
    points = np.unique(np.concatenate([start, end]))
    first = np.searchsorted(points, start)
    return _Spans(points, first, np.searchsorted(points, end) - first)


def _earliest(spans: _Spans, record: Array) -> tuple[Array, Array, Array]:
    """Divide overlapping segments, so that each byte belongs to its earliest record; returns start,
    end and index of the segment of each piece, in order."""
    points, first, count = spans
    segment = np.repeat(np.arange(len(count)), count)
    point = np.arange(len(segment)) + np.repeat(first - np.cumsum(count) + count, count)
    order = np.lexsort((record[segment], point))
    segment, point = segment[order], point[order]
    new = np.append(True, point[1:] != point[:-1])[: len(point)]
    segment, point = segment[new], point[new]
    begins, ends = points[point], points[point + 1]
    new = np.append(True, (segment[1:] != segment[:-1]) | (begins[1:] != ends[:-1]))[: len(point)]
    last = np.append(new[1:], True)[: len(point)]
    return begins[new], ends[last], segment[new]


def _from_first(group: Array, stops: Array) -> Array:
    # Mark, in each group of consecutive entries, the first one in ``stops`` and all after it
    if not len(group):
        return stops
    new = np.append(True, group[1:] != group[:-1])
    number = np.cumsum(new) * 2
    return np.maximum.accumulate(number + stops) > number


def _before(running: Array, first: Array) -> Array:
    # The value before each entry, at least ``first`` of its lane
    shifted = np.empty_like(running)
    shifted[:1] = first[:1]
    shifted[1:] = running[:-1]
    return np.maximum(shifted, first)


def chunk_of(
    records: Records, segments: Segments, numbers: Array, slots: Callable[[Array, Array], Array]
) -> Chunk:
    order = sorted_by_stream(segments, numbers)
    source, target = segments.source[order], segments.target[order]
    new = np.append(True, (source[1:] != source[:-1]) | (target[1:] != target[:-1]))
    low = np.flatnonzero(new)
    columns = {name: getattr(segments, name)[order] for name in _COLUMNS}
    count = np.diff(np.append(low, len(order)))
    return Chunk(records, slots(source[low], target[low]), count, columns)


def sorted_by_stream(segments: Segments, numbers: Array) -> Array:
    """Sort segments by stream, and those of a stream in the order of their capture."""
    order = np.lexsort((segments.target[numbers], segments.source[numbers]))
    return numbers[order]
