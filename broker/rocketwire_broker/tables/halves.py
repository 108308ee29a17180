"""Open and ended transactions, by the offsets of their half messages.

Each check stores a half message anew, so a transaction may have several offsets; each names it.

Java: the consumer group ``CID_RMQ_SYS_TRANS`` and ``TransactionalMessageServiceImpl``.
"""

from __future__ import annotations

from collections.abc import Iterator


class Half:
    """A transaction.

    Attributes:
        offset: offset of its newest half message.
        ended: whether it was committed, rolled back or given up.
    """

    __slots__ = ("ended", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.ended = False


class Halves:
    """Transactions by offset.

    Attributes:
        unwritten: offsets of transactions that ended and are not in the topic of decisions yet.
        next_producer: number of checks that were sent; producers of a group take turns.
    """

    def __init__(self) -> None:
        self.unwritten: list[int] = []
        self.next_producer = 0
        self._by_offset: dict[int, Half] = {}

    def __len__(self) -> int:
        return len(self._by_offset)

    def open(self, offset: int) -> Half:
        """Begin a transaction."""
        half = self._by_offset[offset] = Half(offset)
        return half

    def move(self, half: Half, offset: int) -> None:
        """Note the offset of a further half message of a transaction."""
        half.offset = offset
        self._by_offset[offset] = half

    def get(self, offset: int) -> Half | None:
        """Return the transaction that has or had a half message at an offset, or None."""
        return self._by_offset.get(offset)

    def end(self, half: Half) -> None:
        """End a transaction; it stays known."""
        half.ended = True
        self.unwritten.append(half.offset)

    def undecided(self) -> Iterator[Half]:
        """Yield the open transactions in the order of their newest half messages."""
        for offset, half in list(self._by_offset.items()):
            if not half.ended and half.offset == offset:
                yield half

    @property
    def first_undecided(self) -> int | None:
        """Offset of the oldest half message that still counts; None if there is none."""
        return next((half.offset for half in self.undecided()), None)

    def forget(self, min_offset: int) -> None:
        """Forget the half messages before an offset, because they were evicted."""
        for offset in list(self._by_offset):
            if offset >= min_offset:
                break
            half = self._by_offset.pop(offset)
            half.ended = half.ended or half.offset == offset
