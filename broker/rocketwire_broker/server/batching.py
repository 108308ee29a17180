"""``Batching``: requests of several connections that come at once are answered together.

A system call that sends an answer wakes a thread of a client, which often takes the CPU at once.
With 16 Java producers, a connection each, a send costs a third less CPU time of the broker if it
handles all requests that are there before it sends the first answer. One busy connection gains
nothing from it and pays for a turn of trio's loop, so a gathering that stays alone pauses.
"""

from __future__ import annotations

from typing import Final

import trio

ALONE: Final = 2  # gatherings of one connection, one after the other, before a pause

PAUSE: Final = 64  # answers without a gathering until the next one


class Batching:
    """Finds the last of the connections that had requests in the same turn of the loop."""

    def __init__(self) -> None:
        self._waiting = 0
        self._alone = 0
        self._pause = 0

    async def is_last(self) -> bool:
        if self._pause:
            self._pause -= 1
            return True
        self._waiting += 1
        await trio.lowlevel.cancel_shielded_checkpoint()
        together, self._waiting = self._waiting, 0
        if together > 1:
            self._alone = 0
        elif together:
            self._alone += 1
            if self._alone == ALONE:
                self._alone, self._pause = 0, PAUSE
        return together > 0
