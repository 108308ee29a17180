"""Tunes the process of the name server: file descriptors, garbage collection, and returning memory.

Rules of this file: every step is optional; a system without it is supported.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from typing import Final

MMAP_THRESHOLD: Final = 1_048_576
"""Blocks at least this large, in bytes, are returned to the system when they are freed."""
TRIM_THRESHOLD: Final = 4 * MMAP_THRESHOLD  # maximum free bytes at the end of the heap

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3


def allow_many_connections() -> None:
    """Raise the limit of file descriptors as far as the process may, as the JVM does."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def give_memory_back() -> None:
    """Fix the thresholds of glibc's allocator, which otherwise grow to the largest freed block: the
    buffers of a large registration would stay forever."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # another C library
    mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
    mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD)


def tune_garbage_collector() -> None:
    """Exclude the objects of the imports from garbage collection, and collect the others less
    often.

    A registration creates thousands of objects and no cycle: with the default threshold it would
    cause dozens of collections while readers wait.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
