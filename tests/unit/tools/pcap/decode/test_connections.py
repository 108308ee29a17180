"""Answers have their requests, though two ends have several connections of which parts are captured."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from rocketwire_tools.pcap.decode.decoder import Options
from rocketwire_tools.pcap.streams.connections import Connections
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, FIN, SYN, Packet
from tests.support.captures.decoded_rows import Row, rows
from tests.support.captures.wire import CLIENT, RESPONSE, SERVER, Wire, frame

RST = 4
ENDS = (CLIENT, SERVER)
FEW_RECORDS = 3


class Host(Wire):
    """A client that uses one port for several connections, five seconds apart."""

    def use(self, number: int, *sides: tuple[str, int], syn: bool = True) -> None:
        """A connection with two exchanges; some sides are captured, maybe without their SYN."""
        packets_before = len(self.packets)
        self.connect(number * 90_000_000 + 1000, number * 70_000_000 + 2000)
        opened = len(self.packets)
        for opaque in (7, 8):
            self.say(CLIENT, frame(300 + number, opaque))
            self.say(SERVER, frame(0, opaque, RESPONSE))
        self.packet(CLIENT, self.next[CLIENT], b"", FIN | ACK)
        self.packets = [
            packet
            for place, packet in enumerate(self.packets)
            if place < packets_before or (packet.source in sides and (syn or place >= opened))
        ]

    def refuse(self, number: int) -> None:
        self.packet(CLIENT, number * 90_000_000, b"", SYN)
        self.packet(SERVER, 0, b"", RST | ACK)

    def call_in_vain(self, number: int) -> None:
        for _ in range(3):
            self.packet(CLIENT, number * 90_000_000, b"", SYN)

    def part_way(self, number: int) -> None:
        """Half of a frame of a connection that began before the capture."""
        self.next[CLIENT] = number * 90_000_000
        self.say(CLIENT, frame(310, 3, body=b"x" * 900)[500:])


@pytest.fixture(params=["usual", "careful", "few records"])
def options(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Options:
    if request.param == "few records":
        monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", FEW_RECORDS)
    return Options(careful=request.param == "careful")


def decode(packets: list[Packet], path: Path, options: Options) -> list[Row]:
    return rows(save(path / "wire.pcap", packets), options)


def pairs(decoded: list[Row]) -> list[tuple[int, int | None]]:
    """Opaque and request code of the last two answers."""
    return [(row["opaque"], row["request_code"]) for row in decoded if row["kind"] == "response"][
        -2:
    ]


EARLIER: Final[dict[str, Callable[[Host], None]]] = {
    "refused": lambda host: host.refuse(1),
    "unanswered": lambda host: host.call_in_vain(1),
    "the client's side alone": lambda host: host.use(1, CLIENT),
    "the server's side alone": lambda host: host.use(1, SERVER),
    "without SYN": lambda host: host.use(1, *ENDS, syn=False),
    "the client's side alone, without SYN": lambda host: host.use(1, CLIENT, syn=False),
    "the server's side alone, without SYN": lambda host: host.use(1, SERVER, syn=False),
    "begun before the capture": lambda host: host.part_way(1),
    "whole": lambda host: host.use(1, *ENDS),
}


@pytest.mark.parametrize("earlier", EARLIER)
@pytest.mark.parametrize("syn", [True, False], ids=["with SYN", "without SYN"])
def test_answers_of_a_port_used_again_have_their_requests(
    earlier: str, options: Options, tmp_path: Path, *, syn: bool
) -> None:
    host = Host()
    EARLIER[earlier](host)
    host.use(2, *ENDS, syn=syn)
    # if nothing of the client was captured before, the server's first segment is the first sign of
    # another connection
    is_late = not syn and earlier.startswith("the server's side alone")
    first = (7, None) if is_late else (7, 302)
    assert [first, (8, 302)] == pairs(decode(host.packets, tmp_path, options))


@pytest.mark.parametrize("first", EARLIER)
@pytest.mark.parametrize("second", EARLIER)
def test_answers_of_a_third_use_have_requests(first: str, second: str, tmp_path: Path) -> None:
    host = Host()
    EARLIER[first](host)
    host.next = {CLIENT: 0, SERVER: 0}
    start_of_second = len(host.packets)
    EARLIER[second](host)
    shift = 1 << 30
    host.packets[start_of_second:] = [
        packet._replace(sequence=(packet.sequence + shift) % (1 << 32))
        if packet.sequence
        else packet
        for packet in host.packets[start_of_second:]
    ]
    host.use(3, *ENDS)
    assert [(7, 303), (8, 303)] == pairs(decode(host.packets, tmp_path, Options()))


@pytest.mark.parametrize("syn", [True, False], ids=["with SYN", "without SYN"])
def test_answer_has_no_request_of_an_earlier_connection(
    options: Options, tmp_path: Path, *, syn: bool
) -> None:
    host = Host()
    host.connect(1000, 2000)
    host.say(SERVER, frame(40, 1))
    for opaque in (7, 8):
        host.say(CLIENT, frame(301, opaque))
    host.use(2, SERVER, syn=syn)
    assert [(7, None), (8, None)] == pairs(decode(host.packets, tmp_path, options))


def test_pairs_do_not_depend_on_where_chunks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host()
    for number, earlier in enumerate((*EARLIER, *EARLIER), 1):
        start_of_use = len(host.packets)
        EARLIER[earlier](host)
        host.packets[start_of_use:] = [
            packet._replace(sequence=(packet.sequence + number * 123_456_789) % (1 << 32))
            for packet in host.packets[start_of_use:]
        ]
    path = save(tmp_path / "wire.pcap", host.packets)
    pairs_at_once = rows(path)
    for count in (1, 2, 3, 5, 8, 13):
        monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", count)
        assert pairs_at_once == rows(path)


def test_beginnings_are_remembered_as_long_as_open_frames_need_them_and_no_longer() -> None:
    numpy = pytest.importorskip("numpy")
    numbers = iter(range(100, 1000, 2))
    connections = Connections(lambda: next(numbers))
    for chunk in range(20):
        connections.prune()
        connections.begin(4, 10 * chunk)
        connections.begin(5, 10 * chunk + 5)
        connections.settle()
    number = numpy.array([4, 5, 4, 5, 6])
    connections.number(number, numpy.array([192, 199, 155, 142, 199]))
    assert [138, 139, 130, 129, 6] == number.tolist()
    connections.prune()
    number = numpy.array([4, 4, 5])
    connections.number(number, numpy.array([0, 115, 199]))
    assert [122, 122, 139] == number.tolist()
    connections.forget(5)
    connections.prune()
    number = numpy.array([4, 5])
    connections.number(number, numpy.array([0, 500]))
    assert [4, 5] == number.tolist()
