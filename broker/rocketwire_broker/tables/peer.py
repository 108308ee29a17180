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
        unsent: bytes for it that its socket has not taken.
        buffered: bytes from it that are not handled.
        held: number of its requests that wait for messages.
        held_bytes: bytes that these take.
        first_ends: ends of queues, by topic and queue id, when a consumer that begins at the end
            asked for an offset and there was none; it asks for the end next.
        gone: whether the connection has ended.
    """

    __slots__ = (
        "address",
        "buffered",
        "first_ends",
        "gone",
        "held",
        "held_bytes",
        "host",
        "next_opaque",
        "number",
        "out",
        "unsent",
    )

    def __init__(self, number: int, address: str, host: Host) -> None:
        self.number = number
        self.address = address
        self.host = host
        self.out: list[bytes] = []
        self.unsent = 0
        self.buffered = 0
        self.held = 0
        self.held_bytes = 0
        self.first_ends: dict[tuple[str, int], int] = {}
        self.gone = False
        self.next_opaque = 0

    def new_opaque(self) -> int:
        """Return the number of the next request to it."""
        self.next_opaque = self.next_opaque + 1 & 0x7FFFFFFF
        return self.next_opaque
