"""Memory that captures are read into.

Large pages are used where the system has them, because few of them must be cleared and mapped.
Buffers begin at a page, because the system copies files faster to such addresses.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

Buffer = bytearray | mmap.mmap  # A writable buffer


def buffer_of(size: int) -> Buffer:
    """Allocate zero bytes that begin at a page, in large pages where the system has them
    (Linux)."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return bytearray(size)
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without them
        buffer.madvise(mmap.MADV_HUGEPAGE)
    return buffer


def blocks_of(size: int, count: int) -> list[memoryview]:
    """Allocate buffers of one size, all but the first in large pages.

    A small capture needs only the first buffer. To clear a large page would take longer than to
    fill it.
    """
    large_pages = memoryview(buffer_of((count - 1) * size))
    return [
        memoryview(mmap.mmap(-1, size)),
        *(large_pages[offset : offset + size] for offset in range(0, len(large_pages), size)),
    ]
