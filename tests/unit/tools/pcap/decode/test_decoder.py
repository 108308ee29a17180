"""Rows of files, compared with the known frames of captures."""

import gzip
import importlib
import random
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.errors import CaptureError
from tests.peers.foreign.files import SLL, save
from tests.peers.foreign.rows import NONE, PAIRS, content, differences
from tests.peers.foreign.tcp import ACK, Packet
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import SMALL, Made, make


def test_rows_come_in_the_order_of_their_last_captured_byte(lossy: Made) -> None:
    ends = [row["end_time_ns"] for row in rows(lossy.path)]
    assert sorted(ends) == ends


@pytest.mark.parametrize("snaplen", [96, 400, 1000])
def test_short_packets_of_a_capture_hide_no_other_column(snaplen: int, tmp_path: Path) -> None:
    cut = make(tmp_path / "cut.pcap", replace(SMALL, payload=snaplen), 3)
    save(cut.path, cut.packets, payload=snaplen)
    assert NONE == differences(cut.truth, rows(cut.path), but=("gap",))


@pytest.mark.parametrize("has_next_packet", [False, True])
def test_first_segment_without_a_syn_may_come_last(has_next_packet: bool, tmp_path: Path) -> None:
    frame = encode(RemotingCommand(code=10, body=bytes(30_000)))
    ends = (("10.0.0.1", 40_000), ("10.0.0.2", 10911))
    starts = [offset for offset in range(1000, len(frame), 1000) if offset != 9000]
    packets = [
        Packet(number * 1000, *ends, 5000 + offset, 0, ACK, frame[offset : offset + 1000])
        for number, offset in enumerate([*starts, 0])
    ]
    if has_next_packet:
        packets.append(Packet(10**9, ends[1], ends[0], 1, 0, ACK, b""))
    (row,) = rows(save(tmp_path / "late.pcap", packets))
    assert (10, False, True) == (row["code"], row["body_ok"], row["gap"])
    assert len(starts) * 1000 == row["time_ns"] == row["end_time_ns"]


def test_cut_capture_has_all_complete_frames(sample: Made, tmp_path: Path) -> None:
    data = sample.path.read_bytes()
    complete = content(rows(sample.path), but=PAIRS)
    chance = random.Random(4)
    path = tmp_path / "cut.pcap"
    for _ in range(8):
        path.write_bytes(data[: chance.randrange(24, len(data))])
        decoder = Decoder(str(path))
        decoded = [row for batch in decoder for row in batch.to_pylist()]
        latest = max((row["end_time_ns"] for row in decoded), default=0)
        earlier = content(
            (row for row in rows(sample.path) if row["end_time_ns"] < latest), but=PAIRS
        )
        assert not earlier - content(decoded, but=PAIRS)
        assert not content((row for row in decoded if row["body_ok"]), but=PAIRS) - complete


