"""Garbage collection in processes that do nothing but decode."""

from __future__ import annotations

import gc
from typing import Final

_SPARED: Final = 200_000


def spare_collections() -> None:
    """Look for garbage seldom, and never in what has been imported so far: rows by the ten thousand are no garbage."""
    gc.freeze()
    gc.set_threshold(_SPARED, 50, 1000)
