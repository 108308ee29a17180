"""The switch of the engine's fast paths: ``ROCKETWIRE_FASTPATH=off`` turns them off.

A fast path compares or calculates a whole block in one step.  The plain code gives the
same results, message by message; it also does what a fast path leaves to it.
"""

from __future__ import annotations

import os
from typing import Final

SWITCH: Final = "ROCKETWIRE_FASTPATH"


def are_on() -> bool:
    """Whether fast paths are used; raises ``ValueError`` for a value other than on and off."""
    value = os.environ.get(SWITCH)
    if value not in (None, "", "on", "off"):
        raise ValueError(f"{SWITCH} must be on or off, not {value!r}")
    return value != "off"
