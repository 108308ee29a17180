"""Captures that continue each other become one, with a notice."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.decode.decoder import Decoder
from rocketwire_tools.pcap.files.series import MOST_APART_NS, Span, first_time, last_time, series
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, Packet
from tests.unit.tools.pcap.streams.test_reassembly import CLIENT, RESPONSE, SERVER, START, frame

if TYPE_CHECKING:
    from pathlib import Path


SECOND = 1_000_000_000
REQUEST, ANSWER = frame(310, 7, body=b"x" * 900), frame(0, 7, RESPONSE)


def packet(time_ns: int, data: bytes, sequence: int = 1000, *, client: bool = True) -> Packet:
    source, target = (CLIENT, SERVER) if client else (SERVER, CLIENT)
    return Packet(START + time_ns, source, target, sequence, 0, ACK, data)


def first_half(path: Path, time_ns: int = 0) -> str:
    """A file that ends within a request."""
    start = packet(time_ns, frame(105, 6))
    begun = len(frame(105, 6))
    return str(save(path, [start, packet(time_ns + SECOND, REQUEST[:500], 1000 + begun)]))


def second_half(path: Path, time_ns: int = 2 * SECOND) -> str:
    """A file that begins with the rest of it, and has its answer."""
    rest = packet(time_ns, REQUEST[500:], 1000 + len(frame(105, 6)) + 500)
    return str(save(path, [rest, packet(time_ns + SECOND, ANSWER, client=False)]))


def joined(paths: list[str], join: str = "auto") -> bool:
    """Whether the first two paths are decoded as one."""
    decoder = Decoder(series(paths, join)[0])
    for _ in decoder:
        pass
    return decoder.totals.files == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("trace.pcap", "trace.pcap1"),
        ("trace.pcap9", "trace.pcap10"),
        ("trace.pcap3", "trace.pcap0"),
        ("trace-20260101-235959.pcap", "trace-20260102-000000.pcap"),
        ("trace_00001_20260101235959.pcapng", "trace_00002_20260102000000.pcapng"),
        ("eth0.pcap", "eth1.pcap"),
    ],
)
def test_names_that_differ_by_numbers_are_those_of_one_capture(
    first: str, second: str, tmp_path: Path
) -> None:
    paths = [second_half(tmp_path / second), first_half(tmp_path / first)]
    assert joined(paths)
    assert not joined(paths, "none")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a.pcap", "b.pcap"),
        ("trace.pcap", "trace.pcapng"),
        ("1/trace.pcap", "2/trace.pcap"),
        ("a", "a1b"),
    ],
)
def test_other_names_are_those_of_two(first: str, second: str, tmp_path: Path) -> None:
    for name in (first, second):
        (tmp_path / name).parent.mkdir(exist_ok=True)
    paths = [first_half(tmp_path / first), second_half(tmp_path / second)]
    assert not joined(paths)
    assert joined(paths, "all")


@pytest.mark.parametrize(
    ("after_ns", "is_one"),
    [
        (2 * SECOND, True),
        (SECOND, True),
        (SECOND - 9_000_000, True),
        (SECOND - 11_000_000, False),
        (0, False),
        (-5 * SECOND, True),
        (SECOND + MOST_APART_NS, True),
        (SECOND + MOST_APART_NS + 1, False),
    ],
)
def test_second_begins_where_the_first_ends(after_ns: int, tmp_path: Path, *, is_one: bool) -> None:
    paths = [first_half(tmp_path / "trace.pcap0"), second_half(tmp_path / "trace.pcap1", after_ns)]
    assert is_one == joined(paths)


def test_files_of_one_packet_at_one_time_are_two(tmp_path: Path) -> None:
    paths = [str(save(tmp_path / f"{n}.pcap", [packet(0, ANSWER)])) for n in (1, 2)]
    assert not joined(paths)


def test_short_file_gives_less_time_to_packets_out_of_order() -> None:
    assert Span(0, 1000).is_continued_at(950)
    assert not Span(0, 1000).is_continued_at(850)
    assert Span().is_continued_at(5)


def test_files_without_times_stand_alone_and_others_keep_their_places(tmp_path: Path) -> None:
    other = first_half(tmp_path / "other.pcap")
    empty = str(save(tmp_path / "trace.pcap1", []))
    (tmp_path / "trace.pcap2").write_bytes(b"no capture at all, but text that is long enough")
    broken, pipe = str(tmp_path / "trace.pcap2"), "-"
    second = second_half(tmp_path / "trace.pcap3")
    first = first_half(tmp_path / "trace.pcap0")
    found = series([pipe, empty, second, other, broken, first, pipe], "auto")
    assert [("-",), (first, second), (empty,), (broken,), (other,), ("-",)] == [
        each.paths for each in found
    ]


def test_times_are_read_from_the_ends_of_files(tmp_path: Path) -> None:
    path = tmp_path / "trace.pcap"
    first_half(path, 5)
    assert START + 5 == first_time(str(path))
    assert START + 5 + SECOND == last_time(str(path))
    packed = tmp_path / "trace.pcap.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert START + 5 == first_time(str(packed))
    assert last_time(str(packed)) is None
    nothing = str(tmp_path / "nothing.pcap")
    assert first_time(nothing) is None
    assert last_time(nothing) is None
    assert first_time(str(save(tmp_path / "empty.pcap", []))) is None


def test_frame_across_two_files_is_whole_and_its_answer_has_its_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = first_half(tmp_path / "t0.pcap"), second_half(tmp_path / "t1.pcap")
    fields = "file,opaque,body_ok,request_code"
    status = main(["decode", second, first, "--format", "jsonl", "--fields", fields])
    assert status == 0
    assert [
        {"file": first, "opaque": 6, "body_ok": True, "request_code": None},
        {"file": first, "opaque": 7, "body_ok": True, "request_code": None},
        {"file": second, "opaque": 7, "body_ok": True, "request_code": 310},
    ] == [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_is_wrong_with_one_of_them_is_said_and_the_next_one_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = first_half(tmp_path / "t0.pcap"), second_half(tmp_path / "t1.pcap")
    third = str(
        save(
            tmp_path / "t2.pcap",
            [packet(4 * SECOND, frame(0, 9, RESPONSE), 1000 + len(ANSWER), client=False)],
        )
    )
    damaged = (tmp_path / "t1.pcap").read_bytes()
    (tmp_path / "t1.pcap").write_bytes(damaged + b"\xff" * 40)
    whole = (tmp_path / "t2.pcap").read_bytes()
    (tmp_path / "t2.pcap").write_bytes(whole + whole[24:50])
    assert main(["decode", first, second, third, "--fields", "opaque", "--format", "csv"]) == 1
    printed = capsys.readouterr()
    assert ['"opaque"', "6", "7", "7", "9"] == printed.out.split()
    assert f"rocketwire-pcap: {second} at byte {len(damaged)}: " in printed.err
    assert f"{third}: the last record is incomplete" in printed.err


def test_live_takes_each_file_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [first_half(tmp_path / "t0.pcap"), second_half(tmp_path / "t1.pcap")]
    assert main(["live", *paths, "--fields", "request_code", "--format", "jsonl"]) == 0
    assert '{"request_code":310}' not in capsys.readouterr().out.splitlines()
