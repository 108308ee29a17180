"""Messages with a time of delivery that wait, by that time, and those that were recalled.

Java: ``TimerWheel``, ``TimerMessageStore``.
"""

from __future__ import annotations

import heapq
from typing import Final

_FEW: Final = 512


class Timers:
    """Offsets in the timer topic's queue by the time of delivery; all times in milliseconds."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []
        self._recalled: set[str] = set()

    def __len__(self) -> int:
        return len(self._heap)

    def offsets(self) -> set[int]:
        return {offset for _, offset in self._heap}

    @property
    def next_due(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def add(self, due: int, offset: int) -> None:
        heapq.heappush(self._heap, (due, offset))

    def pop(self, now: int) -> int | None:
        if self._heap and self._heap[0][0] <= now:
            return heapq.heappop(self._heap)[1]
        return None

    def forget(self, min_offset: int, kept: int) -> None:
        """Drop the offsets of evicted messages, if they are many more than the kept messages."""
        if len(self._heap) > _FEW + 2 * kept:
            self._heap = [item for item in self._heap if item[1] >= min_offset]
            heapq.heapify(self._heap)

    def recall(self, key: str) -> None:
        self._recalled.add(key)

    def is_recalled(self, key: str) -> bool:
        return key in self._recalled

    def end_recall(self, key: str) -> None:
        self._recalled.discard(key)
