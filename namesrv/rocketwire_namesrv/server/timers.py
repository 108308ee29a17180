"""Periodic work: removes silent brokers, and completes registrations whose last part is missing.

Java: ``NamesrvController.startScheduleService``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.counters import TimedWork
from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.protocol.state import State
    from rocketwire_namesrv.server.connection import ServerConnection

FIRST_SCAN_SECONDS: Final = 5.0
"""Time from the start to the first scan for silent brokers, as in Java."""
COMPLETION_SECONDS: Final = 1.0
"""Time between two searches for registrations without their last part."""


class Timed(Protocol):
    @property
    def state(self) -> State: ...

    @property
    def connections(self) -> Mapping[int, ServerConnection]: ...

    def record_events(self, events: Iterable[Event], address: str | None) -> None: ...


async def complete_for_ever(server: Timed) -> None:
    """Complete registrations without their last part, until cancelled."""
    while True:
        await trio.sleep(COMPLETION_SECONDS)
        _complete_parts(server, trio.current_time())


def _complete_parts(server: Timed, now: float) -> None:
    try:
        server.record_events(server.state.complete_parts(now), None)
    except Exception:  # noqa: BLE001 - the next search comes
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
    counters.record_duration(TimedWork.EXPIRY_SCAN, start)
    server.record_events(events, None)
    for number in numbers:
        if (connection := server.connections.get(number)) is not None:
            connection.close("its broker has been silent for too long", Reason.EXPIRED)
