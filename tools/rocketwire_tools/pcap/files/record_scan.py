"""Walking chains of record headers at many places at once.

Rules of this file: only numpy.  Where a record may begin is guessed once in every ``LANE`` bytes, all guesses are followed together,
and what was found counts only as far as each chain runs into the beginning of the next: a wrong guess costs time, never a record.
"""

from __future__ import annotations

import struct
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.pcap.files.buffers import Buffer

    Array = np.ndarray[Any, Any]

LANE: Final = 40 << 10
"""Bytes between two guesses: what is looked at for all guesses of a chunk at once fits into the cache of a core, and chains of nearly
all sizes of records are followed in a few rounds."""
FEWEST: Final = 8
"""Guesses that are worth the trouble."""
_NEAR: Final = 2048
"""Bytes of a lane among which a record is looked for: in front of it is at most a packet, of 1514 bytes as a rule."""
_TOGETHER: Final = 128
"""Lanes that are searched at once, so that they stay in the processor's cache."""
_TRIES: Final = 4
"""Places of a lane that are looked at, if need be."""
_SINGLY: Final = 32
"""Chains that are followed one after the other: of so few, to follow all of them together takes longer."""
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
        marks: offsets of the bytes of a record header, one behind the other, that are the same in nearly all of them.
        plausible: which of what is at offsets looks like a record.
    """
    mark = bytes(buffer[start + marks[0] : start + marks[-1] + 1])
    at: Array = np.arange(start + LANE, last - _NEAR - len(mark), LANE)
    ends = at + _NEAR
    at = at + _places(buffer, at + marks[0], mark)
    found = [np.array([start], np.int64)]
    for _ in range(_TRIES):
        some = np.flatnonzero(at < ends)
        at, ends = at[some], ends[some]
        if not len(at):
            break
        good = plausible(at)
        found.append(at[good])
        at, ends = at[~good], ends[~good]
        places = zip((at + marks[0]).tolist(), (ends + marks[-1]).tolist(), strict=True)
        behind = [buffer[one + 1 : end].find(mark) for one, end in places]
        at = at + [_NEAR if each < 0 else each + 1 for each in behind]
    return np.sort(np.concatenate(found))


def _places(buffer: Buffer, at: Array, mark: bytes) -> Array:
    """How far behind offsets a mark is; ``_NEAR`` where it is not that near."""
    size = _NEAR + len(mark) - 1
    windows = np.ndarray((len(buffer) - size + 1,), np.dtype((np.void, size)), buffer, strides=(1,))
    places = np.empty(len(at), np.int64)
    for first in range(0, len(at), _TOGETHER):
        rows = windows[at[first : first + _TOGETHER]].view(np.uint8).reshape(-1, size)
        same = rows[:, :_NEAR] == mark[0]
        for number, byte in enumerate(mark[1:], 1):
            same &= rows[:, number : number + _NEAR] == byte
        place = same.argmax(axis=1)
        places[first : first + len(rows)] = np.where(
            same[np.arange(len(rows)), place], place, _NEAR
        )
    return places


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
    while len(at) > _SINGLY:
        steps = _steps(lengths, at, more, least)
        inside = steps < ends
        count = np.count_nonzero(inside, axis=0)
        parts.append(steps[:-1].T[inside[:-1].T])
        over = np.flatnonzero(count <= _STEPS)
        exits[lane[over]] = steps[count[over], over]
        going = np.flatnonzero(count > _STEPS)
        at, ends, lane = steps[-1, going], ends[going], lane[going]
    singly: list[int] = []
    read = partial(struct.Struct(length.str.replace("u4", "I")).unpack_from, buffer)
    for number, one, end in zip(lane.tolist(), at.tolist(), ends.tolist(), strict=True):
        while one < end:
            singly.append(one)
            one = max(one + read(one + field)[0] + more, one + least)
        exits[number] = one
    found = np.concatenate([*parts, np.array(singly, np.int64)])
    wrong = np.flatnonzero(exits[:-1] != begin[1:])
    number = int(wrong[0]) if len(wrong) else len(begin) - 1
    if len(wrong):
        found = found[found < begin[number + 1]]
    # ``parts`` are in order, and to merge few that are takes less than to sort
    return np.sort(found, kind="stable"), int(exits[number])


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
