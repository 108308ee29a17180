"""Events of a server, as values: handlers return them, a driver writes them to the log.

Rules of this file: an event contains plain values, its ``text`` is one line, and control characters
of peers are escaped, so that a peer cannot forge a line.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import ClassVar, cast, dataclass_transform

from rocketwire.codes import RequestCode
from rocketwire.controls import escape_controls


class Level(IntEnum):
    """The level of an event, with the numbers of Python's ``logging``."""

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
    """An event; the subclasses describe it."""

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
    """A connection was closed before its first frame; the subclasses have the reason. Abstract."""

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
    """The operators' port received a request for a foreign host name."""

    level = Level.WARNING
    host: str
    template = (
        "a request to the operators' port is refused: its host is {host}, and this port only"
        " accepts localhost and IP addresses"
    )
