"""Tunes the process of the name server: file descriptors, garbage collection, and returning memory.

Rules of this file: wishes; a system that cannot fulfil one is served without it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from typing import Final

MMAP_THRESHOLD: Final = 1_048_576
"""Bytes from which on a block of memory is one of its own, which goes back as soon as it is
free."""
TRIM_THRESHOLD: Final = 4 * MMAP_THRESHOLD
"""Free bytes at the end of the heap that are kept."""

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
    """Fix the thresholds of glibc's allocator, which otherwise follow the largest block that was
    ever freed: the buffers of one large registration would stay for good."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # another C library
    mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
    mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD)


def calm_collector() -> None:
    """Leave out what was made at import, which stays for good, and look at the rest less often.

    A registration makes thousands of objects and no cycle: with the usual threshold it is looked at
    dozens of times while readers wait.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
