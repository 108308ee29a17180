"""One queue: its messages as stored bytes, with the values that searches need.

Lists grow at their end and are cut at their front, in steps, so that dropping the oldest message
costs next to nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import Final

_CUT: Final = 1_024
"""Least number of dropped messages before the lists are cut."""


class Queue:
    """The messages of a queue."""

    __slots__ = (
        "_base",
        "_begin",
        "_codes",
        "_physical",
        "_records",
        "_times",
        "max_offset",
        "queue_id",
        "topic",
    )

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
        """Return the stored bytes at an offset; None if there are none."""
        index = offset - self._base
        return self._records[index] if self._begin <= index < len(self._records) else None

    def store_time(self, offset: int) -> int | None:
        """Return the store time of the message at an offset, in milliseconds; None without one."""
        index = offset - self._base
        return self._times[index] if self._begin <= index < len(self._times) else None

    def tag_code(self, offset: int) -> int:
        """Return the code of the message's tag; the offset must be that of a message."""
        return self._codes[offset - self._base]

    def physical(self, offset: int) -> int:
        """Return the physical offset of a message; the offset must be that of a message."""
        return self._physical[offset - self._base]

    def offset_of(self, physical: int) -> int | None:
        """Return the offset of the message at a physical offset; None if there is none."""
        index = bisect_left(self._physical, physical, self._begin)
        if index < len(self._physical) and self._physical[index] == physical:
            return self._base + index
        return None

    # ------------------------------------------------------------------ several messages

    def records(self, offset: int, count: int) -> list[bytes]:
        """Return the stored bytes of up to ``count`` messages from an offset on."""
        begin = offset - self._base
        return self._records[begin : begin + count]

    def tag_codes(self, offset: int, count: int) -> array[int]:
        """Return the tag codes of the same messages."""
        begin = offset - self._base
        return self._codes[begin : begin + count]

    # ------------------------------------------------------------------ by time

    def offset_at(self, timestamp: int) -> int:
        """Return the first offset that was stored at this time or later; ``max_offset`` if none."""
        return self._base + bisect_left(self._times, timestamp, self._begin)

    def offset_until(self, timestamp: int) -> int:
        """Return the offset after the last one that was stored at this time or earlier."""
        return self._base + bisect_right(self._times, timestamp, self._begin)
