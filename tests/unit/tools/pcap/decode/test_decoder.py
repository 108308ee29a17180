"""The whole way from a file to rows, against captures of which the truth is known."""

from __future__ import annotations

import gzip
import importlib
import lzma
import random
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.errors import CaptureError
from tests.support.captures.builder import make, save
from tests.support.captures.decoded_rows import expected, frames, rows
from tests.support.captures.files import NULL, RAW, SLL, SLL2, FileKind
from tests.support.captures.fixtures import SMALL
from tests.support.captures.network import ACK, CLEAN, Packet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.captures.fixtures import Made


@pytest.mark.parametrize("link", [SLL2, NULL])
def test_cooked_packets_of_version_2_and_loopback_hold_the_same(
    link: int, usual: Made, tmp_path: Path
) -> None:
    path = save(tmp_path / "kind.pcap", usual.packets, FileKind(link=link))
    assert expected(usual.truth) == frames(rows(path))


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("link", [SLL, RAW])
def test_a_pcapng_of_two_interfaces_with_two_resolutions(
    order: str, link: int, usual: Made, tmp_path: Path
) -> None:
    path = save(
        tmp_path / "two.pcapng", usual.packets, FileKind(pcapng=True, order=order, link=link)
    )
    wanted = Counter(
        (*key[:4], key[4] if key[1] % 2 == 0 else key[4] - key[4] % 1000, *key[5:])
        for key in expected(usual.truth, ends=False).elements()
    )
    assert wanted == frames(rows(path), ends=False)


def test_rows_come_in_the_order_of_their_last_captured_byte(lossy: Made) -> None:
    ends = [row["end_time_ns"] for row in rows(lossy.path)]
    assert sorted(ends) == ends


@pytest.mark.parametrize("snaplen", [96, 400, 1000])
def test_what_was_cut_by_the_capture_does_not_hide_what_was_not(
    snaplen: int, tmp_path: Path
) -> None:
    packets, truth = make(SMALL, seed=3, trouble=replace(CLEAN, snaplen=snaplen))
    path = save(tmp_path / "cut.pcap", packets, FileKind(payload=snaplen))
    assert expected(truth) == frames(rows(path))


@pytest.mark.parametrize("goes_on", [False, True])
def test_the_first_segment_may_be_captured_last_without_any_syn(
    goes_on: bool, tmp_path: Path
) -> None:
    frame = encode(RemotingCommand(code=10, body=bytes(30_000)))
    ends = (("10.0.0.1", 40_000), ("10.0.0.2", 10911))
    starts = [at for at in range(1000, len(frame), 1000) if at != 9000]
    packets = [
        Packet(number * 1000, *ends, 5000 + at, 0, ACK, frame[at : at + 1000])
        for number, at in enumerate([*starts, 0])
    ]
    if goes_on:
        packets.append(Packet(10**9, ends[1], ends[0], 1, 0, ACK, b""))
    (row,) = rows(save(tmp_path / "late.pcap", packets))
    assert (10, False, True) == (row["code"], row["body_ok"], row["gap"])
    assert len(starts) * 1000 == row["time_ns"] == row["end_time_ns"]


@pytest.mark.slow
def test_a_capture_that_was_cut_anywhere_yields_everything_complete_in_it(
    usual: Made, tmp_path: Path
) -> None:
    data = usual.path.read_bytes()
    whole = frames(rows(usual.path))
    chance = random.Random(4)
    path = tmp_path / "cut.pcap"
    for _ in range(8):
        path.write_bytes(data[: chance.randrange(24, len(data))])
        decoder = Decoder(str(path))
        found = [row for batch in decoder for row in batch.to_pylist()]
        latest = max((row["end_time_ns"] for row in found), default=0)
        before = frames(row for row in rows(usual.path) if row["end_time_ns"] < latest)
        assert not before - frames(found)
        assert not frames(row for row in found if row["body_ok"]) - whole


@pytest.mark.parametrize("count", range(1, 24))
def test_a_capture_that_was_cut_within_its_head_has_no_rows(
    count: int, usual: Made, tmp_path: Path
) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(usual.path.read_bytes()[:count])
    decoder = Decoder(str(path))
    assert [] == list(decoder)
    assert decoder.totals.truncated


def _moved(end: tuple[str, int]) -> tuple[str, int]:
    """Another end: those of one capture would go on in the next."""
    return end[0].replace("10.", "11.", 1).replace("db8", "db9", 1), end[1]


