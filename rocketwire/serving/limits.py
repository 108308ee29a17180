"""The events when a limit of a server is exceeded.

A limit is a setting; a larger amount is refused with one event that names the setting;
``docs/limits.md`` has the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rocketwire.connection.guards import Guard, Overdue
from rocketwire.errors import DecodeError, FrameTooLargeError, HeaderTooLargeError
from rocketwire.serving.events import Event, Level

if TYPE_CHECKING:
    from collections import Counter


class LimitExceeded(Event):
    """A request or connection was refused because of a limit."""

    level = Level.WARNING
    limit: str  #: name of the setting
    allowed: int
    what: str  #: the refused amount
    template = "limit {limit}={allowed} exceeded: {what}"


def count_limit(hits: Counter[str], event: Event) -> None:
    """Count an exceeded limit by the name of its setting; other events count nothing."""
    if isinstance(event, LimitExceeded):
        hits[event.limit] += 1


class FrameRefused(LimitExceeded):
    """A frame is too large; another log line describes its bytes."""

    level = Level.DEBUG

    @classmethod
    def of(cls, error: DecodeError) -> tuple[FrameRefused, ...]:
        if isinstance(error, FrameTooLargeError):
            limit, what = Guard.FRAME_LENGTH, "frame"
        elif isinstance(error, HeaderTooLargeError):
            limit, what = Guard.HEADER_LENGTH, "header"
        else:
            return ()
        text = f"a {what} of {error.declared} bytes"
        return (cls(limit=limit, allowed=error.limit, what=text),)


class ConnectionTooSlow(LimitExceeded):
    """A connection is closed, because it exceeded a deadline."""

    level = Level.INFO
    client: str  #: address of the peer
    template = "connection of {client} closed: {what}"

    @classmethod
    def of(cls, overdue: Overdue, client: str) -> Self:
        """Return the event for an exceeded deadline."""
        seconds = int(overdue.seconds)
        return cls(limit=overdue.guard, allowed=seconds, what=overdue.text, client=client)


class ExceededAgain(LimitExceeded):
    """The limit was exceeded again shortly after a log line about it."""

    level = Level.DEBUG
