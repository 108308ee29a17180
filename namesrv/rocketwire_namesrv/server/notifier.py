"""Notifies brokers of a new smallest broker id (905): one attempt each, over a new connection.

Java: ``RouteInfoManager.notifyMinBrokerIdChanged``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.connection.guards import exceeds
from rocketwire.os_errors import os_error_text
from rocketwire.serving.events import LimitExceeded
from rocketwire.serving.tls.certificates import TlsError
from rocketwire.wire.command import encode
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire.serving.tls.contexts import TlsContexts
    from rocketwire_namesrv.protocol.state import Notification, State

AT_ONCE: Final = 64
"""Maximum number of brokers that are notified at the same time."""


class Notifier:
    """Sends notifications to brokers."""

    def __init__(
        self,
        state: State,
        tls: TlsContexts,
        record_events: Callable[[Iterable[Event], str | None], None],
    ) -> None:
        #: runs the attempts; None before and after ``NameServer.run``: nothing is sent then
        self.tasks: trio.Nursery | None = None
        self._state = state
        self._tls = tls
        self._record_events = record_events
        self._waiting = 0
        self._limiter = trio.CapacityLimiter(AT_ONCE)

    def send(self, notifications: Iterable[Notification]) -> None:
        if self.tasks is None:
            return
        for address, command in notifications:
            limit = self._state.config.max_notifications
            if exceeds(self._waiting + 1, limit):
                what = f"broker {address} is not notified of the smallest broker id"
                exceeded = LimitExceeded(limit=Limit.NOTIFICATIONS, allowed=limit, what=what)
                self._record_events((exceeded,), None)
            else:
                self._waiting += 1
                self.tasks.start_soon(self._send_one, address, encode(command))

    async def _send_one(self, address: str, frame: bytes) -> None:
        try:
            await self.notify(address, frame)
        finally:
            self._waiting -= 1

    async def notify(self, address: str, frame: bytes) -> None:
        """Send a frame to a broker; a failure is a warning in the log."""
        host, _, port = address.rpartition(":")
        seconds = self._state.config.connect_timeout_millis / 1000
        try:
            async with self._limiter:
                with trio.fail_after(seconds):
                    stream: trio.abc.Stream = await trio.open_tcp_stream(
                        host.strip("[]"), int(port)
                    )
                    if self._state.config.use_tls:
                        stream = await self._tls.start_tls(stream)
                    async with stream:
                        await stream.send_all(frame)
        except (
            OSError,
            ValueError,
            trio.TooSlowError,
            trio.BrokenResourceError,
            TlsError,
        ) as error:
            text = os_error_text(error)
            LOGGER.warning("broker %s is not notified of the smallest broker id: %s", address, text)
