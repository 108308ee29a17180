"""``Journal``: one place through which everything that happened goes, once.

It writes the log.  Whoever else wants to know (what operators see, for instance) listens; nobody
does unless somebody asked for it, and then nothing is spent on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire_namesrv.events import Event
    from rocketwire_namesrv.server.connection import ServerConnection

__all__ = ["Journal", "Listener"]


class Listener(Protocol):
    """Hears what the log says.  Whatever it does must be short, and may not raise."""

    def occurred(self, event: Event, address: str | None) -> None:
        """Something happened; ``address`` is the peer that caused it, None without one."""

    def ended(self, connection: ServerConnection) -> None:
        """A connection has ended, for the reason in ``closing``."""


class Journal:
    """Writes down what happened.

    Attributes:
        listeners: who hears of it too.
    """

    def __init__(self) -> None:
        self.listeners: list[Listener] = []

    def record(self, events: Iterable[Event], address: str | None) -> None:
        """Log what happened.

        Args:
            occurrences: each becomes a line, if the log takes lines of its level.
            address: of the peer that caused them; None where time did.
        """
        for event in events:
            if LOGGER.isEnabledFor(event.level):
                LOGGER.log(event.level, "%s", event.line(address))
            for listener in self.listeners:
                listener.occurred(event, address)

    def record_end(self, connection: ServerConnection) -> None:
        """Take note of a connection that has ended."""
        LOGGER.debug("connection of %s: %s", connection.peer.address, connection.closing)
        for listener in self.listeners:
            listener.ended(connection)
