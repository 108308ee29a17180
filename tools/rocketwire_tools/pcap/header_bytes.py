"""``HeaderBytes``: the bytes of many headers, one behind the other, without an object for each.

Rules of this file: only numpy.  Each header has room of a multiple of ``STEP`` bytes, and the rest of its room is zero, so that those
with the same room are rows of one array.  Large pieces are not copied into larger ones: they lie in the memory only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Array = np.ndarray[Any, Any]

STEP: Final = 64
FRONT: Final = 16
"""Bytes in front of the first header of a piece, so that words which end within it can be gathered."""
BEHIND: Final = 128
"""Bytes behind the last one, so that words which begin within it can be."""
_LONG: Final = 1024
"""Room of headers that are copied one by one; nearly all have less."""
_LARGE: Final = 1 << 21
"""Bytes of a piece that is not copied."""
_TOGETHER: Final = 1 << 18
"""Bytes that are gathered at once, so that they stay in the processor's cache."""
_KEPT: Final = np.where(
    np.arange(STEP) < np.arange(STEP + 1)[:, None], np.uint8(255), np.uint8(0)
).view(np.uint64)
"""A row for each number of bytes that are kept of the last ``STEP``."""


@dataclass(slots=True)
class HeaderBytes:
    """Headers.

    Attributes:
        pieces: all of them, and more.
        start: where each begins, as if the pieces lay one behind the other.
        length: bytes of each.
    """

    pieces: tuple[Array, ...]
    start: Array
    length: Array

    def __len__(self) -> int:
        return len(self.start)

    @property
    def room(self) -> Array:
        """Bytes that each has."""
        return room_of(self.length)

    def take(self, order: Array | slice) -> HeaderBytes:
        """These headers, in this order; none is copied."""
        return HeaderBytes(self.pieces, self.start[order], self.length[order])

    def split(self) -> Iterator[tuple[Array, Array, Array]]:
        """For each piece: the piece, the numbers of the headers in it, and where in the piece they begin."""
        if len(self.pieces) == 1 and len(self):
            yield self.pieces[0], np.arange(len(self)), self.start
            return
        end = 0
        for piece in self.pieces:
            begin, end = end, end + len(piece)
            some = np.flatnonzero((self.start >= begin) & (self.start < end))
            if len(some):
                yield piece, some, self.start[some] - begin

    def tolist(self) -> list[bytes]:
        """The headers as objects."""
        made = [b""] * len(self)
        for piece, some, start in self.split():
            text = piece.data
            ends = (start + self.length[some]).tolist()
            for number, a, b in zip(some.tolist(), start.tolist(), ends, strict=True):
                made[number] = bytes(text[a:b])
        return made

    def without_others(self) -> HeaderBytes:
        """The same without pieces that have none of them."""
        every = list(self.split())
        if len(every) == len(self.pieces):
            return self
        start, end = np.empty_like(self.start), 0
        for piece, some, within in every:
            start[some] = within + end
            end += len(piece)
        return HeaderBytes(tuple(piece for piece, _, _ in every), start, self.length)

    def packed(self) -> HeaderBytes:
        """The same without the bytes of any others."""
        every = list(self.split())
        if not every:
            return HeaderBytes((), self.start, self.length)
        made = _after([gathered(piece, start, self.length[some]) for piece, some, start in every])
        return made.take(np.argsort(np.concatenate([some for _, some, _ in every])))


def room_of(length: Array) -> Array:
    """Bytes that headers of these lengths have."""
    room: Array = np.maximum(length + (STEP - 1) & -STEP, STEP)
    return room


