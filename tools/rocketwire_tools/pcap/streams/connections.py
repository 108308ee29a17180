"""``Connections``: which of the connections that two ends have one after the other a frame
belongs to.

Rules of this file: both directions of a connection count as one, also if the capture holds
nothing of one of them, or no SYN; and what a frame belongs to depends on where its first byte was
captured, not on the chunk in which it was decoded.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Array = np.ndarray[Any, Any]

_MOST_KEPT: Final = 8
"""Beginnings of a pair of ends that are remembered from one chunk to the next, for frames that
are still open."""


class _Beginning(NamedTuple):
    """A stream begins anew.

    Attributes:
        where: offset of the record that says so.
        side: last bit of the stream's number.
    """

    where: int
    side: int


class _Ends:
    """The connections of two ends.

    Attributes:
        where: offsets of the records with which their second and later connections begin.
        numbers: of these connections, each as that of its stream whose last bit is 0.
        before: number of the connection in front of the first of these; None for that of the ends.
    """

    def __init__(self) -> None:
        self.where: list[int] = []
        self.numbers: list[int] = []
        self.before: int | None = None
        self._fresh: list[_Beginning] = []
        self._joined = [0, 0]
        self._count = 0

    def add(self, beginning: _Beginning) -> None:
        """Note that a stream begins anew; streams of one chunk come in any order."""
        insort(self._fresh, beginning)

    def settle(self, next_number: Callable[[], int]) -> None:
        """Tell, once all of a chunk is known, which streams begin the same connection."""
        for where, side in self._fresh:
            if self._joined[side] == self._count:  # nothing says that the other one has begun anew
                self._count += 1
                self.where.append(where)
                self.numbers.append(next_number())
            self._joined[side] = self._count
        self._fresh.clear()

    def prune(self) -> None:
        """Forget what frames that are still open hardly need."""
        if len(self.where) > _MOST_KEPT:
            self.before = self.numbers[-_MOST_KEPT - 1]
            del self.where[:-_MOST_KEPT], self.numbers[:-_MOST_KEPT]


class Connections:
    """The pairs of ends that had more than one connection.

    Args:
        next_number: gives a number for a connection that no other has.
    """

    def __init__(self, next_number: Callable[[], int]) -> None:
        self._next_number = next_number
        self._ends: dict[int, _Ends] = {}
        self._touched: set[int] = set()
        self._forgotten: list[int] = []

    def begin(self, number: int, where: int) -> None:
        """A stream begins anew.

        Args:
            number: of the stream.
            where: offset of the record that says so.
        """
        pair = number & ~1
        self._ends.setdefault(pair, _Ends()).add(_Beginning(where, number & 1))
        self._touched.add(pair)

    def settle(self) -> None:
        """All that begins in a chunk is known."""
        for pair in self._touched:
            self._ends[pair].settle(self._next_number)

    def number(self, number: Array, where: Array) -> None:
        """Give frames the numbers of their connections instead of those of their ends.

        Args:
            number: of each frame's stream; changed in place.
            where: offset of the record of each frame's first byte.
        """
        if not self._ends:
            return
        pairs = number & ~1
        again = np.flatnonzero(np.isin(pairs, np.fromiter(self._ends, np.int64)))
        for pair in np.unique(pairs[again]).tolist():
            ends = self._ends[pair]
            of = again[pairs[again] == pair]
            first = pair if ends.before is None else ends.before
            at = np.searchsorted(np.array(ends.where), where[of], side="right")
            numbers = np.array([first, *ends.numbers], np.int64)
            number[of] = numbers[at] | (number[of] & 1)

    def prune(self) -> None:
        """The frames of a chunk have their numbers."""
        for pair in self._touched:
            self._ends[pair].prune()
        for pair in self._forgotten:
            self._ends.pop(pair, None)
        self._touched.clear()
        self._forgotten.clear()

    def forget(self, number: int) -> None:
        """Both streams of two ends have been forgotten.

        Args:
            number: of one of them.
        """
        self._forgotten.append(number & ~1)
