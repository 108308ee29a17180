"""Packets without a TCP segment, or with one in an unusual place."""

import struct
from pathlib import Path

from rocketwire_tools.pcap.decode.decoder import Decoder

_HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
_UDP = 17
_DATAGRAM = struct.pack(">HHHH", 53, 53, 8, 0)
_IPV4 = struct.pack(">BBHHHBBH8x", 0x45, 0, 28, 1, 0, 64, _UDP, 0) + _DATAGRAM
_IPV6 = struct.pack(">IHBB32x", 0x60000000, 8, _UDP, 64) + _DATAGRAM


def _count_skipped(path: Path, packets: list[bytes]) -> dict[str, int]:
    """The packets that the decoder skips in a capture without any row."""
    records = (struct.pack("<4I", 1, 0, len(packet), len(packet)) + packet for packet in packets)
    path.write_bytes(_HEAD + b"".join(records))
    decoder = Decoder(str(path))
    assert [] == [row for batch in decoder for row in batch.to_pylist()]
    return decoder.totals.skipped


def test_capture_of_both_versions_of_ip_without_any_tcp_has_no_rows(tmp_path: Path) -> None:
    packets = [b"\0" * 12 + b"\x08\x00" + _IPV4, b"\0" * 12 + b"\x86\xdd" + _IPV6]
    assert {"not TCP": 2} == _count_skipped(tmp_path / "udp.pcap", packets)
