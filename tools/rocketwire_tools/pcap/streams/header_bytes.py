"""``HeaderBytes``: the bytes of many headers, one behind the other, without an object for each.

Rules of this file: only numpy.  Each header has room of a multiple of ``STEP`` bytes, at least one of them behind it; the rest of its
room is blanks and a line feed, so that JSON headers are lines.  Large pieces are not copied into larger ones: they lie in the memory
only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Array = np.ndarray[Any, Any]

STEP: Final = 64
BEHIND: Final = 128
"""Bytes behind the last one, so that rows which begin within it can be gathered."""
_LARGE: Final = 1 << 21
"""Bytes of a piece that is not copied."""
_TOGETHER: Final = 2048
"""Headers that are copied at once, so that they stay in the processor's cache."""
_OF_HEADER: Final = np.arange(STEP) < np.arange(STEP)[:, None]
_KEPT: Final = np.where(_OF_HEADER, np.uint8(255), np.uint8(0)).view(np.uint64)
"""A row for each number of bytes that a header has in the last step of its room: which they are."""
_REST: Final = np.where(_OF_HEADER, b"", [*[b" "] * (STEP - 1), b"\n"]).view(np.uint64)
"""Likewise: what is behind them."""


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
    room: Array = (length // STEP + 1) * STEP
    return room


def in_memory_order(start: Array) -> Array:
    """The order in which headers of a piece lie in it.

    Args:
        start: where each begins, no two at the same place.
    """
    if (start[1:] > start[:-1]).all():
        return np.arange(len(start))
    first = int(start.min()) // STEP
    places = np.full(int(start.max()) // STEP - first + 1, -1)
    places[start // STEP - first] = np.arange(len(start))  # quicker than to sort
    order: Array = places[places >= 0]
    return order


def gathered(buffer: Any, at: Array, length: Array) -> HeaderBytes:
    """Copy headers.

    Args:
        buffer: has them, and at least ``STEP`` bytes behind the last.
        at: where they begin in it.
        length: bytes of each.
    """
    steps = length // STEP + 1
    ends = np.cumsum(steps)
    begins = ends - steps
    total = int(ends[-1]) if len(ends) else 0
    data = np.empty(total * STEP + BEHIND, np.uint8)
    data[-BEHIND:] = 0
    windows = np.ndarray((len(buffer) - STEP + 1,), f"V{STEP}", buffer, strides=(1,))
    rows = data[: total * STEP].view(f"V{STEP}")
    words = data.view(np.uint64).reshape(-1, STEP // 8)
    for first in range(0, len(at), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        begin, end = int(begins[first]), int(ends[some][-1])
        source = np.repeat(at[some] - begins[some] * STEP, steps[some])
        source += np.arange(begin * STEP, end * STEP, STEP)
        rows[begin:end] = windows[source]
        last, left = ends[some] - 1, length[some] % STEP
        words[last] = words[last] & _KEPT.take(left, axis=0) | _REST.take(left, axis=0)
    return HeaderBytes((data,), begins * STEP, length)


def gathered_by_kind(buffer: Any, at: Array, length: Array, kind: Array) -> HeaderBytes:
    """Likewise, and those of each kind lie together, so that they are read together.

    Args:
        buffer: see ``gathered``.
        at: likewise.
        length: likewise.
        kind: JSON or ROCKETMQ for each.
    """
    if not kind.any():
        return gathered(buffer, at, length)
    order = np.argsort(kind, kind="stable")
    made = gathered(buffer, at[order], length[order])
    start = np.empty_like(made.start)
    start[order] = made.start
    return HeaderBytes(made.pieces, start, length)


def header_bytes(headers: Sequence[bytes | bytearray]) -> HeaderBytes:
    """Headers that are objects."""
    length = np.array([len(one) for one in headers], np.int64)
    room = room_of(length)
    blanks = (room - 1).tolist()
    rows = [one.ljust(size) + b"\n" for one, size in zip(headers, blanks, strict=True)]
    data = np.frombuffer(b"".join([*rows, bytes(BEHIND)]), np.uint8)
    return HeaderBytes((data,), np.cumsum(room) - room, length)


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
