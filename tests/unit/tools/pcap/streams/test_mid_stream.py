"""Connections whose beginning was not captured: many at once are known by their first frames, one by one as soon as there is a doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.codes import SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Options
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.decoded_rows import rows

if TYPE_CHECKING:
    from pathlib import Path

SERVER = ("10.0.0.2", 10911)
START = 1_700_000_000_000_000_000
STEP_NS = 4_000_000
CONNECTIONS = 300
WHOLE = encode(RemotingCommand(code=105, opaque=1, ext_fields={"topic": "orders"}, body=b"body"))
OTHER = encode(RemotingCommand(code=34, opaque=2))
SHORT = encode(RemotingCommand(code=34, opaque=3, serialize_type=SerializeType.ROCKETMQ))
ODD = WHOLE.replace(b'"code":105', b'"code":"x"')
OPENINGS = {
    "a frame": (WHOLE, 1),
    "two frames": (WHOLE + OTHER, 2),
    "a frame and a part of another": (WHOLE + OTHER[:20], 1),
    "a frame and what is none": (WHOLE + b"\xff" * 40 + OTHER, 1),
    "a header that cannot be read, and a frame": (ODD + OTHER, 1),
    "the end of a body, and a frame": (b"end of a body" + OTHER, 1),
    "a binary header": (SHORT + OTHER, 2),
    "a part of a frame": (WHOLE[:30], 0),
    "TLS": (b"\x17\x03\x03\x00\x40" + WHOLE, 0),
}


def packets(*parts: bytes) -> list[Packet]:
    """Every connection sends these, one after the other."""
    made: list[Packet] = []
    sequence = 0x_FFFF_FFF0
    for part in parts:
        for number in range(CONNECTIONS):
            source = (f"10.1.{number // 256}.{number % 256}", 40_000)
            time_ns = START + len(made) * STEP_NS
            at = (sequence + number) % (1 << 32)
            made.append(Packet(time_ns, source, SERVER, at, 0, ACK, part))
        sequence += len(part)
    return made


@pytest.fixture
def few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MOST_RECORDS", CONNECTIONS)


@pytest.mark.usefixtures("few_records")
@pytest.mark.parametrize("name", OPENINGS)
def test_what_is_found_does_not_depend_on_the_way(name: str, tmp_path: Path) -> None:
    opening, count = OPENINGS[name]
    path = save(tmp_path / "midway.pcap", packets(opening, opening))
    found = rows(path)
    assert rows(path, Options(careful=True)) == found
    assert len(found) >= count * CONNECTIONS


@pytest.mark.usefixtures("few_records")
@pytest.mark.parametrize("cut", range(1, len(WHOLE), 7))
def test_frame_in_two_segments_is_found(cut: int, tmp_path: Path) -> None:
    path = save(tmp_path / "midway.pcap", packets(WHOLE[:cut], WHOLE[cut:] + OTHER))
    found = rows(path)
    assert rows(path, Options(careful=True)) == found
    assert len(found) == 2 * CONNECTIONS


def test_first_segment_that_was_captured_late_is_not_lost(tmp_path: Path) -> None:
    both = packets(WHOLE, OTHER)
    late = [*both[-20:], *both[:-20]]
    again = [one._replace(time_ns=START + number) for number, one in enumerate(late)]
    found = rows(save(tmp_path / "midway.pcap", again))
    assert [105, 34] == sorted({row["code"] for row in found}, reverse=True)
    assert len(found) == 2 * CONNECTIONS


@pytest.mark.usefixtures("few_records")
def test_another_connection_of_the_same_ends_is_known_by_its_syn(tmp_path: Path) -> None:
    both = packets(WHOLE, OTHER)
    syn = [one._replace(flags=SYN, sequence=4_999, data=b"") for one in both[:CONNECTIONS]]
    again = [
        *both[:CONNECTIONS],
        *syn,
        *(one._replace(sequence=5_000) for one in both[CONNECTIONS:]),
    ]
    again = [one._replace(time_ns=START + i * STEP_NS) for i, one in enumerate(again)]
    path = save(tmp_path / "midway.pcap", again)
    found = rows(path)
    assert rows(path, Options(careful=True)) == found
    assert len(found) == 2 * CONNECTIONS
