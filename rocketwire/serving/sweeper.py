"""Closes the connections that exceed a deadline.

Rules of this file: no cancel scope and no timer per connection or request: all connections are
checked periodically.

Java: ``IdleStateHandler``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import trio

from rocketwire.connection.guards import Activity, Deadlines, Overdue

T = TypeVar("T", bound=Activity)

SWEEP_SECONDS: Final = 1.0
"""Time between two checks of all connections; less if a deadline is short."""


async def sweep_for_ever(
    connections: Mapping[int, T],
    deadlines: Callable[[], Deadlines],
    close: Callable[[T, Overdue], None],
) -> None:
    """Close overdue connections until cancelled.

    Args:
        connections: the open connections by id.
        deadlines: returns the deadlines that are valid now.
        close: closes a connection that has exceeded one.
    """
    while True:
        valid = deadlines()
        now = trio.current_time()
        for connection in list(connections.values()):
            if (overdue := connection.overdue(now, valid)) is not None:
                close(connection, overdue)
        await trio.sleep(min(SWEEP_SECONDS, min(valid) / 8))
