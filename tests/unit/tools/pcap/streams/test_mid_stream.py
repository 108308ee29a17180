"""Frames of connections whose beginning was not captured."""

from pathlib import Path

import pytest

from rocketwire.codes import SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Options
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.decoded_rows import rows
from tests.support.captures.wire import SERVER, START

STEP_NS = 4_000_000
CONNECTIONS = 300
FIRST = encode(RemotingCommand(code=105, opaque=1, ext_fields={"topic": "orders"}, body=b"body"))
SECOND = encode(RemotingCommand(code=34, opaque=2))
BINARY = encode(RemotingCommand(code=34, opaque=3, serialize_type=SerializeType.ROCKETMQ))
INVALID = FIRST.replace(b'"code":105', b'"code":"x"')
OPENINGS = {
    "a frame": (FIRST, 1),
    "two frames": (FIRST + SECOND, 2),
    "a frame and a part of another": (FIRST + SECOND[:20], 1),
    "a frame and what is none": (FIRST + b"\xff" * 40 + SECOND, 1),
    "a header that cannot be read, and a frame": (INVALID + SECOND, 1),
    "the end of a body, and a frame": (b"end of a body" + SECOND, 1),
    "a binary header": (BINARY + SECOND, 2),
    "a part of a frame": (FIRST[:30], 0),
    "TLS": (b"\x17\x03\x03\x00\x40" + FIRST, 0),
}


def packets(*parts: bytes) -> list[Packet]:
    """Every connection sends these, one after the other."""
    result: list[Packet] = []
    sequence = 0x_FFFF_FFF0
    for part in parts:
        for number in range(CONNECTIONS):
            source = (f"10.1.{number // 256}.{number % 256}", 40_000)
            time_ns = START + len(result) * STEP_NS
            start = (sequence + number) % (1 << 32)
            result.append(Packet(time_ns, source, SERVER, start, 0, ACK, part))
        sequence += len(part)
    return result


def count_rows(folder: Path, packets: list[Packet]) -> int:
    """Decode a capture in both ways, which must have equal rows."""
    path = save(folder / "midway.pcap", packets)
    decoded = rows(path)
    assert rows(path, Options(careful=True)) == decoded
    return len(decoded)


@pytest.fixture
def few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", CONNECTIONS)


@pytest.mark.usefixtures("few_records")
@pytest.mark.parametrize("name", OPENINGS)
def test_rows_do_not_depend_on_the_way(name: str, tmp_path: Path) -> None:
    opening, count = OPENINGS[name]

    assert count_rows(tmp_path, packets(opening, opening)) >= count * CONNECTIONS


@pytest.mark.usefixtures("few_records")
@pytest.mark.parametrize("cut", range(1, len(FIRST), 7))
def test_frame_in_two_segments_is_found(cut: int, tmp_path: Path) -> None:
    both = packets(FIRST[:cut], FIRST[cut:] + SECOND)

    assert count_rows(tmp_path, both) == 2 * CONNECTIONS


def test_first_segment_that_was_captured_late_is_not_lost(tmp_path: Path) -> None:
    both = packets(FIRST, SECOND)
    rotated = [*both[-20:], *both[:-20]]
    resent = [packet._replace(time_ns=START + number) for number, packet in enumerate(rotated)]
    decoded = rows(save(tmp_path / "midway.pcap", resent))
    assert [105, 34] == sorted({row["code"] for row in decoded}, reverse=True)
    assert len(decoded) == 2 * CONNECTIONS


@pytest.mark.usefixtures("few_records")
def test_another_connection_of_the_same_ends_is_known_by_its_syn(tmp_path: Path) -> None:
    both = packets(FIRST, SECOND)
    syn = [packet._replace(flags=SYN, sequence=4_999, data=b"") for packet in both[:CONNECTIONS]]
    resent = [
        *both[:CONNECTIONS],
        *syn,
        *(packet._replace(sequence=5_000) for packet in both[CONNECTIONS:]),
    ]
    resent = [packet._replace(time_ns=START + i * STEP_NS) for i, packet in enumerate(resent)]

    assert count_rows(tmp_path, resent) == 2 * CONNECTIONS
