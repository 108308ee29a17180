"""Messages that wait in system topics: for a time of delivery, or as half of a transaction.

Each check stores a half message anew, so a transaction may have several offsets; each names it.

Java: ``TimerWheel``, ``TimerMessageStore``, ``TransactionalMessageServiceImpl``.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
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


@dataclass(slots=True, eq=False)
class Transaction:
    offset: int  # offset of its newest half message
    ended: bool = False  # whether it was committed, rolled back or given up
    # whether it ended because it was checked too often; its producer may still decide
    given_up: bool = False


class HalfMessages:
    def __init__(self) -> None:
        # offsets of transactions that ended and are not in the topic of decisions yet
        self.unwritten: list[int] = []
        self.next_producer = 0  # number of checks that were sent; producers of a group take turns
        self._by_offset: dict[int, Transaction] = {}
        self._offsets: deque[int] = deque()  # the keys, in order
        self._open: dict[int, Transaction] = {}  # by the newest offset, in order

    def __len__(self) -> int:
        return len(self._by_offset)

    def open(self, offset: int) -> Transaction:
        transaction = Transaction(offset)
        self._note(transaction)
        return transaction

    def move(self, transaction: Transaction, offset: int) -> None:
        self._open.pop(transaction.offset, None)
        transaction.offset = offset
        self._note(transaction)

    def _note(self, transaction: Transaction) -> None:
        self._by_offset[transaction.offset] = self._open[transaction.offset] = transaction
        self._offsets.append(transaction.offset)

    def get(self, offset: int) -> Transaction | None:
        return self._by_offset.get(offset)

    def end(self, transaction: Transaction) -> None:
        transaction.ended = True
        self._open.pop(transaction.offset, None)
        self.unwritten.append(transaction.offset)

    def open_transactions(self) -> list[Transaction]:
        return list(self._open.values())

    @property
    def undecided_count(self) -> int:
        return len(self._open)

    @property
    def first_undecided(self) -> int | None:
        """Offset of the oldest half message that still counts; None if there is none."""
        return next(iter(self._open), None)

    def forget(self, min_offset: int) -> None:
        offsets = self._offsets
        while offsets and offsets[0] < min_offset:
            offset = offsets.popleft()
            transaction = self._by_offset.pop(offset)
            if self._open.pop(offset, None) is not None:
                transaction.ended = True
