"""``Chunk``: the segments of a chunk sorted by stream, as arrays, and which streams are undisturbed in it.

Rules of this file: only numpy.  The segments lie one behind the other in a virtual stream that holds all of them, so that one
position names a byte.  Repeated and reordered segments are put straight here as long as nothing is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.reassembly import LOOK_BACK
from rocketwire_tools.pcap.segments import Place
from rocketwire_tools.pcap.slots import mixed

if TYPE_CHECKING:
    from rocketwire_tools.pcap.capture import Integers, Records
    from rocketwire_tools.pcap.packets import Segments

    Array = np.ndarray[Any, Any]

FIN: Final = 1
SYN: Final = 2
RST: Final = 4
MASK: Final = 0xFFFFFFFF
_HALF: Final = 1 << 31
_ONE: Final = np.uint64(1)
_SPREAD: Final = np.uint64(0xD6E8FEB86659FD93)
"""Brings what differs in the last bits into the first ones, too."""


class Chunk:
    """Sorted segments; those of a stream in the order of their capture, unless ``straighten`` moved them.

    Args:
        records: the records of the chunk.
        segments: its segments.
        order: numbers of those that matter, sorted by stream.

    Attributes:
        order: see above.
        low: number of the first segment of each stream, a group.
        high: number behind its last one.
        source: sender of each group.
        target: its receiver.
        sequence: of each segment.
        length: bytes of its payload.
        data: offset of its payload in the buffer.
        record: number of its record.
        starts: its virtual position, and as one more the end of the last.
        unusual: whether it has flags that matter, or was not captured whole.
        moved: whether segments do not lie in the order of their capture any more.
        follows: whether it has nothing unusual and follows simply on the one before, or begins a group.
    """

    def __init__(self, records: Records, segments: Segments, order: Integers) -> None:
        self.records = records
        self.segments = segments
        self.moved = False
        source, target = segments.source[order], segments.target[order]
        new = np.empty(len(order), np.bool_)
        new[:1] = True
        np.not_equal(source[1:], source[:-1], out=new[1:])
        new[1:] |= target[1:] != target[:-1]
        self.low = np.flatnonzero(new)
        self.high = np.append(self.low[1:], len(order))
        self.source, self.target = source[self.low], target[self.low]
        self._arrange(order)

    def _arrange(self, order: Integers) -> None:
        segments = self.segments
        self.order = order
        self.sequence, self.length = segments.sequence[order], segments.length[order]
        self.data, self.record = segments.data[order], segments.record[order]
        self.flags = segments.flags[order]
        self.starts = np.zeros(len(order) + 1, np.int64)
        np.cumsum(self.length, out=self.starts[1:])
        self.unusual = (segments.captured[order] != self.length) | (
            self.flags & (SYN | FIN | RST) != 0
        )
        self.follows = ~self.unusual
        self.follows[1:] &= (self.sequence[:-1] + self.length[:-1]) & MASK == self.sequence[1:]
        self.follows[self.low] = ~self.unusual[self.low]

    def undisturbed(self) -> Array:
        """Which groups have segments that simply follow each other."""
        broken = np.zeros(len(self.order) + 1, np.int32)
        np.cumsum(~self.follows, out=broken[1:])
        whole: Array = broken[self.high] == broken[self.low]
        return whole

    def has_syn(self) -> Array:
        """Which groups have a segment that begins a connection."""
        syns = np.zeros(len(self.order) + 1, np.int32)
        np.cumsum(self.flags & SYN != 0, out=syns[1:])
        some: Array = syns[self.high] != syns[self.low]
        return some

    def members(self, groups: Array) -> Array:
        """Which segments belong to groups (given as truths)."""
        of: Array = np.repeat(groups, self.high - self.low)
        return of

    def part(self, wanted: Array) -> Chunk:
        """A chunk with some of the segments (given as truths)."""
        return Chunk(self.records, self.segments, self.order[wanted])

    def place(self, record: int) -> Place:
        """Where a record is, and when it was captured."""
        return Place(int(self.records.where[record]), int(self.records.time_ns[record]))

    def piece(self, start: int, end: int, number: int) -> bytes:
        """Bytes between two virtual positions, from segment ``number`` on."""
        starts, data, parts = self.starts, self.data, [b""]
        while start < end:
            stop = min(int(starts[number + 1]), end)
            offset = int(data[number]) + start - int(starts[number])
            parts.append(bytes(self.records.buffer[offset : offset + stop - start]))
            start = stop
            number += 1
        return b"".join(parts)

    def straighten(self, groups: Array, expected: Array, hold_ns: int) -> Array:
        """Put segments of groups in the order of their bytes, and drop those whose bytes have all been
        captured before; groups in which that leaves a hole, in which a segment would have to wait too long for others or lies far
        behind, or in which a later segment has bytes that an earlier one lacks and others that it has, are left as they are.

        Args:
            groups: which ones, as truths.
            expected: the sequence number with which each group should begin.
            hold_ns: nanoseconds that a segment waits at most.

        Returns:
            Numbers of the groups that are still there.
        """
        of = np.flatnonzero(self.members(groups))
        if not len(of):
            return np.arange(len(self.low))
        group = np.repeat(np.arange(len(self.low)), self.high - self.low)[of]
        ahead = (self.sequence[of] - expected[group]) & MASK
        ahead -= (ahead >= _HALF) * (1 << 32)
        lane = group << 34  # keeps what is said of one group out of the next
        sort = np.argsort(lane + ahead, kind="stable")  # leaves each group where it is
        of, ahead = of[sort], ahead[sort]
        end, record = ahead + self.length[of], lane + self.record[of]
        reached = _before(np.maximum.accumulate(lane + np.maximum(end, 0)), lane)
        seen = _before(np.maximum.accumulate(record), lane - 1)
        known = (end <= 0) | ((lane + end <= reached) & (record > seen))
        special = self.flags[of] & (SYN | FIN | RST) != 0
        misplaced = (lane + ahead != reached) | self.unusual[of]
        special |= end <= -LOOK_BACK  # so far behind may be another connection
        bad = (known & special) | (~known & misplaced) | self._waits(of, seen - lane, hold_ns)
        spoilt = np.zeros(len(self.low), np.bool_)
        spoilt[group[bad]] = True
        return self._replace(of, group, known, groups & ~spoilt)

    def _waits(self, segments: Array, seen: Array, hold_ns: int) -> Array:
        """Which segments wait longer than that for those in front of them.

        Args:
            segments: their numbers.
            seen: the largest number of a record of those in front, -1 for none.
            hold_ns: nanoseconds.
        """
        times = self.records.time_ns
        latest = np.maximum.accumulate(times)
        waits: Array = latest[np.maximum(seen, 0)] - times[self.record[segments]] > hold_ns
        return waits & (seen >= 0)

    def _replace(self, of: Array, group: Array, known: Array, mended: Array) -> Array:
        take = mended[group] & ~known
        kept = ~self.members(mended)
        key = np.repeat(np.arange(len(self.low)), self.high - self.low)
        keys = np.concatenate([key[kept], group[take]])
        numbers = np.concatenate([self.order[kept], self.order[of[take]]])
        count = np.bincount(keys, minlength=len(self.low))
        some = np.flatnonzero(count)
        order = numbers[np.argsort(keys, kind="stable")]
        self.source, self.target = self.source[some], self.target[some]
        self.high = np.cumsum(count[some])
        self.low = self.high - count[some]
        self.moved = True
        self._arrange(order)
        return some


def _before(running: Array, first: Array) -> Array:
    """The running value in front of each entry, in its own lane at least ``first``."""
    before = np.empty_like(running)
    before[:1] = first[:1]
    before[1:] = running[:-1]
    result: Array = np.maximum(before, first)
    return result


def sorted_by_stream(segments: Segments, wanted: Integers) -> Integers:
    """The wanted segments sorted by stream, each stream's in the order of their capture."""
    source, target = segments.source[wanted], segments.target[wanted]
    bits = np.uint64(len(wanted).bit_length())
    keys = mixed(source, target) * _SPREAD >> bits << bits
    keys |= np.arange(len(wanted), dtype=np.uint64)
    keys.sort()  # numbers are sorted in a quarter of the time that finding their order takes
    order = (keys & (_ONE << bits) - _ONE).astype(np.int64)
    keys >>= bits
    same = keys[1:] == keys[:-1]
    sources, targets = source[order], target[order]
    if (same & ((sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1]))).any():
        order = np.lexsort((target, source))  # two streams with one mixture
    result: Integers = wanted[order]
    return result
