"""Walking chains of record headers at many places at once.

Rules of this file: only numpy.  Where a record may begin is guessed once in every ``LANE`` bytes, all guesses are followed together,
and what was found counts only as far as each chain runs into the beginning of the next: a wrong guess costs time, never a record.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.pcap.buffers import Buffer

    Array = np.ndarray[Any, Any]

LANE: Final = 40 << 10
"""Bytes between two guesses: what is looked at for all guesses of a chunk at once fits into the cache of a core, and chains of nearly
all sizes of records are followed in a few rounds."""
FEWEST: Final = 8
"""Guesses that are worth the trouble."""
_PIECE: Final = 512
"""Bytes of a lane among which a record is looked for at once."""
_PIECES: Final = 4
"""So many of them are looked at, if need be: in front of a record is at most a packet, of 1514 bytes as a rule."""
_STEPS: Final = 16
"""Steps of all chains from one look at which of them have come to their ends to the next."""


def guesses(
    buffer: Buffer,
    start: int,
    last: int,
    marks: Sequence[int],
    plausible: Callable[[Array], Array],
) -> Array:
    """Where records may begin, in order.

    Args:
        buffer: has the records.
        start: where one does begin.
        last: the last offset at which one may.
        marks: offsets of the bytes of a record header that are the same in nearly all of them.
        plausible: which of what is at offsets looks like a record.
    """
    size = _PIECE + max(marks)
    windows = np.ndarray((last - size,), np.dtype((np.void, size)), buffer, strides=(1,))
    at = np.arange(start + LANE, last - size - _PIECES * _PIECE, LANE)
    found = [np.array([start], np.int64)]
    for _ in range(_PIECES):
        pieces = windows[at].view(np.uint8).reshape(-1, size)
        same = np.ones((len(at), _PIECE), np.bool_)
        for mark in marks:
            same &= pieces[:, mark : mark + _PIECE] == buffer[start + mark]
        place = same.argmax(axis=1)
        hit = same[np.arange(len(at)), place]
        good = hit.copy()
        good[hit] = plausible((at + place)[hit])
        found.append((at + place)[good])
        at = (at + np.where(hit, place + 1, _PIECE))[~good]
    return np.sort(np.concatenate(found))


def follow(
    buffer: Buffer,
    begin: Array,
    last: int,
    length: np.dtype[Any],
    field: int,
    more: int,
    least: int = 0,
) -> tuple[Array, int]:
    """Follow chains of records.

    Args:
        buffer: has them, and enough bytes behind ``last`` for a header.
        begin: where chains may begin; the first one does.
        last: the last offset at which a record may begin.
        length: type of the field that holds a length.
        field: its offset in a record.
        more: bytes of a record that the length does not count.
        least: bytes from one record to the next at least, whatever its length says; ``more`` or this are at least 1.

    Returns:
        Offsets of the records that hang together with the first, in order, and that of what follows them.
    """
    lengths = np.ndarray((last + 1,), length, buffer, field, (1,))
    exits = np.append(begin[1:], last + 1)
    at, ends, lane = begin, exits.copy(), np.arange(len(begin))
    parts: list[Array] = []
    while len(at):
        steps = _steps(lengths, at, more, least)
        inside = steps < ends
        count = np.count_nonzero(inside, axis=0)
        parts.append(steps[:-1][inside[:-1]])
        over = np.flatnonzero(count <= _STEPS)
        exits[lane[over]] = steps[count[over], over]
        going = np.flatnonzero(count > _STEPS)
        at, ends, lane = steps[-1, going], ends[going], lane[going]
    found = np.concatenate(parts)
    wrong = np.flatnonzero(exits[:-1] != begin[1:])
    number = int(wrong[0]) if len(wrong) else len(begin) - 1
    if len(wrong):
        found = found[found < begin[number + 1]]
    return _sorted(found), int(exits[number])


def _steps(lengths: Array, at: Array, more: int, least: int) -> Array:
    """Places of chains and, a row for each of ``_STEPS`` steps, where they lead to; beyond the last length to anywhere."""
    steps = np.empty((_STEPS + 1, len(at)), np.int64)
    steps[0] = at
    last, there = len(lengths) - 1, np.empty_like(at)
    for one, following in pairwise(steps):
        np.minimum(one, last, out=there)
        np.add(one, lengths[there], out=following)
        following += more
        if least:
            np.maximum(following, one + least, out=following)
    return steps


def _sorted(offsets: Array) -> Array:
    """Offsets in order; those of a buffer have 32 bits, which takes half the time."""
    few = offsets.astype(np.uint32)
    few.sort()
    return few.astype(np.int64)