def rows_of(data: Any, at: Array, size: int) -> Array:
    """Bytes at offsets as rows of 64-bit words; size is a multiple of eight."""
    windows = np.ndarray((max(len(data) - size + 1, 0),), f"V{size}", data, strides=(1,))
    rows: Array = windows[at].view(np.uint64).reshape(-1, size // 8)
    return rows


def rooms(room: Array) -> Iterator[tuple[int, Array]]:
    """The sizes of room that there are, but for those of long headers, and which headers have each."""
    order, spans = _by_room(room)
    for size, first, last in spans:
        yield size, order[first:last]


def _by_room(room: Array) -> tuple[Array, list[tuple[int, int, int]]]:
    """Headers in the order of their room; and each size of it, where in that order it begins, and where it ends, but for long ones."""
    steps = (np.minimum(room, _LONG) // STEP).astype(np.uint8)
    order = np.argsort(steps, kind="stable")  # of so few bits faster than any other sort
    ends = np.cumsum(np.bincount(steps)[: _LONG // STEP]).tolist()
    spans = zip(range(0, _LONG, STEP), [0, *ends], ends, strict=False)
    return order, [(size, first, last) for size, first, last in spans if first < last]


def gathered(buffer: Any, at: Array, length: Array) -> HeaderBytes:
    """Copy headers.

    Args:
        buffer: has them, and at least ``STEP`` bytes behind the last.
        at: where they begin in it.
        length: bytes of each.
    """
    room = room_of(length)
    order, spans = _by_room(room)
    start = _starts(room, order)
    data = np.empty(FRONT + int(room.sum()) + BEHIND, np.uint8)
    data[:FRONT] = data[-BEHIND:] = 0
    sources, left = at[order], (length - room)[order] + STEP
    end, done = FRONT, 0
    for size, first, done in spans:
        each = _TOGETHER // size
        for one in range(first, done, each):
            some = slice(one, min(one + each, done))
            rows = rows_of(buffer, sources[some], size)
            rows[:, -STEP // 8 :] &= _KEPT.take(left[some], axis=0)
            begin, end = end, end + size * len(rows)
            data[begin:end] = rows.view(np.uint8).ravel()
    whole = np.frombuffer(buffer, np.uint8)
    for number in order[done:].tolist():
        begin = int(start[number])
        stop = begin + int(length[number])
        data[begin:stop] = whole[at[number] : at[number] + length[number]]
        data[stop : begin + int(room[number])] = 0
    return HeaderBytes((data,), start, length)


def _starts(room: Array, order: Array) -> Array:
    """Where each of some headers begins that lie in an order one behind the other."""
    start, rooms_in_order = np.empty(len(room), np.int64), room[order]
    start[order] = np.cumsum(rooms_in_order) - rooms_in_order + FRONT
    return start


def header_bytes(headers: Sequence[bytes | bytearray]) -> HeaderBytes:
    """Headers that are objects."""
    length = np.array([len(one) for one in headers], np.int64)
    room = room_of(length)
    rows = [one.ljust(size, b"\0") for one, size in zip(headers, room.tolist(), strict=True)]
    data = np.frombuffer(b"".join([bytes(FRONT), *rows, bytes(BEHIND)]), np.uint8)
    return HeaderBytes((data,), np.cumsum(room) - room + FRONT, length)


def joined(parts: Sequence[HeaderBytes]) -> HeaderBytes:
    """All headers of several parts, without too many bytes of others."""
    parts = [part.without_others() for part in parts]
    return _after([part if _is_full(part) else part.packed() for part in parts])


def _is_full(part: HeaderBytes) -> bool:
    """Whether others have at most three times as many bytes: to copy those that wait only for the next chunk would take longer
    than it is worth."""
    return 4 * int(part.room.sum()) >= sum(map(len, part.pieces))


def _after(parts: Sequence[HeaderBytes]) -> HeaderBytes:
    """Headers of several parts, one behind the other."""
    sizes = [sum(map(len, part.pieces)) for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    return HeaderBytes(
        tuple(_fewer([piece for part in parts for piece in part.pieces])),
        np.concatenate([part.start + first for part, first in zip(parts, before, strict=True)]),
        np.concatenate([part.length for part in parts]),
    )


def _fewer(pieces: Sequence[Array]) -> Iterator[Array]:
    """The pieces; small ones that lie beside each other are made one."""
    small: list[Array] = []
    for piece in pieces:
        if len(piece) < _LARGE:
            small.append(piece)
            continue
        if small:
            yield np.concatenate(small)
            small = []
        yield piece
    if small:
        yield np.concatenate(small)
