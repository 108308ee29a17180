"""Memory of processes that do nothing but decode: when garbage is looked for, and what is given back to the system."""

from __future__ import annotations

import gc
from typing import Final

_SPARED: Final = 200_000
_LARGE: Final = 24 << 20
"""Bytes; glibc keeps at most 32 MiB in one piece."""


def spare_collections() -> None:
    """Look for garbage seldom, and never in what has been imported so far: rows by the ten thousand are no garbage.  Memory that is
    freed is kept for what comes next."""
    gc.freeze()
    gc.set_threshold(_SPARED, 50, 1000)
    _keep_what_is_freed()


def _keep_what_is_freed() -> None:
    """Free something large: until then glibc gives what is freed of arrays back to the system, which has to clear every page of the
    next ones again (mallopt(3), M_MMAP_THRESHOLD).  Nothing of it is ever touched."""
    large = bytes(_LARGE)
    del large
