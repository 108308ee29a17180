"""Captures as files, written from the documents of pcap, pcapng and the link types."""

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from tests.peers.foreign.tcp import SYN, Packet

ETHERNET: Final = 1
NULL: Final = 0
RAW: Final = 101
SLL: Final = 113
SLL2: Final = 276
_SNAPLEN: Final = 262_144
_MINIMUM: Final = 60
"""Bytes of the shortest Ethernet frame without its checksum: shorter packets are padded."""
_SYN_OPTIONS: Final = bytes.fromhex("020405b4 0402 080a0000000100000000 01 030307")


_End = tuple[str, int]
_Head = tuple[bytes, bytes, bytes, bytes, int, bool]


@dataclass(slots=True)
class Writer:
    """Writes packets into a file, with microseconds unless it shall have nanoseconds.

    ``payload`` is the number of bytes that are kept of each packet; 0 for all.
    In a pcapng file, packets from odd ports belong to a second interface, which is Ethernet.
    """

    file: BinaryIO
    nanoseconds: bool = False
    order: str = "<"
    link: int = ETHERNET
    payload: int = 0
    pcapng: bool = False
    _heads: dict[tuple[_End, _End], _Head] = field(
        default_factory=dict["tuple[_End, _End]", "_Head"]
    )

    def write(self, packets: Iterable[Packet]) -> None:
        self.file.write(self._head())
        parts: list[bytes] = []
        for packet in packets:
            data = self._frame(packet)
            wire = len(data)
            if self.payload and len(packet.data) > self.payload:
                data = data[: self.payload - len(packet.data)]
            parts += (self._record(packet, len(data), wire), data)
            if self.pcapng:
                parts.append(
                    bytes(-len(data) % 4) + struct.pack(self.order + "I", 32 + (len(data) + 3 & ~3))
                )
            if len(parts) > 20_000:
                self.file.write(b"".join(parts))
                parts.clear()
        self.file.write(b"".join(parts))

    def _head(self) -> bytes:
        if not self.pcapng:
            magic = 0xA1B23C4D if self.nanoseconds else 0xA1B2C3D4
            return struct.pack(self.order + "IHHiIII", magic, 2, 4, 0, 0, _SNAPLEN, self.link)
        section = struct.pack(self.order + "IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
        resolution = struct.pack(self.order + "HHB3xHH", 9, 1, 9 if self.nanoseconds else 6, 0, 0)
        size = 20 + len(resolution)
        end = struct.pack(self.order + "I", size)
        interfaces = (
            struct.pack(self.order + "IIHHI", 1, size, link, 0, _SNAPLEN) + resolution + end
            for link in (self.link, ETHERNET)
        )
        return section + b"".join(interfaces)

    def _record(self, packet: Packet, kept: int, wire: int) -> bytes:
        if self.pcapng:
            time = packet.time_ns if self.nanoseconds else packet.time_ns // 1000
            size = 32 + (kept + 3 & ~3)
            number, high, low = packet.source[1] % 2, time >> 32, time & 0xFFFFFFFF
            return struct.pack(self.order + "7I", 6, size, number, high, low, kept, wire)
        seconds, nanoseconds = divmod(packet.time_ns, 1_000_000_000)
        fraction = nanoseconds if self.nanoseconds else nanoseconds // 1000
        return struct.pack(self.order + "IIII", seconds, fraction, kept, wire)

    def _link(self, source: tuple[str, int]) -> int:
        return ETHERNET if self.pcapng and source[1] % 2 else self.link

    def _frame(self, packet: Packet) -> bytes:
        ends = packet.source, packet.target
        if ends not in self._heads:
            self._heads[ends] = self._of_ends(*ends)
        link, ends_header, tcp_header, ports, base, four = self._heads[ends]
        if packet.flags & SYN:
            options, words = _SYN_OPTIONS, 10
        elif packet.timestamps:
            stamp = packet.time_ns // 1_000_000 & 0xFFFFFFFF
            options = struct.pack(">III", 0x0101080A, stamp, stamp - 1 & 0xFFFFFFFF)
            words = 8
        else:
            options, words = b"", 5
        tcp = struct.pack(
            ">IIBBHI", packet.sequence, packet.acknowledged, words << 4, packet.flags, 501, 0
        )
        length = 4 * words + len(packet.data)
        if four:
            total = base + length + 20
            total = (total & 0xFFFF) + (total >> 16)
            middle = struct.pack(">H", length + 20)
            check = struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
            middle += b"\0\0\x40\0\x40\x06" + check
        else:
            middle = struct.pack(">H", length) + b"\x06\x40"
        head = link + ends_header + middle + tcp_header + ports + tcp
        frame = head + options + packet.data
        if len(frame) < _MINIMUM and self._link(packet.source) == ETHERNET:
            frame += bytes(_MINIMUM - len(frame))
        return frame

    def _of_ends(self, source: _End, target: _End) -> _Head:
        addresses = ipaddress.ip_address(source[0]).packed, ipaddress.ip_address(target[0]).packed
        four = len(addresses[0]) == 4
        ether_type = 0x0800 if four else 0x86DD
        link_type = self._link(source)
        if link_type == ETHERNET:
            link = b"\x02\0" + addresses[1][-4:] + b"\x02\0" + addresses[0][-4:]
            if max(source[1], target[1]) % 11 == 0:
                outer = struct.pack(">HH", 0x88A8, 5) if min(source[1], target[1]) % 2 else b""
                link += outer + struct.pack(">HH", 0x8100, 7)
            link += struct.pack(">H", ether_type)
        elif link_type == SLL:
            link = struct.pack(">HHH8sH", 0, 1, 6, b"\x02\0" + addresses[0][-4:], ether_type)
        elif link_type == SLL2:
            host = b"\x02\0" + addresses[0][-4:]
            link = struct.pack(">HHIHBB8s", ether_type, 0, 1, 1, 0, 6, host)
        elif link_type == NULL:
            link = struct.pack("<I", 2 if four else 30)
        else:
            link = b""
        ports = struct.pack(">HH", source[1], target[1])
        tcp_header = b"".join(addresses)
        if not four:
            return link, b"\x60\0\0\0", tcp_header, ports, 0, False
        words = struct.unpack(">10H", b"\x45\0\0\0\0\0\x40\0\x40\x06\0\0" + tcp_header)
        return link, b"\x45\0", tcp_header, ports, sum(words), True


def save(path: Path, packets: Iterable[Packet], **options: Any) -> Path:
    """Write a capture, with nanoseconds unless its kind has other units."""
    with path.open("wb") as file:
        options.setdefault("nanoseconds", True)
        Writer(file, **options).write(packets)
    return path
