"""A connection as the user names it: both its ends as in the column ``connection``, in any order, or one of them."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rocketwire_tools.pcap.rows.redaction import Redaction


class NoConnectionError(ValueError):
    """A text names no connection."""


class End(NamedTuple):
    """One end of a connection: an address without brackets, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@lru_cache(1 << 16)
def ends_of(text: str) -> frozenset[End]:
    """The ends that a text names.

    Raises:
        NoConnectionError: it names none.
    """
    parts = text.split("-")
    try:
        if len(parts) > 2:
            raise ValueError
        return frozenset(map(_end, parts))
    except ValueError as error:
        wanted = "10.0.0.1:40000-10.0.0.2:10911, or one end of it"
        raise NoConnectionError(f"{text!r} is no connection like {wanted}") from error


def _end(text: str) -> End:
    host, _, port = text.strip().rpartition(":")
    number = int(port)
    if not 0 <= number < 1 << 16:
        raise ValueError
    return End(str(ipaddress.ip_address(host.strip("[]"))), number)


class Wanted:
    """Tells the wanted connections from others.

    Args:
        texts: each names some; see ``ends_of``.  Masked ends do as well where masks are made.
        redaction: makes the masks; None for none.

    Raises:
        NoConnectionError: one of the texts names none.
    """

    def __init__(self, texts: list[str], redaction: Redaction | None = None) -> None:
        self.choices = [ends_of(text) for text in texts]
        self._redaction = redaction

    def __contains__(self, connection: str) -> bool:
        """Whether a connection, as in the column of that name, is wanted."""
        names = [connection]
        if self._redaction is not None:
            names.append(self._redaction.connection(connection))
        return any(choice <= ends_of(name) for name in names for choice in self.choices)
