"""Memory that captures are read into.

Rules of this file: what comes from a file is copied at full speed only where source and target do not begin a few bytes apart in
their pages, as the front of a file and a ``bytearray`` do; and of large pages only a few have to be cleared and looked up.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

Buffer = bytearray | mmap.mmap
"""Bytes that can be written to."""


def buffer_of(size: int) -> Buffer:
    """So many zero bytes, from the front of a page on and in large pages where the system has them (Linux)."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return bytearray(size)
    made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without them
        made.madvise(mmap.MADV_HUGEPAGE)
    return made


def blocks_of(size: int, count: int) -> list[memoryview]:
    """So many buffers of a size, all but the first in large pages: a small capture needs no other, and would wait longer for a
    large page to be cleared than for what is put into it."""
    rest = memoryview(buffer_of((count - 1) * size))
    return [
        memoryview(mmap.mmap(-1, size)),
        *(rest[at : at + size] for at in range(0, len(rest), size)),
    ]
