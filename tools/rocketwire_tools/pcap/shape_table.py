"""``ShapeTable``: which of many headers that have the same room have a shape that is known.

Rules of this file: only numpy.  A header is looked for by a mixture of its bytes, in which digits do not count, and has a shape only
if it is the same in every byte in which it has to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.texts import mixed

if TYPE_CHECKING:
    from rocketwire_tools.pcap.shape import Shape

    Array = np.ndarray[Any, Any]

_SLOTS: Final = 12
"""Shapes are looked for in 2**_SLOTS places."""
_FEW: Final = 16
NOWHERE: Final = -1
_LENGTH_FACTOR: Final = np.uint64(0xD6E8FEB86659FD93)
_ZERO, _A = ord("0"), ord("A")


class HeaderRows:
    """Some headers as rows.

    Args:
        rows: the headers.
        length: bytes of each.

    Attributes:
        rows: as given.
        length: as given.
        plain: the same with 0 for each hexadecimal digit, and other bytes otherwise.
        mixture: a number for each; of those that differ in other bytes few have the same.
    """

    def __init__(self, rows: Array, length: Array) -> None:
        self.rows = rows
        self.length = length
        other = (rows - _ZERO) >= 10  # bytes wrap
        other &= (rows - _A) >= 6
        self.plain = rows ^ _ZERO
        self.plain *= other.view(np.uint8)
        self.mixture = mixed(self.plain.view(np.uint64))
        self.mixture += length.astype(np.uint64) * _LENGTH_FACTOR


class ShapeTable:
    """Shapes of headers with the same room.

    Args:
        room: of the headers.

    Attributes:
        number: of each shape, ``NOWHERE`` for one that is known to be none.
        pause: how often the user of the table need not look into it.
    """

    def __init__(self, room: int) -> None:
        self._slots = np.full(1 << _SLOTS, NOWHERE, np.int32)
        self._seen = np.zeros(1 << _SLOTS, np.uint64)
        self._count = 0
        self._mixture = np.zeros(_FEW, np.uint64)
        self._length = np.zeros(_FEW, np.int64)
        self._same = np.zeros((_FEW, room), np.uint8)
        self._text = np.zeros((_FEW, room), np.uint8)
        self.number = np.zeros(_FEW, np.int64)
        self.pause = 0

    def find(self, headers: HeaderRows) -> Array:
        """Which entry each header may be like; less than 0 for those that are like none."""
        slots = (headers.mixture >> np.uint64(64 - _SLOTS)).view(np.int64)
        entries = self._slots.take(slots).astype(np.int64)
        entries[self._mixture.take(entries) != headers.mixture] = NOWHERE
        found: Array = entries
        return found

    def fitting(self, headers: HeaderRows, entries: Array) -> Array:
        """The numbers of the shapes of headers, ``NOWHERE`` for those that only may have had that of an entry."""
        rows = headers.rows ^ headers.plain
        rows &= self._same.take(entries, axis=0)
        rows ^= headers.plain
        rows ^= self._text.take(entries, axis=0)
        differs = rows.view(np.uint64).any(axis=1)
        differs |= (entries < 0) | (self._length.take(entries) != headers.length)
        return np.where(differs, NOWHERE, self.number.take(entries))

    def seen(self, headers: HeaderRows, unknown: Array) -> Array:
        """Those of unknown headers of whose shape this is not the first one, one of each."""
        mixture = headers.mixture[unknown]
        order = np.argsort(mixture, kind="stable")
        ordered = mixture[order]
        slots = ordered >> np.uint64(64 - _SLOTS)
        new = np.ones(len(order) + 1, np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:-1])
        wanted = new[:-1] & (~new[1:] | (self._seen[slots] == ordered))
        self._seen[slots] = ordered
        found: Array = unknown[order[wanted]]
        return found

    def add(self, headers: HeaderRows, one: int, shape: Shape | None, number: int) -> None:
        """Remember the shape of one of some headers, or that there is none; a slot belongs to the last one."""
        if self._count == len(self._length):
            for name in ("_mixture", "_length", "_same", "_text", "number"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        entry, self._count = self._count, self._count + 1
        mixture = headers.mixture[one]
        self._slots[mixture >> np.uint64(64 - _SLOTS)] = entry
        self._mixture[entry] = mixture
        self._length[entry] = headers.length[one]
        self._same[entry] = 255
        if shape is not None:
            self._same[entry, : len(shape.same)] = np.frombuffer(shape.same, np.uint8)
        self._text[entry] = headers.rows[one] & self._same[entry]
        self.number[entry] = number
