"""``Journal``: every event passes through it once.

It writes the log and passes events to its listeners, such as the history on the operators' page.
Without a listener it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.server.connection import ServerConnection


class Listener(Protocol):
    """Receives the events of the log. Its methods must be fast and must not raise."""

    def record_event(self, event: Event, address: str | None) -> None:
        """Receive an event; ``address`` is the peer that caused it, or None."""

    def record_end(self, connection: ServerConnection) -> None:
        """Receive the end of a connection; its reason is in ``closing``."""


class Journal:
    def __init__(self) -> None:
        self.listeners: list[Listener] = []  #: receive the events, too

    def record(self, events: Iterable[Event], address: str | None) -> None:
        for event in events:
            if LOGGER.isEnabledFor(event.level):
                LOGGER.log(event.level, "%s", event.line(address))
            for listener in self.listeners:
                listener.record_event(event, address)

    def record_end(self, connection: ServerConnection) -> None:
        LOGGER.debug("connection of %s: %s", connection.peer.address, connection.closing)
        for listener in self.listeners:
            listener.record_end(connection)
