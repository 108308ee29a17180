"""Periodic work: closes overdue connections, removes silent brokers, and completes registrations
whose last part is missing.

Rules of this file: no cancel scope and no timer per connection or request: all connections are
checked periodically.

Java: ``NamesrvController.startScheduleService``, ``IdleStateHandler``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire_namesrv.events import Event, Reason
from rocketwire_namesrv.protocol.counters import TimedWork
from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.server.connection import Deadlines, ServerConnection

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.state import State

FIRST_SCAN_SECONDS: Final = 5.0
"""Time from the start to the first scan for silent brokers, as in Java."""
SWEEP_SECONDS: Final = 1.0
"""Time between two checks of all connections; less if a limit is short."""


class Timed(Protocol):
    """The server, as the timers use it."""

    @property
    def state(self) -> State:
        """The state of the protocol."""
        ...

    @property
    def connections(self) -> Mapping[int, ServerConnection]:
        """The open connections by id."""
        ...

    def record_events(self, events: Iterable[Event], address: str | None) -> None:
        """Record events."""


async def sweep_for_ever(server: Timed) -> None:
    """Close overdue connections, and complete registrations without their last part, until
    cancelled."""
    pause = 0.0
    while True:
        await trio.sleep(pause)
        pause = _sweep(server)


def _sweep(server: Timed) -> float:
    """Close overdue connections; return the seconds until the next check."""
    now = trio.current_time()
    _complete_parts(server, now)
    deadlines = Deadlines.of(server.state.config)
    shortest = min(deadlines)
    for connection in list(server.connections.values()):
        shortest = min(shortest, connection.idle_limit)
        if (exceeded := connection.overdue(now, deadlines)) is not None:
            server.record_events((exceeded,), None)
            connection.close(exceeded.what, Reason.IDLE)
    return min(SWEEP_SECONDS, shortest / 8)


def _complete_parts(server: Timed, now: float) -> None:
    try:
        server.record_events(server.state.complete_parts(now), None)
    except Exception:  # noqa: BLE001 - connections have to be checked in any case
        LOGGER.exception("a registration without its last part failed")


async def expire_for_ever(server: Timed) -> None:
    """Remove silent brokers, until cancelled."""
    await trio.sleep(FIRST_SCAN_SECONDS)
    pause = max(1, server.state.config.scan_not_active_broker_interval) / 1000
    while True:
        try:
            _expire(server)
        except Exception:  # noqa: BLE001 - without scans silent brokers would stay
            LOGGER.exception("the scan for silent brokers failed, the next one comes")
        await trio.sleep(pause)


def _expire(server: Timed) -> None:
    counters = server.state.counters
    start = counters.begin()
    events, numbers = server.state.expire(trio.current_time())
    counters.took(TimedWork.EXPIRY_SCAN, start)
    server.record_events(events, None)
    for number in numbers:
        if (connection := server.connections.get(number)) is not None:
            connection.close("its broker has been silent for too long", Reason.EXPIRED)
