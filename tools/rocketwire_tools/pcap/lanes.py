"""Walking chains of record headers at many places at once.

Rules of this file: only numpy and ``bytes.find``.  Where a record may begin is guessed once in every ``LANE`` bytes, all guesses are
followed together, and what was found counts only as far as each chain runs into the beginning of the next: a wrong guess costs
time, never a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Array = np.ndarray[Any, Any]

LANE: Final = 1 << 16
"""Bytes between two guesses."""
FEWEST: Final = 8
"""Guesses that are worth the trouble."""
_TRIES: Final = 16


def guesses(
    buffer: bytearray, start: int, last: int, mark: slice, plausible: Callable[[int], bool]
) -> list[int]:
    """Where records may begin, in order.

    Args:
        buffer: has the records.
        start: where one does begin.
        last: the last offset at which one may.
        mark: which bytes of a record header are the same in most of them.
        plausible: whether what is at an offset looks like a record.
    """
    same = bytes(buffer[start + mark.start : start + mark.stop])
    found = [start]
    for at in range(start + LANE, last, LANE):
        for each in _tries(buffer, same, at + mark.start, min(at + LANE, last)):
            if plausible(each - mark.start):
                found.append(each - mark.start)
                break
    return found


def _tries(buffer: bytearray, same: bytes, start: int, end: int) -> Iterator[int]:
    for _ in range(_TRIES):
        at = buffer.find(same, start, end)
        if at < 0:
            return
        yield at
        start = at + 1


def follow(
    buffer: bytearray,
    starts: Sequence[int],
    last: int,
    length: np.dtype[Any],
    field: int,
    more: int,
    least: int = 0,
) -> tuple[Array, int]:
    """Follow chains of records.

    Args:
        buffer: has them, and enough bytes behind ``last`` for a header.
        starts: where chains may begin; the first one does.
        last: the last offset at which a record may begin.
        length: type of the field that holds a length.
        field: its offset in a record.
        more: bytes of a record that the length does not count.
        least: bytes from one record to the next at least, whatever its length says; ``more`` or this are at least 1.

    Returns:
        Offsets of the records that hang together with the first, in order, and that of what follows them.
    """
    lengths = np.ndarray((len(buffer) - 3,), length, buffer, strides=(1,))
    begin = np.array(starts, np.int64)
    exits = np.append(begin[1:], last + 1)
    at, ends, lane = begin, exits.copy(), np.arange(len(begin))
    steps: list[Array] = []
    while len(at):
        steps.append(at)
        after = at + lengths[at + field] + more
        at = np.maximum(after, at + least) if least else after
        inside = at < ends
        if not inside.all():
            exits[lane[~inside]] = at[~inside]
            at, ends, lane = at[inside], ends[inside], lane[inside]
    found = np.concatenate(steps)
    wrong = np.flatnonzero(exits[:-1] != begin[1:])
    number = int(wrong[0]) if len(wrong) else len(begin) - 1
    if len(wrong):
        found = found[found < begin[number + 1]]
    found.sort()
    return found, int(exits[number])
