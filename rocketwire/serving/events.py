"""Events of a server, as values: handlers return them, a driver writes them to the log.

Rules of this file: an event contains plain values, its ``text`` is one line, and control characters
of peers are escaped, so that a peer cannot forge a line. A limit is a setting; a larger amount is
refused with one event that names the setting; ``docs/limits.md`` has the table.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Self, cast, dataclass_transform

from rocketwire.codes import RequestCode
from rocketwire.connection.guards import Guard, Overdue
from rocketwire.controls import escape_controls
from rocketwire.errors import DecodeError, FrameTooLargeError, HeaderTooLargeError

if TYPE_CHECKING:
    from collections import Counter


class Level(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


def format_value(value: object) -> str:
    """Return a value for a log line: one line, at most 500 characters.

    None reads ``null`` and several values read ``[a, b]``, as in Java; a request code has its name:
    ``PUT_KV_CONFIG (100)``.
    """
    if value is None:
        return "null"
    if isinstance(value, tuple):
        text = f"[{', '.join(map(format_value, cast('tuple[object, ...]', value)))}]"
    elif isinstance(value, RequestCode):
        text = f"{value.name} ({value:d})" if value.is_known else f"code {value:d}"
    else:
        text = str(value)
    if len(text) > 500:
        text = f"{text[:500]}... ({len(text)} characters)"
    return escape_controls(text)


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Event:
    level: ClassVar[Level] = Level.INFO
    template: ClassVar[str]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @property
    def text(self) -> str:
        return self.template.format_map(
            {field.name: format_value(getattr(self, field.name)) for field in fields(self)}
        )

    def line(self, address: str | None) -> str:
        """The line with the address of the peer that caused it, unless the text has it already."""
        if address is None or getattr(self, "client", None) == address:
            return self.text
        return f"{self.text} [{address}]"


class ConnectionRefused(Event):
    level = Level.WARNING
    client: str
    reason: str
    template = "connection of {client} closed: {reason}"


class PlainRefused(ConnectionRefused):
    """It did not begin with TLS, which is required."""


class TlsRefused(ConnectionRefused):
    """It began with TLS, which is disabled."""


class TlsUnavailable(ConnectionRefused):
    """It began with TLS, and this server has no valid certificate."""


class TlsHandshakeFailed(ConnectionRefused):
    """The TLS handshake failed, for example because the client has no certificate that is
    trusted."""


class ProxyHeaderRefused(ConnectionRefused):
    """Its PROXY header is malformed."""


class ForeignHostRefused(Event):
    level = Level.WARNING
    host: str
    template = (
        "a request to the operators' port is refused: its host is {host}, and this port only"
        " accepts localhost and IP addresses"
    )


class LimitExceeded(Event):
    level = Level.WARNING
    limit: str  # name of the setting
    allowed: int
    what: str  # the refused amount
    template = "limit {limit}={allowed} exceeded: {what}"


def count_limit(hits: Counter[str], event: Event) -> None:
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
    client: str  # address of the peer
    template = "connection of {client} closed: {what}"

    @classmethod
    def of(cls, overdue: Overdue, client: str) -> Self:
        seconds = int(overdue.seconds)
        return cls(limit=overdue.guard, allowed=seconds, what=overdue.text, client=client)


class ExceededAgain(LimitExceeded):
    """The limit was exceeded again shortly after a log line about it."""

    level = Level.DEBUG
