"""Connections with missing, short, repeated and late packets, and ports that are used again."""

from pathlib import Path

import pytest

from rocketwire_tools.pcap.decode.decoder import Options
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import SYN
from tests.support.captures.decoded_rows import Row, rows
from tests.support.captures.wire import CLIENT, RESPONSE, SERVER, START, Wire, frame


class Capture(Wire):
    """A wire, and the rows of a capture of it.

    Args:
        careful: whether the decoder takes the careful way.
    """

    def __init__(self, folder: Path, *, careful: bool) -> None:
        super().__init__()
        self._folder = folder
        self._careful = careful

    def rows(self, payload: int = 0) -> list[Row]:
        """The rows, if the capture has this number of bytes of each payload; 0 for all."""
        path = save(self._folder / "wire.pcap", self.packets, payload=payload)
        return rows(path, Options(careful=self._careful))


@pytest.fixture(params=[False, True], ids=["short way", "careful way"])
def wire(request: pytest.FixtureRequest, tmp_path: Path) -> Capture:
    return Capture(tmp_path, careful=request.param)


def test_late_first_segment_is_still_the_first(wire: Capture) -> None:
    numbers = wire.say(CLIENT, frame(310, 1, body=b"x" * 2500))
    wire.say(CLIENT, frame(11, 2))
    wire.swap(numbers[0], numbers[1])
    decoded = wire.rows()
    assert [(310, True), (11, True)] == [(row["code"], row["body_ok"]) for row in decoded]
    assert START + 1_000_000 == decoded[0]["time_ns"]


def test_late_syn_begins_the_stream(wire: Capture) -> None:
    wire.connect()
    wire.say(CLIENT, b"PROXY TCP4 1.2.3.4 10.9.0.1 4711 10911\r\n" + frame(105, 1))
    wire.swap(0, 2)
    assert [105] == [row["code"] for row in wire.rows()]


def test_segment_cut_short_is_completed_by_its_repetition(wire: Capture) -> None:
    wire.connect()
    data = frame(310, 1, body=b"y" * 150)
    (number,) = wire.say(CLIENT, data)
    wire.packet(CLIENT, wire.packets[number].sequence + 90, data[90:])
    wire.packet(CLIENT, wire.packets[number].sequence + 180, data[180:])
    wire.say(CLIENT, frame(11, 2)[:90])
    decoded = wire.rows(100)
    assert [(310, len(data), True)] == [
        (row["code"], row["frame_length"], row["body_ok"]) for row in decoded
    ]


def test_bytes_beyond_the_captured_length_are_no_gap(wire: Capture) -> None:
    wire.connect()
    wire.say(CLIENT, frame(310, 1, body=b"y" * 5000))
    wire.say(CLIENT, frame(11, 2))
    decoded = wire.rows(500)
    assert [(310, False, False), (11, True, False)] == [
        (row["code"], row["body_ok"], row["gap"]) for row in decoded
    ]


