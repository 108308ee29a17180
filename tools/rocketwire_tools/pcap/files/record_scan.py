"""Walks chains of record headers from many places at once.

One start of a record is guessed in every ``STRIDE`` bytes, and all chains are followed together
with numpy. A chain counts only if the chain before it runs into its start: a wrong guess costs
time, but never a record.
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

STRIDE: Final = 40 << 10
"""Bytes between two guesses. The headers that are read for all guesses of a chunk fit into the
cache of a core, and few rounds follow the chains of nearly all record sizes."""
MIN_GUESSES: Final = 8
"""With fewer guesses, one chain is faster."""
_SEARCHED: Final = 2048
"""Bytes that are searched for a record after each stride. As a rule a packet has at most 1514
bytes."""
_TOGETHER: Final = 128
"""Strides that are searched at once, so that they stay in the processor's cache."""
_TRIES: Final = 4
"""Candidates that are checked for each guess."""
_FEW_CHAINS: Final = 32
"""This many chains or fewer are followed one by one, which is faster."""
_STEPS: Final = 16
"""Steps of all chains between two checks for chains that have ended."""


def guess_starts(
    buffer: Buffer,
    start: int,
    last: int,
    marks: Sequence[int],
    plausible: Callable[[Array], Array],
) -> Array:
    """Guess offsets at which records begin.

    Args:
        buffer: holds the records.
        start: offset of the first record.
        last: the last offset at which a record may begin.
        marks: consecutive offsets in a record header of bytes that nearly all records share.
        plausible: at which of some offsets a record seems to begin.

    Returns:
        The offsets in order, the first of which is ``start``.
    """
    mark = bytes(buffer[start + marks[0] : start + marks[-1] + 1])
    candidates: Array = np.arange(start + STRIDE, last - _SEARCHED - len(mark), STRIDE)
    ends = candidates + _SEARCHED
    candidates = candidates + _find_mark(buffer, candidates + marks[0], mark)
    starts = [np.array([start], np.int64)]
    for _ in range(_TRIES):
        within = np.flatnonzero(candidates < ends)
        candidates, ends = candidates[within], ends[within]
        if not len(candidates):
            break
        good = plausible(candidates)
        starts.append(candidates[good])
        candidates, ends = candidates[~good], ends[~good]
        places = zip((candidates + marks[0]).tolist(), (ends + marks[-1]).tolist(), strict=True)
        distances = [buffer[first + 1 : end].find(mark) for first, end in places]
        candidates = candidates + [
            _SEARCHED if distance < 0 else distance + 1 for distance in distances
        ]
    return np.sort(np.concatenate(starts))


def _find_mark(buffer: Buffer, offsets: Array, mark: bytes) -> Array:
    """Distance from each offset to the mark; ``_SEARCHED`` if the mark is not near."""
    size = _SEARCHED + len(mark) - 1
    windows = np.ndarray((len(buffer) - size + 1,), np.dtype((np.void, size)), buffer, strides=(1,))
    places = np.empty(len(offsets), np.int64)
    for first in range(0, len(offsets), _TOGETHER):
        rows = windows[offsets[first : first + _TOGETHER]].view(np.uint8).reshape(-1, size)
        matches = rows[:, :_SEARCHED] == mark[0]
        for number, byte in enumerate(mark[1:], 1):
            matches &= rows[:, number : number + _SEARCHED] == byte
        place = matches.argmax(axis=1)
        places[first : first + len(rows)] = np.where(
            matches[np.arange(len(rows)), place], place, _SEARCHED
        )
    return places


def follow_chains(
    buffer: Buffer,
    begin: Array,
    last: int,
    length: np.dtype[Any],
    field: int,
    uncounted: int,
    min_step: int = 0,
) -> tuple[Array, int]:
    """Follow chains of records.

    Args:
        buffer: holds the records, and a header's bytes after ``last``.
        begin: offsets at which chains may begin; a record begins at the first one.
        last: the last offset at which a record may begin.
        length: type of the length field.
        field: offset of the length field in a record.
        uncounted: bytes of a record that the length does not count.
        min_step: least distance between two records, for any length. ``uncounted`` or this is at
            least 1.

    Returns:
        The offsets of the records that form a chain with the first one, in order, and the offset
        after them.
    """
    lengths = np.ndarray((last + 1,), length, buffer, field, (1,))
    exits = np.append(begin[1:], last + 1)
    offsets, ends, lane = begin, exits.copy(), np.arange(len(begin))
    parts: list[Array] = []
    while len(offsets) > _FEW_CHAINS:
        steps = _advance_chains(lengths, offsets, uncounted, min_step)
        inside = steps < ends
        count = np.count_nonzero(inside, axis=0)
        parts.append(steps[:-1].T[inside[:-1].T])
        over = np.flatnonzero(count <= _STEPS)
        exits[lane[over]] = steps[count[over], over]
        going = np.flatnonzero(count > _STEPS)
        offsets, ends, lane = steps[-1, going], ends[going], lane[going]
    last_offsets: list[int] = []
    read = partial(struct.Struct(length.str.replace("u4", "I")).unpack_from, buffer)
    for number, offset, end in zip(lane.tolist(), offsets.tolist(), ends.tolist(), strict=True):
        while offset < end:
            last_offsets.append(offset)
            offset = max(offset + read(offset + field)[0] + uncounted, offset + min_step)
        exits[number] = offset
    records = np.concatenate([*parts, np.array(last_offsets, np.int64)])
    wrong = np.flatnonzero(exits[:-1] != begin[1:])
    number = int(wrong[0]) if len(wrong) else len(begin) - 1
    if len(wrong):
        records = records[records < begin[number + 1]]
    # A stable sort merges ``parts``, each of which is in order.
    return np.sort(records, kind="stable"), int(exits[number])


def _advance_chains(lengths: Array, offsets: Array, uncounted: int, min_step: int) -> Array:
    """Offsets of all chains after 0 to ``_STEPS`` steps, a row for each; beyond the last length
    they are arbitrary."""
    steps = np.empty((_STEPS + 1, len(offsets)), np.int64)
    steps[0] = offsets
    last, there = len(lengths) - 1, np.empty_like(offsets)
    for current, following in pairwise(steps):
        np.minimum(current, last, out=there)
        np.add(current, lengths[there], out=following)
        following += uncounted
        if min_step:
            np.maximum(following, current + min_step, out=following)
    return steps
