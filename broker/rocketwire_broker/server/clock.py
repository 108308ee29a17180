"""The broker's clock: milliseconds since 1970, which never go back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import trio

CHECK_SECONDS: Final = 1.0  # time between two comparisons with the wall clock

JUMP_MS: Final = 3_000
"""A smaller difference from the wall clock is left: a clock that is set often moves by less."""


def _wall_offset() -> float:
    return time.time() - time.monotonic()


class Clock:
    """Counts on from the wall clock's time at the start, with trio's clock, and follows its jumps.

    The monotonic clock stands still while the machine sleeps, and knows no steps of the wall clock.
    A jump forward is followed at once. After a jump back the time continues, ahead of the wall
    clock: a time that stood still would end no wait.

    Args:
        wall_offset: returns the seconds by which the wall clock is ahead of the monotonic one.
    """

    def __init__(self, wall_offset: Callable[[], float] = _wall_offset) -> None:
        self._epoch = time.time() * 1000 - trio.current_time() * 1000
        self._wall_offset = wall_offset
        self._offset = wall_offset()
        self.ahead = 0.0  # milliseconds since jumps back by which it is ahead of the wall clock

    def now(self) -> int:
        return int(self._epoch + trio.current_time() * 1000)

    def trio_time(self, now: int) -> float:
        """Return the time of trio's clock at which ``now`` returns this number."""
        return (now - self._epoch) / 1000 + 0.0005

    def advance(self, milliseconds: int) -> None:
        self._epoch += milliseconds

    def follow(self) -> float:
        """Follow a jump of the wall clock; return its milliseconds, 0 without one.

        After jumps back, a jump forward first makes up for them.
        """
        offset = self._wall_offset()
        jump = (offset - self._offset) * 1000
        if abs(jump) < JUMP_MS:
            return 0.0
        self._offset = offset
        ahead = self.ahead - jump
        self._epoch += max(0, -ahead)
        self.ahead = max(0, ahead)
        return jump
