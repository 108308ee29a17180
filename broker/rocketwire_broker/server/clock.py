"""The broker's clock: milliseconds since 1970, which never go back."""

from __future__ import annotations

import time

import trio


class Clock:
    """Counts on from the wall clock's time at the start, with trio's clock."""

    def __init__(self) -> None:
        self._epoch = time.time() * 1000 - trio.current_time() * 1000

    def now(self) -> int:
        """Return the time."""
        return int(self._epoch + trio.current_time() * 1000)

    def trio_time(self, now: int) -> float:
        """Return the time of trio's clock at which ``now`` returns this number."""
        return (now - self._epoch) / 1000 + 0.0005

    def advance(self, milliseconds: int) -> None:
        """Go forward, for tests: what is due by then happens at the next step."""
        self._epoch += milliseconds
