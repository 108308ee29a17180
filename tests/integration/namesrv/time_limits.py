"""The time limit of tests with a running server."""

import math

import trio
from trio.testing import MockClock


def time_limit() -> float:
    # Seconds for a test; no limit for a clock that jumps, because it would jump to the limit.
    return math.inf if isinstance(trio.lowlevel.current_clock(), MockClock) else 60
