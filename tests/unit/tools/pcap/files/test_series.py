"""Captures that continue each other become one, with a notice."""

import gzip
from pathlib import Path

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder
from rocketwire_tools.pcap.files.series import MAX_APART_NS, Span, first_time, last_time, series
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, Packet
from tests.support.captures.wire import CLIENT, RESPONSE, SERVER, START, frame
from tests.support.file_programs import run_pcap

SECOND = 1_000_000_000
FIRST = frame(105, 6)
REQUEST, ANSWER = frame(310, 7, body=b"x" * 900), frame(0, 7, RESPONSE)


def packet(time_ns: int, data: bytes, sequence: int = 1000, *, client: bool = True) -> Packet:
    source, target = (CLIENT, SERVER) if client else (SERVER, CLIENT)
    return Packet(START + time_ns, source, target, sequence, 0, ACK, data)


def first_half(path: Path, time_ns: int = 0) -> str:
    """A file that ends within a request."""
    start = packet(time_ns, FIRST)
    half = packet(time_ns + SECOND, REQUEST[:500], 1000 + len(FIRST))
    return str(save(path, [start, half]))


def second_half(path: Path, time_ns: int = 2 * SECOND) -> str:
    """A file that begins within this request, and has its answer."""
    half = packet(time_ns, REQUEST[500:], 1000 + len(FIRST) + 500)
    return str(save(path, [half, packet(time_ns + SECOND, ANSWER, client=False)]))


def joined(paths: list[str], join: str = "auto") -> bool:
    decoder = Decoder(series(paths, join)[0])
    for _ in decoder:
        pass
    return decoder.totals.files == 2


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("trace.pcap", "trace.pcap1", True),
        ("trace.pcap9", "trace.pcap10", True),
        ("trace.pcap3", "trace.pcap0", True),
        ("trace-20260101-235959.pcap", "trace-20260102-000000.pcap", True),
        ("trace_00001_20260101235959.pcapng", "trace_00002_20260102000000.pcapng", True),
        ("eth0.pcap", "eth1.pcap", True),
        ("a.pcap", "b.pcap", False),
        ("trace.pcap", "trace.pcapng", False),
        ("1/trace.pcap", "2/trace.pcap", False),
        ("a", "a1b", False),
    ],
)
def test_names_that_differ_by_numbers_are_one_capture(
    first: str, second: str, tmp_path: Path, *, is_one: bool
) -> None:
    for name in (first, second):
        (tmp_path / name).parent.mkdir(exist_ok=True)
    paths = [second_half(tmp_path / second), first_half(tmp_path / first)]
    assert joined(paths) == is_one
    assert not joined(paths, "none")
    assert joined(paths[::-1], "all")


@pytest.mark.parametrize(
    ("after_ns", "is_one"),
    [
        (2 * SECOND, True),
        (SECOND, True),
        (SECOND - 9_000_000, True),
        (SECOND - 11_000_000, False),
        (0, False),
        (-5 * SECOND, True),
        (SECOND + MAX_APART_NS, True),
        (SECOND + MAX_APART_NS + 1, False),
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
    unrelated = first_half(tmp_path / "other.pcap")
    empty = str(save(tmp_path / "trace.pcap1", []))
    (tmp_path / "trace.pcap2").write_bytes(b"no capture at all, but text that is long enough")
    broken, pipe = str(tmp_path / "trace.pcap2"), "-"
    second = second_half(tmp_path / "trace.pcap3")
    first = first_half(tmp_path / "trace.pcap0")

    captures = series([pipe, empty, second, unrelated, broken, first, pipe], "auto")

    paths = [capture.paths for capture in captures]
    assert [("-",), (first, second), (empty,), (broken,), (unrelated,), ("-",)] == paths


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


def test_frame_across_two_files_is_complete_and_has_its_answer(tmp_path: Path) -> None:
    first, second = first_half(tmp_path / "t0.pcap"), second_half(tmp_path / "t1.pcap")

    fields = "file,opaque,body_ok,request_code"
    lines = run_pcap("decode", second, first, "--format", "jsonl", "--fields", fields).lines

    assert lines == [
        {"file": first, "opaque": 6, "body_ok": True, "request_code": None},
        {"file": first, "opaque": 7, "body_ok": True, "request_code": None},
        {"file": second, "opaque": 7, "body_ok": True, "request_code": 310},
    ]


def test_faults_of_each_file_are_reported_and_the_next_file_follows(tmp_path: Path) -> None:
    first, second = first_half(tmp_path / "t0.pcap"), second_half(tmp_path / "t1.pcap")
    response = packet(4 * SECOND, frame(0, 9, RESPONSE), 1000 + len(ANSWER), client=False)
    third = save(tmp_path / "t2.pcap", [response])
    data = (tmp_path / "t1.pcap").read_bytes()
    (tmp_path / "t1.pcap").write_bytes(data + b"\xff" * 40)
    third.write_bytes(third.read_bytes() + third.read_bytes()[24:50])

    options = ("--fields", "opaque", "--format", "csv")
    output = run_pcap("decode", first, second, third, *options, status=1)

    assert ['"opaque"', "6", "7", "7", "9"] == output.text.split()
    assert f"rocketwire-pcap: {second} at byte {len(data)}: " in output.err
    assert f"{third}: the last record is incomplete" in output.err


def test_live_takes_each_file_by_itself(tmp_path: Path) -> None:
    paths = [first_half(tmp_path / "t0.pcap"), second_half(tmp_path / "t1.pcap")]

    lines = run_pcap("live", *paths, "--fields", "request_code", "--format", "jsonl").lines

    assert {"request_code": 310} not in lines
