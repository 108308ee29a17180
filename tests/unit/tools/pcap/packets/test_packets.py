"""Packets that hold no TCP segment, or hold it where nobody looks."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder
from rocketwire_tools.pcap.packets.packets import UNREAD

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
_UDP = 17
_DATAGRAM = struct.pack(">HHHH", 53, 53, 8, 0)
_IPV4 = struct.pack(">BBHHHBBH8x", 0x45, 0, 28, 1, 0, 64, _UDP, 0) + _DATAGRAM
_IPV6 = struct.pack(">IHBB32x", 0x60000000, 8, _UDP, 64) + _DATAGRAM


def _skipped(path: Path, packets: list[bytes]) -> dict[str, int]:
    """What is said of a capture without any row."""
    made = (struct.pack("<4I", 1, 0, len(each), len(each)) + each for each in packets)
    path.write_bytes(_HEAD + b"".join(made))
    decoder = Decoder(str(path))
    assert [] == [row for batch in decoder for row in batch.to_pylist()]
    return decoder.totals.skipped


def _ip(protocol: int, data: bytes) -> bytes:
    return struct.pack(">BBHHHBBH8x", 0x45, 0, 20 + len(data), 1, 0, 64, protocol, 0) + data


def _ipv6(protocol: int, data: bytes) -> bytes:
    return struct.pack(">IHBB32x", 0x60000000, len(data), protocol, 64) + data


def _to(port: int) -> bytes:
    return struct.pack(">HHHH", 40_000, port, 8, 0)


@pytest.mark.parametrize(
    ("kind", "data", "name"),
    [
        (0x0800, _ip(47, b"\0\0\x08\0"), "tunnel GRE"),
        (0x86DD, _ipv6(47, b"\0\0\x08\0"), "tunnel GRE"),
        (0x0800, _ip(4, b""), "tunnel IP in IP"),
        (0x0800, _ip(50, b""), "tunnel IPsec"),
        (0x0800, _ip(_UDP, _to(4789)), "tunnel VXLAN"),
        (0x86DD, _ipv6(_UDP, _to(8472)), "tunnel VXLAN"),
        (0x0800, _ip(_UDP, _to(6081)), "tunnel Geneve"),
        (0x8847, b"\0\0\1\x40", "tunnel MPLS"),
        (0x8864, b"\x11\0\0\1", "tunnel PPPoE"),
        (0x8100, b"\0\1\x81\0" * 3 + b"\0\1\x08\0", "tunnel of more than three VLAN tags"),
        (0x0800, _ip(_UDP, b""), "not TCP"),
        (0x0806, b"", "not IP"),
    ],
)
def test_packets_that_may_hold_others_are_named(
    kind: int, data: bytes, name: str, tmp_path: Path
) -> None:
    packet = b"\0" * 12 + struct.pack(">H", kind) + data
    assert {name: 2} == _skipped(tmp_path / "tunnel.pcap", [packet, packet])
    assert name.startswith(UNREAD) == name.startswith("tunnel")


def test_a_capture_of_both_versions_of_ip_without_any_tcp_has_no_rows(tmp_path: Path) -> None:
    packets = [b"\0" * 12 + b"\x08\x00" + _IPV4, b"\0" * 12 + b"\x86\xdd" + _IPV6]
    assert {"not TCP": 2} == _skipped(tmp_path / "udp.pcap", packets)
