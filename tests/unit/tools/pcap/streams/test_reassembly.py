"""Connections packet by packet: what begins midway, is cut short, comes twice, late or in another order, and ends that are used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Options
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.decoded_rows import Row, rows

if TYPE_CHECKING:
    from pathlib import Path

CLIENT, SERVER = ("10.0.0.1", 50_000), ("10.0.0.2", 10911)
START = 1_700_000_000_000_000_000
RESPONSE = int(CommandFlag.RESPONSE)


def frame(code: int, opaque: int, flag: int = 0, body: bytes = b"") -> bytes:
    return encode(RemotingCommand(code=code, opaque=opaque, flag=flag, body=body or None))


class Wire:
    """Packets between two ends, a millisecond apart."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self.next = {CLIENT: 1000, SERVER: 2000}

    def connect(self, client: int, server: int) -> None:
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
        for at in range(0, len(data), size):
            numbers.append(len(self.packets))
            self.packet(source, self.next[source], data[at : at + size])
            self.next[source] += len(data[at : at + size])
        return numbers

    def swap(self, one: int, other: int) -> None:
        """Let two packets be captured in the other order."""
        a, b = self.packets[one], self.packets[other]
        self.packets[one] = b._replace(time_ns=a.time_ns)
        self.packets[other] = a._replace(time_ns=b.time_ns)

    def rows(self, path: Path, payload: int = 0, **options: Any) -> list[Row]:
        return rows(save(path / "wire.pcap", self.packets, payload=payload), Options(**options))


