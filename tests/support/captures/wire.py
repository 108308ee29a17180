"""Packets between a client and a server."""

from dataclasses import dataclass, field
from typing import Final

from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, encode
from tests.peers.foreign.tcp import ACK, SYN, Packet

CLIENT: Final = ("10.0.0.1", 50_000)
SERVER: Final = ("10.0.0.2", 10911)
START: Final = 1_700_000_000_000_000_000
"""Time of the first packet, in nanoseconds."""
RESPONSE: Final = int(CommandFlag.RESPONSE)


def frame(code: int, opaque: int, flag: int = 0, body: bytes = b"") -> bytes:
    return encode(RemotingCommand(code=code, opaque=opaque, flag=flag, body=body or None))


@dataclass
class Wire:
    packets: list[Packet] = field(default_factory=list[Packet])
    next: dict[tuple[str, int], int] = field(default_factory=lambda: {CLIENT: 1000, SERVER: 2000})

    def connect(self, client: int = 1000, server: int = 2000) -> None:
        self.next = {CLIENT: client, SERVER: server}
        for source in (CLIENT, SERVER):
            self.packet(source, self.next[source] - 1, b"", SYN if source == CLIENT else SYN | ACK)

    def packet(self, source: tuple[str, int], sequence: int, data: bytes, flags: int = ACK) -> None:
        target = SERVER if source == CLIENT else CLIENT
        time_ns = START + len(self.packets) * 1_000_000
        self.packets.append(Packet(time_ns, source, target, sequence % (1 << 32), 0, flags, data))

    def say(self, source: tuple[str, int], data: bytes, size: int = 1000) -> list[int]:
        """Send bytes in segments; returns the numbers of their packets."""
        numbers: list[int] = []
        for start in range(0, len(data), size):
            numbers.append(len(self.packets))
            self.packet(source, self.next[source], data[start : start + size])
            self.next[source] += len(data[start : start + size])
        return numbers

    def swap(self, first: int, second: int) -> None:
        a, b = self.packets[first], self.packets[second]
        self.packets[first] = b._replace(time_ns=a.time_ns)
        self.packets[second] = a._replace(time_ns=b.time_ns)
