"""CRC-32 of the bodies of many messages.  ISA-L calculates it at some eight times zlib's speed.

To cut a short body out of a block takes several times as long as its checksum.  Therefore short
bodies of one size are copied together, and numpy makes the objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from isal import isal_zlib

from rocketwire_tools.store.engine import fast_paths
from rocketwire_tools.store.engine.columns import records

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.store.engine.columns import Bytes, Int64s, Messages

_isal: Any = isal_zlib  # which ships no types
_crc32: Final[Callable[[bytes | memoryview], int]] = _isal.crc32

_LONGEST_COPIED: Final = 512
"""Bytes of a body; to copy a longer one takes about as long as to cut it out."""

_COPIED: Final = 256 << 10
"""Bytes that are copied at once: the objects of more leave the processor's cache."""

_FEWEST_COPIED: Final = 128
"""Bodies of one size in a block from which on it takes less time to copy them together."""


def body_crcs(messages: Messages) -> Int64s:
    """CRC-32 of each stored body, 0 to 2^32 - 1."""
    sizes, starts, data = messages.body_sizes, messages.bodies, messages.data
    crcs = np.empty(len(messages), np.int64)
    capped_sizes = np.minimum(sizes, _LONGEST_COPIED + 1)
    frequent = np.bincount(capped_sizes, minlength=_LONGEST_COPIED + 2) >= _FEWEST_COPIED
    frequent[[0, -1]] = False
    frequent &= fast_paths.are_on()
    for size in np.flatnonzero(frequent).tolist():
        rows = np.flatnonzero(capped_sizes == size)
        crcs[rows] = _crcs_of_copies(data, starts[rows], size)
    remaining = np.flatnonzero(~frequent[capped_sizes])
    if len(remaining):
        crcs[remaining] = _crcs_of_parts(data.data, starts[remaining], sizes[remaining])
    return crcs


def _crcs_of_copies(data: Bytes, starts: Int64s, size: int) -> Int64s:
    crcs = np.empty(len(starts), np.int64)
    step, kind = _COPIED // size, np.dtype(f"V{size}")
    for first in range(0, len(starts), step):
        bodies = records(data, starts[first : first + step], kind).tolist()
        part = np.fromiter(map(_crc32, bodies), np.int64, len(bodies))
        crcs[first : first + step] = part
    return crcs


def _crcs_of_parts(view: memoryview, starts: Int64s, sizes: Int64s) -> Int64s:
    parts = map(view.__getitem__, map(slice, starts.tolist(), (starts + sizes).tolist()))
    return np.fromiter(map(_crc32, parts), np.int64, len(starts))
