"""``Texts``: the texts of columns, each kept once and known by a number.

Rules of this file: which text the bytes at a place are is found for many places at once, and is compared, not guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa
from rocketwire_tools.pcap.header_bytes import rows_of
from rocketwire_tools.pcap.shape import LONGEST_TEXT

if TYPE_CHECKING:
    from rocketwire_tools.pcap.arrow import Column

    Array = np.ndarray[Any, Any]

NONE: Final = -1
"""Number of no text."""
_WORD: Final = 8
_SLOTS: Final = 16
"""Texts are looked for in 2**_SLOTS places."""
_KEPT: Final = np.where(
    np.arange(LONGEST_TEXT) < np.arange(LONGEST_TEXT + 1)[:, None], np.uint8(255), np.uint8(0)
).view(np.uint64)
"""A row for each number of bytes that are kept."""


def _factors(count: int) -> Array:
    """Odd numbers without a pattern."""
    made: list[int] = []
    for number in range(1, count + 1):
        mixed = number * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ mixed >> shift) * factor & (1 << 64) - 1
        made.append(mixed | 1)
    return np.array(made, np.uint64)


FACTORS: Final = _factors(64)


def mixed(rows: Array) -> Array:
    """A number for each row of 64-bit words; rows that differ seldom have the same."""
    made: Array = np.einsum("ij,j->i", rows, FACTORS[: rows.shape[1]])
    return made


def integer(text: str) -> int | None:
    """The integer of 32 bits that a text says; None if it says none."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(1 << 31) <= number < 1 << 31 else None


def kept(data: Array, at: Array, length: Array) -> Array:
    """Texts as rows of 64-bit words, as many as the longest has; what is behind a text is 0.

    Args:
        data: has them, and ``LONGEST_TEXT`` bytes more.
        at: where they begin.
        length: bytes of each, at most ``LONGEST_TEXT``.
    """
    words = max(-(-int(length.max()) // _WORD), 1)
    rows = rows_of(data, at, words * _WORD)
    rows &= _KEPT[:, :words].take(length, axis=0)
    return rows


class Texts:
    """Texts; they do not become fewer."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []
        self._slots = np.full(1 << _SLOTS, NONE, np.int32)
        self._words = np.zeros((64, LONGEST_TEXT // _WORD), np.uint64)
        self._length = np.full(64, NONE, np.int64)
        self._integers = self._is_integer = np.zeros(0, np.int64)
        self._column: Column = column(self._texts, pa.string())

    def __len__(self) -> int:
        return len(self._texts)

    def column(self) -> Column:
        """All texts, in the order of their numbers."""
        if len(self._column) < len(self._texts):
            self._column = column(self._texts, pa.string())
        return self._column

    def integers(self, numbers: Array) -> tuple[Array, Array]:
        """The integers that texts of these numbers say, and whether they say one of 32 bits."""
        if len(self._integers) <= len(self._texts):
            found = [integer(text) for text in self._texts]
            self._integers = np.array([*(each or 0 for each in found), 0])
            self._is_integer = np.array([*(each is not None for each in found), False])
        return self._integers[numbers], self._is_integer[numbers]  # NONE is the last

    def number(self, text: str | None) -> int:
        """The number of a text."""
        if text is None:
            return NONE
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
            if number == len(self._length):
                self._words = np.concatenate([self._words, np.zeros_like(self._words)])
                self._length = np.concatenate([self._length, np.full(number, NONE)])
        return number

    def numbers(self, data: Array, at: Array, length: Array) -> Array:
        """The numbers of texts.

        Args:
            data: has them, as UTF-8, and ``LONGEST_TEXT`` bytes more.
            at: where they begin.
            length: bytes of each, at most ``LONGEST_TEXT``; less than 0 for no text.
        """
        found = np.full(len(at), NONE, np.int32)
        some = np.flatnonzero(length >= 0)
        if not len(some):
            return found
        at, length = at[some], length[some]
        rows = kept(data, at, length)
        slots = (mixed(rows) >> np.uint64(64 - _SLOTS)).view(np.int64)
        numbers = self._of(rows, length, slots)
        while len(unknown := np.flatnonzero(numbers < 0)):
            for each in unknown[_firsts(slots[unknown])].tolist():
                self._learn(rows[each], int(length[each]), int(slots[each]))
            numbers[unknown] = self._of(rows[unknown], length[unknown], slots[unknown])
        found[some] = numbers
        return found

    def _of(self, rows: Array, length: Array, slots: Array) -> Array:
        """The numbers of texts that their slots have, ``NONE`` where they have another's."""
        numbers = self._slots.take(slots).astype(np.int64)
        differs = (self._words[:, : rows.shape[1]].take(numbers, axis=0) != rows).any(axis=1)
        differs |= self._length.take(numbers) != length
        return np.where(differs | (numbers < 0), NONE, numbers)

    def _learn(self, words: Array, length: int, slot: int) -> None:
        """Let a slot have a text."""
        number = self.number(words.tobytes()[:length].decode())
        self._slots[slot] = number
        self._words[number] = 0
        self._words[number, : len(words)] = words
        self._length[number] = length


def _firsts(values: Array) -> Array:
    """Where each distinct value can be found."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    firsts: Array = order[new]
    return firsts
