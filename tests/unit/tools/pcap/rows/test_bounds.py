"""Waiting rows, pieces of streams and answers are bounded, and complete frames are still found."""

from pathlib import Path

import numpy as np
import pytest

from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.rows.pairing import Paired, Pairing
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.decoded_rows import rows
from tests.support.captures.wire import SERVER, START

FEW = 50
FRAME = encode(RemotingCommand(code=105, opaque=1, ext_fields={"topic": "orders"}))
LONG = encode(RemotingCommand(code=310, opaque=2, body=bytes(100_000)))


def client(number: int) -> tuple[str, int]:
    return f"10.1.{number >> 8}.{number & 255}", 40_000


@pytest.fixture
def few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", FEW)
    monkeypatch.setattr("rocketwire_tools.pcap.decode.decoder.CELL", 1)


@pytest.mark.usefixtures("few_records")
def test_rows_wait_for_no_body_where_no_time_passes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.decode.decoder.MAX_WAITING", FEW)
    syns = [Packet(START, client(i), SERVER, 0, 0, SYN, b"") for i in range(1, 9 * FEW)]
    complete = [syn._replace(sequence=1, flags=ACK, data=FRAME) for syn in syns]
    open_frame = [
        Packet(START, client(0), SERVER, 0, 0, SYN, b""),
        Packet(START, client(0), SERVER, 1, 0, ACK, LONG[:1000]),
    ]
    continuation = Packet(START, client(0), SERVER, 1001, 0, ACK, LONG[1000:2000])
    decoder = Decoder(
        str(save(tmp_path / "still.pcap", [*open_frame, *syns, *complete, continuation]))
    )
    packets = [(decoder.totals.packets, batch.num_rows) for batch in decoder]
    assert sum(count for _, count in packets) == len(complete) + 1
    assert packets[0][0] <= len(syns) + 5 * FEW
    assert max(count for _, count in packets) <= 4 * FEW


@pytest.mark.usefixtures("few_records")
@pytest.mark.parametrize("count", [FEW, 5 * FEW])
def test_rows_after_a_hole_wait_only_up_to_a_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.decode.decoder.MAX_WAITING", FEW)
    first = Packet(START, client(0), SERVER, 1, 0, ACK, FRAME)
    second = first._replace(sequence=1 + len(FRAME))
    of_clients = [first._replace(source=client(number)) for number in range(1, count + 1)]
    syns = [packet._replace(sequence=0, flags=SYN, data=b"") for packet in [first, *of_clients]]
    decoded = rows(save(tmp_path / "hole.pcap", [*syns, second, *of_clients, first]))
    sources = [row["src"] for row in decoded]
    assert len(sources) == count + 2
    assert client(0)[0] == sources[-1]
    assert (sources.index(client(0)[0]) == 0) == (count < 2 * FEW)


@pytest.mark.usefixtures("few_records")
@pytest.mark.parametrize("bodies", [False, True])
def test_streams_that_keep_too_much_are_forgotten_and_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, bodies: bool
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.streams.flows.MAX_KEPT", 8 * len(LONG) // 10)
    fields = ("code", "body_ok", "raw_body") if bodies else ("code", "body_ok")
    part = LONG if bodies else FRAME + LONG[:60]
    packets: list[Packet] = []
    for number in range(4 * FEW):
        packets.append(Packet(START, client(number), SERVER, 0, 0, SYN, b""))
        if bodies:
            packets.append(Packet(START, client(number), SERVER, 1, 0, ACK, part[:40_000]))
        else:  # after a hole
            packets.append(Packet(START, client(number), SERVER, 1, 0, ACK, part))
            packets.append(Packet(START, client(number), SERVER, 9_000, 0, ACK, bytes(20_000)))
    decoder = Decoder(
        str(save(tmp_path / "kept.pcap", packets)), Options(bodies=bodies, fields=fields)
    )
    decoded = [row for batch in decoder for row in batch.to_pylist()]
    assert decoder.totals.forgotten > FEW
    complete = [row for row in decoded if row["code"] == (310 if bodies else 105)]
    assert len(complete) == 4 * FEW
    assert {row["body_ok"] for row in complete} == {not bodies}


@pytest.mark.parametrize("size", [100, 3000])
def test_short_frames_are_looked_for_in_parts_with_the_same_rows(
    size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shortest = b"\0\0\0\6\0\0\0\2{}"
    data = shortest * 8_000
    packets = [
        Packet(START + offset, client(0), SERVER, offset, 0, ACK, data[offset : offset + 5_000])
        for offset in range(0, len(data), 5_000)
    ]
    path = save(tmp_path / "short.pcap", packets)
    expected = rows(path)
    assert len(expected) == 8_000
    monkeypatch.setattr("rocketwire_tools.pcap.decode.decoder.MAX_FRAMES", 1000)
    monkeypatch.setattr("rocketwire_tools.pcap.decode.decoder.MAX_ROWS", size)
    decoder = Decoder(str(path))
    batches = list(decoder)
    assert [row for batch in batches for row in batch.to_pylist()] == expected
    assert max(batch.num_rows for batch in batches) <= size


def test_answers_that_came_too_early_are_remembered_no_longer_than_their_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.rows.pairing.MAX_HELD", 2)
    pairing = Pairing()

    def pair(number: int, opaque: int, flag: int) -> bool:
        parts = (np.array([value]) for value in (number, opaque, flag, 34, START))
        results.append(pairing.pair(*parts))
        return bool(results[-1].is_paired[0])

    results: list[Paired] = []
    for opaque in range(3):
        pair(3, opaque, 1)
    for opaque in range(3):
        pair(2, opaque, 0)
    assert [False, True, True] == [bool(pairs.is_paired[0]) for pairs in results[:3]]
    assert (1, 0) == (pairing.waiting, pairing.unanswered)