OTHER_KINDS = (
    FileKind(),
    FileKind(order=">"),
    FileKind(nanoseconds=False),
    FileKind(order=">", nanoseconds=False, link=SLL),
)


@pytest.mark.slow
@pytest.mark.parametrize("chunk_size", [1 << 20, 16 << 20])
@pytest.mark.parametrize("kind", OTHER_KINDS, ids=str)
def test_captures_that_were_put_one_behind_the_other_are_read_as_one(
    kind: FileKind, chunk_size: int, usual: Made, lossy: Made, tmp_path: Path
) -> None:
    moved = [
        one._replace(source=_moved(one.source), target=_moved(one.target)) for one in lossy.packets
    ]
    second = save(tmp_path / "second.pcap", moved, kind)
    parts = usual.path.read_bytes(), second.read_bytes(), second.read_bytes()[:24]
    path = tmp_path / "both.pcap.gz"
    path.write_bytes(b"".join(map(gzip.compress, parts)))
    found = rows(path, Options(chunk_size=chunk_size))
    assert frames(rows(usual.path)) + frames(rows(second)) == frames(found)


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcap"
    path.write_bytes(b"")
    assert [] == rows(path)


def test_a_compressed_capture_that_was_cut_off_gives_what_is_there(
    usual: Made, tmp_path: Path
) -> None:
    path = tmp_path / "cut.pcap.gz"
    data = gzip.compress(usual.path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    found = rows(path)
    assert 0 < len(found) < sum(expected(usual.truth).values())


def test_a_damaged_compressed_capture_is_refused_by_name(usual: Made, tmp_path: Path) -> None:
    path = tmp_path / "bad.pcap.gz"
    data = bytearray(gzip.compress(usual.path.read_bytes()))
    data[len(data) // 2 : len(data) // 2 + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(CaptureError, match=r"bad\.pcap\.gz.*cannot be inflated"):
        rows(path)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt.xz"
    path.write_bytes(lzma.compress(b"no capture" * 100))
    with pytest.raises(CaptureError, match="neither a pcap nor a pcapng"):
        rows(path)


def test_a_length_that_nothing_has_ends_the_reading_with_its_place(
    usual: Made, tmp_path: Path
) -> None:
    data = bytearray(usual.path.read_bytes())
    data[24 + 8 : 24 + 12] = b"\xff\xff\xff\x7f"
    path = tmp_path / "lies.pcap"
    path.write_bytes(data)
    with pytest.raises(CaptureError) as caught:
        rows(path)
    assert (24, str(path)) == (caught.value.offset, caught.value.path)


def test_memory_does_not_grow_with_the_number_of_streams(usual: Made) -> None:
    decoder = Decoder(str(usual.path), Options(max_streams=10))
    assert sum(batch.num_rows for batch in decoder) > 0
    assert decoder.totals.forgotten > 0


@pytest.mark.process
def test_the_decoder_does_not_import_the_name_server_or_trio() -> None:
    source = "import sys, rocketwire_tools.pcap.decode.decoder; print([m for m in ('trio', 'pandas', 'rocketwire_namesrv') if m in sys.modules])"
    made = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    assert b"[]" == made.stdout.strip()


@pytest.mark.process
def test_a_pipe_gives_rows_as_they_come(usual: Made) -> None:
    data = usual.path.read_bytes()
    command = [sys.executable, "-m", "rocketwire_tools.pcap", "live", "--format", "jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(data[:50_000])
        process.stdin.flush()
        first = process.stdout.readline()
        rest, _ = process.communicate(data[50_000:])
    assert b'"header_ok":true' in first
    assert sum(expected(usual.truth).values()) == 1 + len(rest.splitlines())


@pytest.mark.parametrize("suffix", ["gz", "lz4"])
def test_what_comes_before_damage_in_a_compressed_capture_is_given(
    suffix: str, usual: Made, tmp_path: Path
) -> None:
    compress: Any = (
        gzip.compress if suffix == "gz" else importlib.import_module("lz4.frame").compress
    )
    path = tmp_path / f"usual.pcap.{suffix}"
    path.write_bytes(compress(usual.path.read_bytes()) + b"no member of it")
    found: list[dict[str, Any]] = []
    batches = iter(Decoder(str(path)))
    with pytest.raises(CaptureError, match="cannot be inflated"):
        found += (row for batch in batches for row in batch.to_pylist())
    whole = expected(usual.truth)
    assert sum((whole - frames(found)).values()) < sum(whole.values()) // 10
    assert not frames(found) - whole


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"])
def test_a_capture_of_which_nothing_can_be_inflated_is_refused(
    magic: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "bad.pcap"
    path.write_bytes(magic + b"\xff" * 64)
    with pytest.raises(CaptureError, match="cannot be inflated"):
        rows(path)


def test_all_members_in_front_of_what_is_none_are_given(usual: Made, tmp_path: Path) -> None:
    data = usual.path.read_bytes()
    members = [gzip.compress(part) for part in (data[:100], b"", data[100:50_000])]
    path = tmp_path / "members.pcap.gz"
    path.write_bytes(b"".join(members) + b"\0" * 512)
    whole = rows(path)
    assert whole

    path.write_bytes(b"".join(members) + b"no member of it")
    found: list[dict[str, Any]] = []
    batches = iter(Decoder(str(path)))
    with pytest.raises(CaptureError, match="cannot be inflated"):
        found += (row for batch in batches for row in batch.to_pylist())
    assert whole == found


def test_a_short_compressed_capture_that_was_cut_off_gives_what_is_there(
    usual: Made, tmp_path: Path
) -> None:
    path = tmp_path / "cut.pcap.gz"
    data = usual.path.read_bytes()[: 1 << 19]
    packed = gzip.compress(data)
    path.write_bytes(packed[: len(packed) - 4])
    assert rows(path)


@pytest.mark.parametrize("suffix", ["zst", "lz4"])
def test_a_capture_may_begin_with_frames_that_hold_no_data(
    suffix: str, usual: Made, tmp_path: Path
) -> None:
    compress: Any = (
        zstandard.compress if suffix == "zst" else importlib.import_module("lz4.frame").compress
    )
    path = tmp_path / f"usual.pcap.{suffix}"
    empty = b"\x53\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
    path.write_bytes(2 * empty + compress(usual.path.read_bytes()) + empty)
    assert expected(usual.truth) == frames(rows(path))

    path.write_bytes(empty[:-2])
    assert [] == rows(path)


def _with_headers(data: bytes, headers: Sequence[tuple[int, bytes]]) -> bytes:
    """An IPv6 packet with more headers in front of the last one; any other as it is."""
    at = 12
    while data[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    at += 2
    if data[at - 2 : at] != b"\x86\xdd":
        return data
    kinds = [*(kind for kind, _ in headers), data[at + 6]]
    more = b"".join(
        bytes([kind]) + rest for kind, (_, rest) in zip(kinds[1:], headers, strict=True)
    )
    length = int.from_bytes(data[at + 4 : at + 6], "big")
    front = data[: at + 4] + (length + len(more)).to_bytes(2, "big") + bytes([kinds[0]])
    return front + data[at + 7 : at + 40] + more + data[at + 40 : at + 40 + length]


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
def test_headers_in_front_of_tcp_are_skipped_where_ipv6_has_them(
    headers: list[tuple[int, bytes]], are_read: bool, usual: Made, tmp_path: Path
) -> None:
    data = usual.path.read_bytes()
    made = bytearray(data[:24])
    at = 24
    while at < len(data):
        second, rest, captured, wire = struct.unpack_from("<4I", data, at)
        packet = _with_headers(data[at + 16 : at + 16 + captured], headers)
        made += struct.pack("<4I", second, rest, len(packet), max(wire, len(packet))) + packet
        at += 16 + captured
    path = tmp_path / "headers.pcap"
    path.write_bytes(made)
    decoder = Decoder(str(path))
    found = [row for batch in decoder for row in batch.to_pylist()]
    hosts = {row["src"] for row in found}
    assert any(":" in host for host in hosts) == are_read
    assert bool(decoder.totals.skipped["IP fragment"]) != are_read
    if are_read:
        assert expected(usual.truth) == frames(found)


def test_times_that_no_clock_has_end_in_rows_without_a_warning(usual: Made, tmp_path: Path) -> None:
    path = save(tmp_path / "far.pcapng", usual.packets, FileKind(pcapng=True))
    data = bytearray(path.read_bytes())
    packet = next(one for one in usual.packets if one.source[1] % 2 == 0)
    at = data.index(struct.pack("<II", packet.time_ns >> 32, packet.time_ns & 0xFFFFFFFF))
    data[at : at + 4] = struct.pack("<I", 0x80000000)
    path.write_bytes(data)
    assert rows(path)
