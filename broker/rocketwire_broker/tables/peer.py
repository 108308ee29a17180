"""A connection, as the tables and handlers know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.wire.message.host import Host


class Peer:
    """The other side of a connection.

    Attributes:
        number: number of the connection, never reused.
        address: ``host:port``.
        host: the same as a value, as stored messages have it.
        out: frames to send to it, in order; the driver empties it.
        held: number of its requests that wait.
        first_ends: ends of queues, by topic and queue id, when a consumer that begins at the end
            asked for an offset and there was none; it asks for the end next.
        gone: whether the connection has ended.
    """

    __slots__ = (
        "address",
        "first_ends",
        "gone",
        "held",
        "host",
        "next_opaque",
        "number",
        "out",
    )

    def __init__(self, number: int, address: str, host: Host) -> None:
        self.number = number
        self.address = address
        self.host = host
        self.out: list[bytes] = []
        self.held = 0
        self.first_ends: dict[tuple[str, int], int] = {}
        self.gone = False
        self.next_opaque = 0

    def new_opaque(self) -> int:
        """Return the number of the next request to it."""
        self.next_opaque = self.next_opaque + 1 & 0x7FFFFFFF
        return self.next_opaque
