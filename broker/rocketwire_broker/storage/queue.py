"""The queues of a store: in memory, and with files.

``Queue`` has messages as stored bytes, with the values that searches need. Its lists grow at their
end and are cut at their front, in steps, so that dropping the oldest message costs next to nothing.
``UnitQueue`` has the physical offsets of messages, which are read when needed: 20 bytes for each,
the size of its unit in Java's file of the queue.

Java: ``ConsumeQueue``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from rocketwire.store.commit_log import SMALLEST_MESSAGE

_CUT: Final = 1_024  # least number of dropped messages before the lists are cut


class Queue:
    def __init__(self, topic: str, queue_id: int) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self.max_offset = 0
        self._base = 0  # offset of the first element of the lists
        self._begin = 0  # index of the first message that is kept
        self._records: list[bytes] = []
        self._codes = array("q")
        self._times = array("q")
        self._physical = array("q")

    @property
    def min_offset(self) -> int:
        """Offset of the oldest message, or of the next one if there is none."""
        return self._base + self._begin

    @property
    def size(self) -> int:
        return sum(map(len, self._records))

    def append(self, record: bytes, tag_code: int, store_time: int, physical: int) -> None:
        self._records.append(record)
        self._codes.append(tag_code)
        self._times.append(store_time)
        self._physical.append(physical)
        self.max_offset += 1

    def drop_first(self) -> int:
        """Drop the oldest message; return its size."""
        size = len(self._records[self._begin])
        self._records[self._begin] = b""
        self._begin += 1
        if self._begin >= _CUT and 2 * self._begin >= len(self._records):
            cut, self._begin = self._begin, 0
            self._base += cut
            for column in (self._records, self._codes, self._times, self._physical):
                del column[:cut]
        return size

    # ------------------------------------------------------------------ one message

    def record(self, offset: int) -> bytes | None:
        index = offset - self._base
        return self._records[index] if self._begin <= index < len(self._records) else None

    def store_time(self, offset: int) -> int | None:
        index = offset - self._base
        return self._times[index] if self._begin <= index < len(self._times) else None

    def tag_code(self, offset: int) -> int:
        return self._codes[offset - self._base]

    def physical(self, offset: int) -> int:
        return self._physical[offset - self._base]

    def offset_of(self, physical: int) -> int | None:
        index = bisect_left(self._physical, physical, self._begin)
        if index < len(self._physical) and self._physical[index] == physical:
            return self._base + index
        return None

    # ------------------------------------------------------------------ several messages

    def records(self, offset: int, count: int) -> list[bytes]:
        begin = offset - self._base
        return self._records[begin : begin + count]

    def tag_codes(self, offset: int, count: int) -> array[int]:
        begin = offset - self._base
        return self._codes[begin : begin + count]

    # ------------------------------------------------------------------ by time

    def offset_at(self, timestamp: int) -> int:
        """Return the first offset that was stored at this time or later; ``max_offset`` if none."""
        return self._base + bisect_left(self._times, timestamp, self._begin)

    def offset_until(self, timestamp: int) -> int:
        """Return the offset after the last one that was stored at this time or earlier."""
        return self._base + bisect_right(self._times, timestamp, self._begin)


Read = Callable[[int, int], bytes]
"""Returns bytes of the log by physical offset and size; none if they are gone."""

READ_AT_ONCE: Final = 256 << 10
"""Bytes of messages that follow each other in the log and are read together."""

_MAX_WASTE: Final = 8
"""Maximum bytes that are read for one that is used: messages of other queues lie in between."""

MAX_MISSING: Final = 65_536
"""Maximum lost messages before one whose offset no later message confirms."""

_NONE: Final[Mapping[int, bytes]] = {}

_HEAD: Final = 76  # bytes of a message up to its store time, whatever the address of its producer
_SYS_FLAG: Final = 36
_BORN_V6: Final = 0x10


def store_time_of(head: bytes) -> int:
    is_long = int.from_bytes(head[_SYS_FLAG : _SYS_FLAG + 4]) & _BORN_V6
    position = 68 if is_long else 56
    return int.from_bytes(head[position : position + 8], signed=True)


class Unit(NamedTuple):
    offset: int  # its offset according to itself
    # physical, size, tag_code: see ``UnitQueue.add``.
    physical: int
    size: int
    tag_code: int


class UnitQueue(Queue):
    def __init__(
        self, topic: str, queue_id: int, read: Read, recent: Mapping[int, bytes] = _NONE
    ) -> None:
        super().__init__(topic, queue_id)
        self._read = read
        self._recent = recent
        self._sizes = array("i")
        # offset of the first message that the files of the queue do not have yet; -1 if they must
        # be written anew
        self.written = -1
        self.misplaced = 0  # messages of the log with an impossible offset
        self._doubted: Unit | None = None

    @property
    def size(self) -> int:
        return sum(self._sizes)

    def add(self, physical: int, size: int, tag_code: int) -> None:
        self._physical.append(physical)
        self._sizes.append(size)
        self._codes.append(tag_code)
        self.max_offset += 1

    def add_scanned(self, offset: int, physical: int, size: int, tag_code: int) -> None:
        """Put a message of the log that is read at the start at its offset.

        No checksum covers the offset, so a message with an unexpected one waits for the next of its
        queue. ``finish_scan`` puts the last one.
        """
        unit = Unit(offset, physical, size, tag_code)
        if self._doubted is not None:
            doubted, self._doubted = self._doubted, None
            self._add_doubted(doubted, unit)
        if offset == self.max_offset:
            self._put(unit)
        else:
            self._doubted = unit

    def finish_scan(self) -> int:
        """Put the last message; return how many had a wrong offset."""
        if self._doubted is not None:
            self._add_doubted(self._doubted, None)
            self._doubted = None
        return self.misplaced

    def _add_doubted(self, unit: Unit, following: Unit | None) -> None:
        # A queue that begins anew was deleted meanwhile; the later message counts. Offsets of lost
        # messages are left without one: there can be no more than had room in the log before it.
        if not self._sizes:
            self._add_first(unit, following)
            return
        end, missing = self.max_offset, unit.offset - self.max_offset
        room = (unit.physical - self._physical[-1] - self._sizes[-1]) // SMALLEST_MESSAGE
        is_sure = following is not None and following.offset == unit.offset + 1
        if not unit.offset or (unit.offset > 0 and is_sure and missing <= room):
            self._put(unit)
        elif following is not None and following.offset == end:  # it is of another queue
            self.misplaced += 1
        elif 0 < missing <= min(room, MAX_MISSING):
            self._put(unit)
        else:
            self.misplaced += 1
            if is_sure and len(self._sizes) == 1:  # the first one was wrong
                self._base, self.max_offset = unit.offset - 1, unit.offset
            self._put(unit._replace(offset=self.max_offset))

    def _add_first(self, unit: Unit, following: Unit | None) -> None:
        # the first message that is left of a queue may have any offset
        offset = max(unit.offset, 0)
        if following is not None and (unit.offset < 0 or following.offset <= offset):
            offset = max(following.offset - 1, 0)
        self.misplaced += offset != unit.offset
        self._put(unit._replace(offset=offset))

    def _put(self, unit: Unit) -> None:
        offset, physical, size, tag_code = unit
        if offset < self.max_offset or not self._sizes:
            self._cut(offset)
        while self.max_offset < offset:
            self.add(physical, 0, 0)
        self.add(physical, size, tag_code)

    def _cut(self, offset: int) -> None:
        kept = max(0, offset - self._base)
        del self._physical[kept:], self._sizes[kept:], self._codes[kept:]
        if not self._sizes:
            self._base = offset
        self.max_offset = self._base + len(self._sizes)
        self.written = min(self.written, self.max_offset)

    def drop_before(self, physical: int) -> int:
        count = bisect_left(self._physical, physical)
        if count:
            del self._physical[:count], self._sizes[:count], self._codes[:count]
            self._base += count
        return count

    def units(self, offset: int) -> Iterator[tuple[int, int, int]]:
        begin = offset - self._base
        yield from zip(
            self._physical[begin:], self._sizes[begin:], self._codes[begin:], strict=True
        )

    # ------------------------------------------------------------------ one message

    def record(self, offset: int) -> bytes | None:
        index = offset - self._base
        if not 0 <= index < len(self._sizes):
            return None
        return self._read(self._physical[index], self._sizes[index]) or None

    def store_time(self, offset: int) -> int | None:
        index = offset - self._base
        if not 0 <= index < len(self._sizes) or not self._sizes[index]:
            return None
        return store_time_of(self._read(self._physical[index], min(_HEAD, self._sizes[index])))

    # ------------------------------------------------------------------ several messages

    def records(self, offset: int, count: int) -> list[bytes]:
        begin = offset - self._base
        physical = self._physical[begin : begin + count]
        sizes = self._sizes[begin : begin + count]
        if not sizes:
            return []
        first = physical[0]
        if first in self._recent and 0 not in sizes:
            return [self._recent[position] for position in physical]
        span = physical[-1] + sizes[-1] - first
        if span <= READ_AT_ONCE and span <= _MAX_WASTE * sum(sizes):
            data = self._read(first, span)
            if len(data) == span:
                spans = zip(physical, sizes, strict=True)
                return [
                    data[position - first : position - first + size] for position, size in spans
                ]
        return self._read_runs(physical, sizes)

    def _read_runs(self, physical: array[int], sizes: array[int]) -> list[bytes]:
        records: list[bytes] = []
        index = 0
        while index < len(sizes):
            start = end = physical[index]
            after = index
            while after < len(sizes) and physical[after] == end:
                if end - start + sizes[after] > READ_AT_ONCE and after > index:
                    break
                end += sizes[after]
                after += 1
            data = self._read(start, end - start)
            position = 0
            for size in sizes[index:after]:
                records.append(data[position : position + size])
                position += size
            index = after
        return records

    # ------------------------------------------------------------------ by time

    def offset_at(self, timestamp: int) -> int:
        return self._base + bisect_left(
            range(len(self._sizes)), timestamp, key=lambda index: self._time(index)
        )

    def offset_until(self, timestamp: int) -> int:
        return self.offset_at(timestamp + 1)

    def _time(self, index: int) -> int:
        # a lost message has the time of the next one
        while index < len(self._sizes):
            time = self.store_time(self._base + index)
            if time is not None:
                return time
            index += 1
        return 1 << 63