@pytest.fixture(params=[False, True], ids=["short way", "careful way"])
def careful(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_first_segment_that_comes_late_is_still_the_first(tmp_path: Path, careful: bool) -> None:
    wire = Wire()
    numbers = wire.say(CLIENT, frame(310, 1, body=b"x" * 2500))
    wire.say(CLIENT, frame(11, 2))
    wire.swap(numbers[0], numbers[1])
    found = wire.rows(tmp_path, careful=careful)
    assert [(310, True), (11, True)] == [(row["code"], row["body_ok"]) for row in found]
    assert START + 1_000_000 == found[0]["time_ns"]


def test_syn_behind_the_first_segment_says_where_the_stream_begins(
    tmp_path: Path, careful: bool
) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    wire.say(CLIENT, b"PROXY TCP4 1.2.3.4 10.9.0.1 4711 10911\r\n" + frame(105, 1))
    wire.swap(0, 2)
    assert [105] == [row["code"] for row in wire.rows(tmp_path, careful=careful)]


def test_segment_cut_short_is_completed_by_its_repetition(tmp_path: Path, careful: bool) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    data = frame(310, 1, body=b"y" * 150)
    (number,) = wire.say(CLIENT, data)
    wire.packet(CLIENT, wire.packets[number].sequence + 90, data[90:])
    wire.packet(CLIENT, wire.packets[number].sequence + 180, data[180:])
    wire.say(CLIENT, frame(11, 2)[:90])
    found = wire.rows(tmp_path, 100, careful=careful)
    assert [(310, len(data), True)] == [
        (row["code"], row["frame_length"], row["body_ok"]) for row in found
    ]


def test_what_is_cut_off_and_not_repeated_is_no_gap(tmp_path: Path, careful: bool) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    wire.say(CLIENT, frame(310, 1, body=b"y" * 5000))
    wire.say(CLIENT, frame(11, 2))
    found = wire.rows(tmp_path, 500, careful=careful)
    assert [(310, False, False), (11, True, False)] == [
        (row["code"], row["body_ok"], row["gap"]) for row in found
    ]


@pytest.mark.parametrize(
    "captured", [(0, 1, 3), (0, 1), (0,)], ids=["gap", "end missing", "one segment"]
)
@pytest.mark.parametrize("ending", ["next frame", "new connection", "end of the capture"])
@pytest.mark.parametrize("chunk_records", [4, 5, 1000])
def test_frame_does_not_end_when_a_late_segment_of_the_frame_before_it_came(
    captured: tuple[int, ...],
    ending: str,
    chunk_records: int,
    careful: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MOST_RECORDS", chunk_records)
    wire = Wire()
    wire.connect(1000, 2000)
    first = wire.say(CLIENT, frame(310, 1, body=b"x" * 3500))
    second = wire.say(CLIENT, frame(310, 2, body=b"y" * 3500))
    assert 4 == len(first) == len(second)
    *in_order, late = wire.packets[: second[0]]
    parts = [wire.packets[second[number]] for number in captured]
    late = late._replace(time_ns=parts[-1].time_ns + 500_000)
    wire.packets = [*in_order, *parts, late]
    if ending == "new connection":
        wire.connect(900_000, 800_000)
    if ending != "end of the capture":
        wire.say(CLIENT, frame(34, 3))
    rows_by_opaque = {row["opaque"]: row for row in wire.rows(tmp_path, careful=careful)}
    assert late.time_ns == rows_by_opaque[1]["end_time_ns"]
    assert parts[-1].time_ns == rows_by_opaque[2]["end_time_ns"]
    assert [True, False] == [rows_by_opaque[opaque]["body_ok"] for opaque in (1, 2)]


@pytest.mark.parametrize(
    "announced", [(), (SERVER,), (CLIENT,)], ids=["no SYN", "server's", "client's"]
)
@pytest.mark.parametrize("client", [-400_000, 1 << 25, (1 << 31) + 5])
@pytest.mark.parametrize("server", [-400_000, 1 << 25, (1 << 31) + 5])
def test_port_that_is_used_again_is_another_connection_also_if_a_syn_was_not_captured(
    tmp_path: Path, careful: bool, client: int, server: int, announced: tuple[tuple[str, int], ...]
) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    wire.say(CLIENT, frame(105, 7))
    wire.say(CLIENT, frame(310, 8, body=b"x" * 1500)[:1000])
    known = len(wire.packets)
    wire.connect((1000 + client) % (1 << 32), (2000 + server) % (1 << 32))
    wire.packets = [
        one for number, one in enumerate(wire.packets) if number < known or one.source in announced
    ]
    wire.say(CLIENT, frame(34, 8))
    wire.say(SERVER, frame(0, 8, RESPONSE))
    wire.say(SERVER, frame(0, 7, RESPONSE))
    found = wire.rows(tmp_path, careful=careful)
    assert [105, 310, 34, 0, 0] == [row["code"] for row in found]
    assert [34, None] == [row["request_code"] for row in found[3:]]


def test_what_is_sent_again_from_long_ago_begins_no_other_connection(
    tmp_path: Path, careful: bool
) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    wire.say(CLIENT, frame(105, 7))
    first, *_ = wire.say(CLIENT, frame(310, 8, body=b"x" * 600_000), 60_000)
    again = wire.packets[first]
    wire.packet(CLIENT, again.sequence, again.data)
    wire.say(SERVER, frame(0, 7, RESPONSE))
    wire.say(CLIENT, frame(34, 9))
    found = wire.rows(tmp_path, careful=careful)
    assert [105, 310, 0, 34] == [row["code"] for row in found]
    assert 105 == found[2]["request_code"]


def test_syn_that_is_repeated_begins_no_other_connection(tmp_path: Path, careful: bool) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    wire.say(CLIENT, frame(105, 7))
    wire.packet(CLIENT, 999, b"", SYN)
    wire.say(SERVER, frame(0, 7, RESPONSE))
    assert 105 == wire.rows(tmp_path, careful=careful)[1]["request_code"]


def test_opaque_that_wraps_or_is_used_again_names_the_latest_request(
    tmp_path: Path, careful: bool
) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    for code, opaque in ((105, (1 << 31) - 1), (34, -(1 << 31)), (11, 5), (310, 5)):
        wire.say(CLIENT, frame(code, opaque))
        if code != 11:
            wire.say(SERVER, frame(0, opaque, RESPONSE))
    wire.say(SERVER, frame(0, 5, RESPONSE))
    found = wire.rows(tmp_path, careful=careful)
    answers = [row["request_code"] for row in found if row["kind"] == "response"]
    assert [105, 34, 310, None] == answers


@pytest.mark.parametrize("late_ms", [100, 2900, 3600])
def test_what_waits_longer_than_three_seconds_for_others_waits_no_more_however_long_the_chunk_is(
    late_ms: int, tmp_path: Path
) -> None:
    first, then = frame(10, 1, body=bytes(3000)), frame(34, 2)
    wire = Wire()
    wire.connect(1000, 2000)
    wire.say(CLIENT, first)
    wire.say(CLIENT, then, len(then))
    wire.say(CLIENT, then, len(then))
    *opening, one, two, three, four, next_, last = wire.packets
    times = {two: late_ms, next_: late_ms - 50, last: 20_000}
    made = [*opening, one, three, four, next_, two, last]
    moved = [each._replace(time_ns=START + times.get(each, 1) * 1_000_000) for each in made]
    path = save(tmp_path / "late.pcap", moved)
    found = rows(path)
    assert found == rows(path, Options(careful=True))
    assert [late_ms > 3000, False, False] == [row["gap"] for row in found]


HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\6\4" + bytes(5) + b"\0\3\0\0\0\x64"


@pytest.mark.parametrize("starts", [True, False], ids=["from its SYN", "midway"])
@pytest.mark.parametrize(
    ("client", "server"),
    [
        (HTTP2, SETTINGS + b"y" * 2000),
        (HTTP2, b"\0\0\x40\0\1" + bytes(2) + b"\x40" + b"y" * 2000),
        (b"\0\0\0\5\0\0\0\1{" * 200, b"\0\0\x08\0\0\0\0\0" + b"y" * 2044),
        (b"\0\0\0\x18\1\0\0\x14" + bytes(2000), b"\0\0\0\x18\0\0\0\x14" + b"{" * 200),
    ],
    ids=["HTTP/2", "a binary header of HTTP/2", "shorter headers than there are", "headers that cannot be read"],
)  # fmt: skip
def test_what_is_no_frame_is_no_row(
    client: bytes, server: bytes, starts: bool, tmp_path: Path, careful: bool
) -> None:
    wire = Wire()
    if starts:
        wire.connect(1000, 2000)
    wire.say(CLIENT, client)
    wire.say(SERVER, server)
    assert [] == wire.rows(tmp_path, careful=careful)


def test_first_header_that_cannot_be_read_hides_no_frame(tmp_path: Path, careful: bool) -> None:
    wire = Wire()
    wire.connect(1000, 2000)
    odd = frame(105, 1).replace(b'"code":105', b'"code":"x"')
    wire.say(CLIENT, odd + frame(34, 2), size=50)
    wire.say(CLIENT, odd + frame(11, 3), size=70)
    found = wire.rows(tmp_path, careful=careful)
    assert [(34, True), (None, False), (11, True)] == [
        (row["code"], row["header_ok"]) for row in found
    ]


@pytest.mark.parametrize("late_ms", [1, 49, 70, 199])
@pytest.mark.parametrize("count", [1, 2])
def test_what_comes_late_in_front_of_the_first_captured_byte_is_found(
    late_ms: int, count: int, tmp_path: Path, careful: bool
) -> None:
    wire = Wire()
    parts = [frame(code, code) for code in (105, 34, 11, 10)]
    for part in parts:
        wire.say(CLIENT, part)
    early, late = wire.packets[count:], wire.packets[:count]
    late = [one._replace(time_ns=early[0].time_ns + late_ms * 1_000_000) for one in late]
    last = early.pop()
    wire.packets = sorted((*early, *late), key=lambda one: one.time_ns)
    wire.packets.append(last._replace(time_ns=START + 1_000_000_000))
    found = wire.rows(tmp_path, careful=careful)
    times = {row["code"]: row["time_ns"] for row in found}
    assert {105, 34, 11, 10} == set(times)
    assert [one.time_ns for one in late] == [times[code] for code in (105, 34)[:count]]
