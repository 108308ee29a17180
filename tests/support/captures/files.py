"""Packets as files: pcap of every kind, pcapng, and the link layers."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.captures.network import Packet

ETHERNET, NULL, RAW, SLL, SLL2 = 1, 0, 101, 113, 276


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """How a capture is written.

    Attributes:
        order: ``<`` or ``>``.
        nanoseconds: resolution of the times; microseconds otherwise.
        link: link type.
        pcapng: whether it is one; ``link`` and Ethernet are then two interfaces.
        payload: bytes of each packet's payload that are kept; 0 for all.
    """

    order: str = "<"
    nanoseconds: bool = True
    link: int = ETHERNET
    pcapng: bool = False
    payload: int = 0


@lru_cache(100_000)
def _packed(host: str) -> bytes:
    return ipaddress.ip_address(host).packed


def _ip(packet: Packet) -> tuple[bytes, int]:
    """Headers of IP and TCP, and the Ethernet type."""
    source, target = _packed(packet.source[0]), _packed(packet.target[0])
    tcp = struct.pack(
        ">HHIIBBHHH", packet.source[1], packet.target[1], packet.sequence, packet.acknowledged,
        0x80, packet.flags, 65535, 0, 0,
    ) + b"\x01\x01\x08\x0a\0\0\0\0\0\0\0\0"  # fmt: skip
    length = len(tcp) + len(packet.data)
    if len(source) == 4:
        head = struct.pack(">BBHHHBBH", 0x45, 0, length + 20, 1, 0x4000, 64, 6, 0)
        return head + source + target + tcp, 0x0800
    head = struct.pack(">IHBB", 0x60000000, length, 6, 64)
    return head + source + target + tcp, 0x86DD


def _link(link: int, file_kind: int, packet: Packet) -> bytes:
    if link == RAW:
        return b""
    if link == NULL:
        return struct.pack("<I", 2 if file_kind == 0x0800 else 30)
    if link == SLL:
        return struct.pack(">HHH8sH", 0, 1, 6, b"\0" * 8, file_kind)
    if link == SLL2:
        return struct.pack(">HHIHBB8s", file_kind, 0, 1, 1, 0, 6, b"\0" * 8)
    tag = (packet.source[1] + packet.target[1]) % 25
    tags = (
        b"\x81\x00\x00\x05" if tag < 4 else b"\x88\xa8\x00\x07\x81\x00\x00\x05" if tag < 5 else b""
    )
    return b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02" + tags + struct.pack(">H", file_kind)


def _bytes_of(packet: Packet, file_kind: FileKind, link: int) -> tuple[bytes, int]:
    head, ethernet = _ip(packet)
    head = _link(link, ethernet, packet) + head
    data = packet.data[: file_kind.payload] if file_kind.payload else packet.data
    packet_bytes = head + data
    wire = len(head) + len(packet.data)
    if link == ETHERNET and wire < 60:
        padding = b"\0" * (60 - wire)
        return packet_bytes + padding, 60
    return packet_bytes, wire


def write(file: BinaryIO, packets: Iterable[Packet], file_kind: FileKind) -> None:
    """Write packets, which are in the order of time."""
    if file_kind.pcapng:
        _write_pcapng(file, packets, file_kind)
        return
    magic = 0xA1B23C4D if file_kind.nanoseconds else 0xA1B2C3D4
    file.write(struct.pack(f"{file_kind.order}IHHiIII", magic, 2, 4, 0, 0, 262144, file_kind.link))
    head = struct.Struct(f"{file_kind.order}IIII").pack
    unit = 1 if file_kind.nanoseconds else 1000
    for packet in packets:
        data, wire = _bytes_of(packet, file_kind, file_kind.link)
        seconds, nanoseconds = divmod(packet.time_ns, 1_000_000_000)
        file.write(head(seconds, nanoseconds // unit, len(data), wire))
        file.write(data)


def _block(order: str, block_type: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    length = len(body) + 12
    return struct.pack(f"{order}II", block_type, length) + body + struct.pack(f"{order}I", length)


def _write_pcapng(file: BinaryIO, packets: Iterable[Packet], file_kind: FileKind) -> None:
    order = file_kind.order
    file.write(_block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)))
    resolution = struct.pack(f"{order}HHB3xHH", 9, 1, 9, 0, 0)
    file.write(_block(order, 1, struct.pack(f"{order}HHI", file_kind.link, 0, 0) + resolution))
    file.write(_block(order, 1, struct.pack(f"{order}HHI", ETHERNET, 0, 0)))
    file.write(_block(order, 5, b"\0" * 12))
    for packet in packets:
        second = packet.source[1] % 2
        data, wire = _bytes_of(packet, file_kind, ETHERNET if second else file_kind.link)
        stamp = packet.time_ns // 1000 if second else packet.time_ns
        head = struct.pack(
            f"{order}IIIII", second, stamp >> 32, stamp & 0xFFFFFFFF, len(data), wire
        )
        file.write(_block(order, 6, head + data))
