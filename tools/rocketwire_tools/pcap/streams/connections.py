"""``Connections``: assigns frames to the successive connections of a pair of ends.

Both directions belong to one connection, even if one of them, or a SYN, was not captured. The
connection of a frame depends on the record of its first byte, not on the chunk in which it was
decoded.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.files.records import Array

_MAX_KEPT: Final = 8
"""Connections of a pair of ends that are remembered between chunks, for frames that are still
open."""


class _Beginning(NamedTuple):
    file_offset: int  # offset of the record that starts it
    side: int  # last bit of the stream's number


class _EndPair:
    def __init__(self) -> None:
        # offsets of the records that start the second and later connections
        self.file_offset: list[int] = []
        self.numbers: list[int] = []  # of these connections: that of the stream whose last bit is 0
        # number of the connection before them; None for the number of the ends
        self.before: int | None = None
        self._fresh: list[_Beginning] = []
        self._joined = [0, 0]
        self._count = 0

    def add(self, beginning: _Beginning) -> None:
        insort(self._fresh, beginning)

    def settle(self, next_number: Callable[[], int]) -> None:
        # Decide, at the end of a chunk, which streams start the same connection
        for file_offset, side in self._fresh:
            if self._joined[side] == self._count:  # the opposite stream has not started one
                self._count += 1
                self.file_offset.append(file_offset)
                self.numbers.append(next_number())
            self._joined[side] = self._count
        self._fresh.clear()

    def prune(self) -> None:
        # Drop connections that open frames hardly need
        if len(self.file_offset) > _MAX_KEPT:
            self.before = self.numbers[-_MAX_KEPT - 1]
            del self.file_offset[:-_MAX_KEPT], self.numbers[:-_MAX_KEPT]


class Connections:
    def __init__(self, next_number: Callable[[], int]) -> None:
        self._next_number = next_number
        self._end_pairs: dict[int, _EndPair] = {}
        self._touched: set[int] = set()
        self._forgotten: list[int] = []

    def begin(self, number: int, file_offset: int) -> None:
        pair = number & ~1
        self._end_pairs.setdefault(pair, _EndPair()).add(_Beginning(file_offset, number & 1))
        self._touched.add(pair)

    def settle(self) -> None:
        # Decide which streams of the chunk start the same connection
        for pair in self._touched:
            self._end_pairs[pair].settle(self._next_number)

    def number(self, number: Array, file_offset: Array) -> None:
        """Replace numbers of ends by those of connections."""
        if not self._end_pairs:
            return
        pairs = number & ~1
        with_reuse = np.flatnonzero(np.isin(pairs, np.fromiter(self._end_pairs, np.int64)))
        for pair in np.unique(pairs[with_reuse]).tolist():
            ends = self._end_pairs[pair]
            frames = with_reuse[pairs[with_reuse] == pair]
            first = pair if ends.before is None else ends.before
            index = np.searchsorted(np.array(ends.file_offset), file_offset[frames], side="right")
            numbers = np.array([first, *ends.numbers], np.int64)
            number[frames] = numbers[index] | (number[frames] & 1)

    def prune(self) -> None:
        # Drop what the frames of the chunk needed
        for pair in self._touched:
            self._end_pairs[pair].prune()
        for pair in self._forgotten:
            self._end_pairs.pop(pair, None)
        self._touched.clear()
        self._forgotten.clear()

    def forget(self, number: int) -> None:
        """Forget a pair of ends, both of whose streams are forgotten."""
        self._forgotten.append(number & ~1)
