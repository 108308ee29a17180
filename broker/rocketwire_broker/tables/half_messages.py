"""Open and ended transactions, by the offsets of their half messages.

Each check stores a half message anew, so a transaction may have several offsets; each names it.

Java: the consumer group ``CID_RMQ_SYS_TRANS`` and ``TransactionalMessageServiceImpl``.
"""

from __future__ import annotations

from collections import deque


class Transaction:
    __slots__ = ("ended", "given_up", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset  # offset of its newest half message
        self.ended = False  # whether it was committed, rolled back or given up
        # whether it ended because it was checked too often; its producer may still decide
        self.given_up = False


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
