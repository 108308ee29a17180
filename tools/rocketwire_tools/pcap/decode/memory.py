"""Memory and threads of processes that do nothing but decode: when garbage is looked for, what is given back to the system, how large
the pages are that come from it, and what does not have to be started."""

from __future__ import annotations

import gc
import os
from typing import Final

_SPARED: Final = 200_000
_LARGE: Final = 24 << 20
"""Bytes; glibc keeps at most 32 MiB in one piece."""
_NO_THREADS: Final = ("OPENBLAS_NUM_THREADS", "1")
"""To start threads for linear algebra takes a fifth of the time in which numpy is imported, and there is none here."""
_ARRAYS: Final = 2
"""Arrays of nearly as many: glibc gives back what is free at the end of its memory if it is more than twice as much."""


def spare_collections() -> None:
    """Look for garbage seldom, and never in what has been imported so far: rows by the ten thousand are no garbage.  Memory that is
    freed is kept for what comes next, and is made of large pages where the system has them.  Has to be called before numpy is
    imported.

    Raises:
        ImportError: numpy is missing.
    """
    os.environ.setdefault(*_NO_THREADS)
    _keep_what_is_freed()
    _ask_for_large_pages()
    gc.freeze()
    gc.set_threshold(_SPARED, 50, 1000)


def _keep_what_is_freed() -> None:
    """Free something large: until then glibc gives what is freed of arrays back to the system, which has to clear every page of the
    next ones again (mallopt(3), M_MMAP_THRESHOLD).  Nothing of it is ever touched."""
    large = bytes(_LARGE)
    del large


def _ask_for_large_pages() -> None:
    """Free arrays that are as large as what glibc keeps: numpy has asked for large pages for them (NUMPY_MADVISE_HUGEPAGE), of which
    a few have to be cleared and looked up instead of thousands.  Nothing of them is ever touched either."""
    import numpy as np

    arrays = [np.empty(_LARGE - (1 << 20), np.uint8) for _ in range(_ARRAYS)]
    del arrays
