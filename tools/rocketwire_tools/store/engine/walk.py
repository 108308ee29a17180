"""The records of a block, walked from many positions at once.

A walk is a chain: the size of a record leads to the next one.  Here a block is cut
into stretches; each is walked from the first magic number in it, all of them in one step.  A
stretch counts if the walk of the one before it ends at its first record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store import commit_log
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Int64s

_SAMPLE: Final = 16 << 10  # bytes that are walked one by one, to learn how large records are
_RECORDS: Final = 16
"""Fewest records of a stretch of the usual size; a walk of one ends after four times as many."""

_FEWEST: Final = 64  # stretches for which it is worth it: larger records are few
_MAX_STRETCHES: Final = (
    1024  # stretches from which on longer ones cost less: each begins with a search
)
_MAGIC: Final = MAGIC_V1.to_bytes(4, "big")[:3]  # both magic numbers begin like this


def walk(view: memoryview) -> tuple[Int64s, int]:
    """As ``commit_log.walk``, fast for a view of a bytearray that begins with it."""
    size, data = len(view), view.obj
    positions, end = commit_log.walk(view, 0, min(size, _SAMPLE))
    stretch = _RECORDS * end // max(1, len(positions))
    is_short = not positions or (size - end) // stretch < _FEWEST
    if is_short or not isinstance(data, bytearray):
        last_positions, end = commit_log.walk(view, end, size)
        return np.array(positions + last_positions, np.int64), end
    longer = 1
    while (size - end) // (stretch * longer) > _MAX_STRETCHES:
        longer *= 2
    positions_in_stretches, end = _walk_stretches(
        data, size, end, stretch * longer, 4 * _RECORDS * longer
    )
    last_positions, end = commit_log.walk(view, end, size)
    return np.concatenate(
        [np.array(positions, np.int64), positions_in_stretches, np.array(last_positions, np.int64)]
    ), end


def _walk_stretches(
    data: bytearray, size: int, start: int, stretch: int, max_steps: int
) -> tuple[Int64s, int]:
    starts = [start]
    for begin in range(start + stretch, size - stretch, stretch):
        magic = data.find(_MAGIC, begin + 4, begin + stretch)
        if magic >= 0:
            starts.append(magic - 4)
    heads = np.ndarray((size - 7,), ">i8", buffer=data, strides=(1,))
    bounds = np.array([*starts[1:], size - 7], np.int64)
    position, bound, chain = np.array(starts, np.int64), bounds, np.arange(len(starts))
    ends = position.copy()
    chains: list[Int64s] = []
    visited: list[Int64s] = []
    numbers: list[Int64s] = []
    for _ in range(max_steps):
        head = heads[position].astype(np.int64)
        chains.append(chain)
        visited.append(position)
        numbers.append(head)
        sizes = head >> 32
        end = position + sizes
        goes_on = (end < bound) & (sizes >= commit_log.SMALLEST_MESSAGE)
        if not goes_on.all():
            ends[chain] = end
            chain, end, bound = chain[goes_on], end[goes_on], bound[goes_on]
            if not len(chain):
                break
        position = end
    else:
        ends[chain] = -1
    order = np.argsort(np.concatenate(chains).astype(np.uint16), kind="stable")
    positions, head = np.concatenate(visited)[order], np.concatenate(numbers)[order]
    last = int(np.argmin(np.append(ends[:-1] == bounds[:-1], False)))
    sizes, magics = head >> 32, head & 0xFFFFFFFF
    is_record = (magics == MAGIC_V1) | (magics == MAGIC_V2)
    is_record &= (sizes >= commit_log.SMALLEST_MESSAGE) & (positions + sizes <= size)
    is_record &= np.concatenate(chains)[order] <= last
    count = int(np.argmin(np.append(is_record, False)))
    return positions[:count], int(positions[count - 1] + sizes[count - 1]) if count else start