@pytest.mark.parametrize("count", range(1, 24))
def test_capture_cut_within_its_head_has_no_rows(count: int, sample: Made, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(sample.path.read_bytes()[:count])
    decoder = Decoder(str(path))
    assert [] == list(decoder)
    assert decoder.totals.truncated


def _move(end: tuple[str, int]) -> tuple[str, int]:
    """Another end: those of one capture would go on in the next."""
    return end[0].replace("10.", "11.", 1).replace("fd00", "fd01", 1), end[1]


FORMS: list[dict[str, Any]] = [
    {},
    {"order": ">"},
    {"nanoseconds": False},
    {"order": ">", "nanoseconds": False, "link": SLL},
]


@pytest.mark.parametrize("chunk_size", [1 << 20, 16 << 20])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_concatenated_captures_are_read_as_one(
    form: dict[str, Any], chunk_size: int, sample: Made, lossy: Made, tmp_path: Path
) -> None:
    moved = [
        packet._replace(source=_move(packet.source), target=_move(packet.target))
        for packet in lossy.packets
    ]
    second = save(tmp_path / "second.pcap", moved, **form)
    parts = sample.path.read_bytes(), second.read_bytes(), second.read_bytes()[:24]
    path = tmp_path / "both.pcap.gz"
    path.write_bytes(b"".join(map(gzip.compress, parts)))
    decoded = rows(path, Options(chunk_size=chunk_size))
    assert content(rows(sample.path)) + content(rows(second)) == content(decoded)


def test_records_with_larger_headers_are_read(sample: Made, tmp_path: Path) -> None:
    plain = save(tmp_path / "plain.pcap", sample.packets, nanoseconds=False)
    data, offset = plain.read_bytes(), 24
    written = struct.pack("<I", 0xA1B2CD34) + data[4:24]
    while offset < len(data):
        end = offset + 16 + struct.unpack_from("<I", data, offset + 8)[0]
        written += data[offset : offset + 16] + bytes(8) + data[offset + 16 : end]
        offset = end
    path = tmp_path / "larger.pcap"
    path.write_bytes(written)
    assert rows(path) == [row | {"file": str(path)} for row in rows(plain)]


def test_impossible_length_ends_the_reading_with_its_place(sample: Made, tmp_path: Path) -> None:
    data = bytearray(sample.path.read_bytes())
    data[24 + 8 : 24 + 12] = b"\xff\xff\xff\x7f"
    path = tmp_path / "lies.pcap"
    path.write_bytes(data)
    with pytest.raises(CaptureError) as caught:
        rows(path)
    assert (24, str(path)) == (caught.value.offset, caught.value.path)


def test_memory_does_not_grow_with_the_number_of_streams(sample: Made) -> None:
    decoder = Decoder(str(sample.path), Options(max_streams=10, chunk_size=20_000))
    assert sum(batch.num_rows for batch in decoder) > 0
    assert decoder.totals.forgotten > 0
    assert not decoder.totals.skipped


@pytest.mark.process
def test_decoder_does_not_import_the_name_server_or_trio() -> None:
    source = "import sys, rocketwire_tools.pcap.decode.decoder; print([m for m in ('trio', 'pandas', 'rocketwire_namesrv') if m in sys.modules])"
    process = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    assert b"[]" == process.stdout.strip()


@pytest.mark.process
def test_pipe_gives_rows_as_they_come(sample: Made) -> None:
    data = sample.path.read_bytes()
    command = [sys.executable, "-m", "rocketwire_tools.pcap", "live", "--format", "jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(data[:50_000])
        process.stdin.flush()
        first_line = process.stdout.readline()
        output, _ = process.communicate(data[50_000:])
    assert b'"header_ok":true' in first_line
    assert len(sample.truth) == 1 + len(output.splitlines())


@pytest.mark.parametrize("suffix", ["zst", "lz4"])
def test_capture_may_begin_with_empty_frames(suffix: str, sample: Made, tmp_path: Path) -> None:
    compress: Any = (
        zstandard.compress if suffix == "zst" else importlib.import_module("lz4.frame").compress
    )
    path = tmp_path / f"usual.pcap.{suffix}"
    empty = b"\x53\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
    path.write_bytes(2 * empty + compress(sample.path.read_bytes()) + empty)
    assert NONE == differences(sample.truth, rows(path))

    path.write_bytes(empty[:-2])
    assert [] == rows(path)


def _with_headers(data: bytes, headers: Sequence[tuple[int, bytes]]) -> bytes:
    """An IPv6 packet with more headers in front of the last one; any other as it is."""
    offset = 12
    while data[offset : offset + 2] in (b"\x81\x00", b"\x88\xa8"):
        offset += 4
    offset += 2
    if data[offset - 2 : offset] != b"\x86\xdd":
        return data
    numbers = [*(number for number, _ in headers), data[offset + 6]]
    added = b"".join(
        bytes([number]) + content for number, (_, content) in zip(numbers[1:], headers, strict=True)
    )
    length = int.from_bytes(data[offset + 4 : offset + 6], "big")
    front = data[: offset + 4] + (length + len(added)).to_bytes(2, "big") + bytes([numbers[0]])
    return front + data[offset + 7 : offset + 40] + added + data[offset + 40 : offset + 40 + length]


@pytest.mark.parametrize(
    ("headers", "are_read"),
    [
        ([(0, b"\0" + bytes(6)), (60, b"\1" + bytes(14)), (43, b"\0" + bytes(6))], True),
        ([(51, b"\4" + bytes(22))], True),
        ([(44, b"\0\0\0" + bytes(4))], True),
        ([(44, b"\0\0\1" + bytes(4))], False),
        ([(44, b"\0\0\x08" + bytes(4))], False),
    ],
    ids=["options", "authentication", "the only fragment", "the first of many", "another"],
)
def test_headers_between_ipv6_and_tcp_are_skipped(
    headers: list[tuple[int, bytes]], are_read: bool, sample: Made, tmp_path: Path
) -> None:
    data = sample.path.read_bytes()
    written = bytearray(data[:24])
    offset = 24
    while offset < len(data):
        second, fraction, captured, wire = struct.unpack_from("<4I", data, offset)
        packet = _with_headers(data[offset + 16 : offset + 16 + captured], headers)
        written += (
            struct.pack("<4I", second, fraction, len(packet), max(wire, len(packet))) + packet
        )
        offset += 16 + captured
    path = tmp_path / "headers.pcap"
    path.write_bytes(written)
    decoder = Decoder(str(path))
    decoded = [row for batch in decoder for row in batch.to_pylist()]
    hosts = {row["src"] for row in decoded}
    assert any(":" in host for host in hosts) == are_read
    assert bool(decoder.totals.skipped["IP fragment"]) != are_read
    if are_read:
        assert NONE == differences(sample.truth, decoded)


def test_impossible_times_cause_no_warning(sample: Made, tmp_path: Path) -> None:
    path = save(tmp_path / "far.pcapng", sample.packets, pcapng=True)
    data = bytearray(path.read_bytes())
    packet = next(packet for packet in sample.packets if packet.source[1] % 2 == 0)
    offset = data.index(struct.pack("<II", packet.time_ns >> 32, packet.time_ns & 0xFFFFFFFF))
    data[offset : offset + 4] = struct.pack("<I", 0x80000000)
    path.write_bytes(data)
    assert rows(path)


def test_capture_of_both_versions_of_ip_without_any_tcp_has_no_rows(tmp_path: Path) -> None:
    datagram = struct.pack(">HHHH", 53, 53, 8, 0)
    version_4 = struct.pack(">BBHHHBBH8x", 0x45, 0, 28, 1, 0, 64, 17, 0) + datagram
    version_6 = struct.pack(">IHBB32x", 0x60000000, 8, 17, 64) + datagram
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    for packet in (bytes(12) + b"\x08\x00" + version_4, bytes(12) + b"\x86\xdd" + version_6):
        data += struct.pack("<4I", 1, 0, len(packet), len(packet)) + packet
    path = tmp_path / "udp.pcap"
    path.write_bytes(data)
    decoder = Decoder(str(path))
    assert not any(batch.num_rows for batch in decoder)
    assert decoder.totals.skipped == {"not TCP": 2}
