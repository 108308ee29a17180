"""Memory and threads of a process that only reads captures or stores: see docs/performance.md."""

from __future__ import annotations

import gc
import os
from typing import Final

_COLLECTION_THRESHOLD: Final = 200_000
_LARGE: Final = 24 << 20
"""Bytes of an array; glibc keeps at most 32 MiB in one piece."""
_ARRAYS: Final = 2
"""Arrays of ``_LARGE`` bytes that are freed: glibc returns memory to the system if more is free."""


def prepare_process() -> None:
    """Collect garbage seldom, keep freed memory, use large pages, and start no threads.

    Call this before numpy is imported.

    Raises:
        ImportError: numpy is missing.
    """
    # To start threads for linear algebra takes a fifth of the import of numpy; nothing uses them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _keep_freed_memory()
    _use_large_pages()
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD, 50, 1000)


def _keep_freed_memory() -> None:
    """Free a large object, which raises glibc's threshold (mallopt(3), M_MMAP_THRESHOLD).

    Below it, glibc keeps freed memory. Otherwise the system clears each page of every new array.
    """
    large_object = bytes(_LARGE)
    del large_object


def _use_large_pages() -> None:
    """Free large arrays, for which numpy has requested large pages (NUMPY_MADVISE_HUGEPAGE).

    Few large pages are cleared and mapped faster than thousands of small ones.
    """
    import numpy as np

    arrays = [np.empty(_LARGE - (1 << 20), np.uint8) for _ in range(_ARRAYS)]
    del arrays
