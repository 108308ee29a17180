"""A connection, as the tables and handlers know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.wire.message.host import Host


class Peer:
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
        self.number = number  # number of the connection, never reused
        self.address = address  # ``host:port``
        self.host = host  # the address as stored messages have it
        self.out: list[bytes] = []  # frames to send to it, in order; the driver empties it
        self.unsent = 0  # bytes for it that its socket has not taken
        self.buffered = 0  # bytes from it that are not handled
        self.held = 0  # number of its requests that wait for messages
        self.held_bytes = 0  # bytes that these take
        # ends of queues, by topic and queue id, when a consumer that begins at the end asked for an
        # offset and there was none; it asks for the end next
        self.first_ends: dict[tuple[str, int], int] = {}
        self.gone = False  # whether the connection has ended
        self.next_opaque = 0

    def new_opaque(self) -> int:
        self.next_opaque = self.next_opaque + 1 & 0x7FFFFFFF
        return self.next_opaque