@pytest.mark.parametrize(
    "captured", [(0, 1, 3), (0, 1), (0,)], ids=["gap", "end missing", "one segment"]
)
@pytest.mark.parametrize("ending", ["next frame", "new connection", "end of the capture"])
@pytest.mark.parametrize("chunk_records", [4, 5, 1000])
def test_late_segment_ends_only_its_own_frame(
    captured: tuple[int, ...],
    ending: str,
    chunk_records: int,
    wire: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", chunk_records)
    wire.connect()
    first = wire.say(CLIENT, frame(310, 1, body=b"x" * 3500))
    second = wire.say(CLIENT, frame(310, 2, body=b"y" * 3500))
    assert 4 == len(first) == len(second)
    *in_order, late_packet = wire.packets[: second[0]]
    parts = [wire.packets[second[number]] for number in captured]
    late_packet = late_packet._replace(time_ns=parts[-1].time_ns + 500_000)
    wire.packets = [*in_order, *parts, late_packet]
    if ending == "new connection":
        wire.connect(900_000, 800_000)
    if ending != "end of the capture":
        wire.say(CLIENT, frame(34, 3))
    rows_by_opaque = {row["opaque"]: row for row in wire.rows()}
    assert late_packet.time_ns == rows_by_opaque[1]["end_time_ns"]
    assert parts[-1].time_ns == rows_by_opaque[2]["end_time_ns"]
    assert [True, False] == [rows_by_opaque[opaque]["body_ok"] for opaque in (1, 2)]


@pytest.mark.parametrize(
    "announced", [(), (SERVER,), (CLIENT,)], ids=["no SYN", "server's", "client's"]
)
@pytest.mark.parametrize("client", [-400_000, 1 << 25, (1 << 31) + 5])
@pytest.mark.parametrize("server", [-400_000, 1 << 25, (1 << 31) + 5])
def test_reused_port_is_another_connection_even_without_a_syn(
    wire: Capture, client: int, server: int, announced: tuple[tuple[str, int], ...]
) -> None:
    wire.connect()
    wire.say(CLIENT, frame(105, 7))
    wire.say(CLIENT, frame(310, 8, body=b"x" * 1500)[:1000])
    count_before = len(wire.packets)
    wire.connect((1000 + client) % (1 << 32), (2000 + server) % (1 << 32))
    wire.packets = [
        packet
        for number, packet in enumerate(wire.packets)
        if number < count_before or packet.source in announced
    ]
    wire.say(CLIENT, frame(34, 8))
    wire.say(SERVER, frame(0, 8, RESPONSE))
    wire.say(SERVER, frame(0, 7, RESPONSE))
    decoded = wire.rows()
    assert [105, 310, 34, 0, 0] == [row["code"] for row in decoded]
    assert [34, None] == [row["request_code"] for row in decoded[3:]]


def test_old_segment_that_is_repeated_begins_no_connection(wire: Capture) -> None:
    wire.connect()
    wire.say(CLIENT, frame(105, 7))
    first, *_ = wire.say(CLIENT, frame(310, 8, body=b"x" * 600_000), 60_000)
    repeated = wire.packets[first]
    wire.packet(CLIENT, repeated.sequence, repeated.data)
    wire.say(SERVER, frame(0, 7, RESPONSE))
    wire.say(CLIENT, frame(34, 9))
    decoded = wire.rows()
    assert [105, 310, 0, 34] == [row["code"] for row in decoded]
    assert 105 == decoded[2]["request_code"]


def test_repeated_syn_begins_no_connection(wire: Capture) -> None:
    wire.connect()
    wire.say(CLIENT, frame(105, 7))
    wire.packet(CLIENT, 999, b"", SYN)
    wire.say(SERVER, frame(0, 7, RESPONSE))
    assert 105 == wire.rows()[1]["request_code"]


def test_reused_opaque_belongs_to_the_latest_request(wire: Capture) -> None:
    wire.connect()
    for code, opaque in ((105, (1 << 31) - 1), (34, -(1 << 31)), (11, 5), (310, 5)):
        wire.say(CLIENT, frame(code, opaque))
        if code != 11:
            wire.say(SERVER, frame(0, opaque, RESPONSE))
    wire.say(SERVER, frame(0, 5, RESPONSE))
    decoded = wire.rows()
    answers = [row["request_code"] for row in decoded if row["kind"] == "response"]
    assert [105, 34, 310, None] == answers


@pytest.mark.parametrize("late_ms", [100, 2900, 3600])
def test_what_waits_longer_than_three_seconds_for_others_waits_no_more_however_long_the_chunk_is(
    late_ms: int, tmp_path: Path
) -> None:
    wire = Wire()
    first, second = frame(10, 1, body=bytes(3000)), frame(34, 2)
    wire.connect()
    wire.say(CLIENT, first)
    wire.say(CLIENT, second, len(second))
    wire.say(CLIENT, second, len(second))
    *opening, first_part, lost_part, third_part, fourth_part, following, last = wire.packets
    times = {lost_part: late_ms, following: late_ms - 50, last: 20_000}
    ordered = [*opening, first_part, third_part, fourth_part, following, lost_part, last]
    moved = [
        packet._replace(time_ns=START + times.get(packet, 1) * 1_000_000) for packet in ordered
    ]
    path = save(tmp_path / "late.pcap", moved)
    decoded = rows(path)
    assert decoded == rows(path, Options(careful=True))
    assert [late_ms > 3000, False, False] == [row["gap"] for row in decoded]


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
def test_bytes_that_are_no_frame_are_no_row(
    client: bytes, server: bytes, starts: bool, wire: Capture
) -> None:
    if starts:
        wire.connect()
    wire.say(CLIENT, client)
    wire.say(SERVER, server)
    assert [] == wire.rows()


def test_unreadable_first_header_hides_no_frame(wire: Capture) -> None:
    wire.connect()
    invalid = frame(105, 1).replace(b'"code":105', b'"code":"x"')
    wire.say(CLIENT, invalid + frame(34, 2), size=50)
    wire.say(CLIENT, invalid + frame(11, 3), size=70)
    decoded = wire.rows()
    assert [(34, True), (None, False), (11, True)] == [
        (row["code"], row["header_ok"]) for row in decoded
    ]


@pytest.mark.parametrize("late_ms", [1, 49, 70, 199])
@pytest.mark.parametrize("count", [1, 2])
def test_late_segment_before_the_first_byte_counts(late_ms: int, count: int, wire: Capture) -> None:
    parts = [frame(code, code) for code in (105, 34, 11, 10)]
    for part in parts:
        wire.say(CLIENT, part)
    early, late_packets = wire.packets[count:], wire.packets[:count]
    late_packets = [
        packet._replace(time_ns=early[0].time_ns + late_ms * 1_000_000) for packet in late_packets
    ]
    last = early.pop()
    wire.packets = sorted((*early, *late_packets), key=lambda packet: packet.time_ns)
    wire.packets.append(last._replace(time_ns=START + 1_000_000_000))
    decoded = wire.rows()
    times = {row["code"]: row["time_ns"] for row in decoded}
    assert {105, 34, 11, 10} == set(times)
    assert [packet.time_ns for packet in late_packets] == [
        times[code] for code in (105, 34)[:count]
    ]
