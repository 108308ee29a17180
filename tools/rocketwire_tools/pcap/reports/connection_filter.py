"""Connections as users name them: both ends as in the column ``connection``, in any order, or
one end."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rocketwire_tools.pcap.rows.redaction import Redaction


class ConnectionNameError(ValueError):
    """A text is not a connection."""


class End(NamedTuple):
    """One end of a connection: an address without brackets, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@lru_cache(1 << 16)
def parse_ends(text: str) -> frozenset[End]:
    """Parse the ends in a text."""
    parts = text.split("-")
    try:
        if len(parts) > 2:
            raise ValueError
        return frozenset(map(_end, parts))
    except ValueError as error:
        example = "10.0.0.1:40000-10.0.0.2:10911, or one end of it"
        raise ConnectionNameError(f"{text!r}: must be a connection like {example}") from error


def _end(text: str) -> End:
    host, _, port = text.strip().rpartition(":")
    number = int(port)
    if not 0 <= number < 1 << 16:
        raise ValueError
    return End(str(ipaddress.ip_address(host.strip("[]"))), number)


class ConnectionFilter:
    """Filters connections.

    Args:
        texts: each selects connections, see ``parse_ends``; may also be masked ends if
            ``redaction`` is given.
        redaction: masks names; None for no masks.
    """

    def __init__(self, texts: list[str], redaction: Redaction | None = None) -> None:
        self.choices = [parse_ends(text) for text in texts]
        self._redaction = redaction

    def __contains__(self, connection: str) -> bool:
        """Whether a connection, as in the column of that name, is selected."""
        names = [connection]
        if self._redaction is not None:
            names.append(self._redaction.connection(connection))
        return any(choice <= parse_ends(name) for name in names for choice in self.choices)
