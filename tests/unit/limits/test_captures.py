"""Captures of real programs pass every limit of the decoder; data beyond a limit costs no other data.

All limits have their defaults.  ``tests/unit/tools/pcap/rows/test_bounds.py`` and ``test_hostile.py`` test what is beyond.
"""

import gzip
import struct
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest

from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.records import MAX_RECORD, MAX_RECORDS
from rocketwire_tools.pcap.packets.packets import MAX_ADDRESSES
from rocketwire_tools.pcap.reports.reports import SummaryReport
from rocketwire_tools.pcap.rows import endpoints
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.decoded_rows import rows

SERVER = ("10.0.0.2", 10911)
START = 1_700_000_000_000_000_000
MILLISECOND = 1_000_000
SECOND = 1_000 * MILLISECOND
SEGMENT = 1448
OFFLOADED = 65_000
"""Bytes of a segment that a network card has not cut yet."""


def client(number: int = 0) -> tuple[str, int]:
    return f"10.{1 + (number >> 16)}.{number >> 8 & 255}.{number & 255}", 40_000


def ask(opaque: int, body: bytes | None = None, **fields: str) -> bytes:
    return encode(RemotingCommand(code=105, opaque=opaque, ext_fields=fields or None, body=body))


def answer(opaque: int) -> bytes:
    return encode(RemotingCommand(code=0, opaque=opaque, flag=1))


def stream(
    data: bytes, *, number: int = 0, begin: int = START, step: int = 0, size: int = OFFLOADED
) -> Iterator[Packet]:
    """The packets of a client that begins a connection and sends bytes, ``step`` nanoseconds apart."""
    yield Packet(begin, client(number), SERVER, 0, 0, SYN, b"")
    for index, place in enumerate(range(0, len(data), size), 1):
        piece = data[place : place + size]
        yield Packet(begin + index * step, client(number), SERVER, 1 + place, 0, ACK, piece)


def in_time(*streams: Iterable[Packet]) -> list[Packet]:
    return sorted(chain(*streams), key=lambda packet: packet.time_ns)


def test_more_records_than_are_looked_at_at_once_have_all_their_rows(tmp_path: Path) -> None:
    number = 2 * MAX_RECORDS
    data = b"".join(ask(opaque) for opaque in range(number))
    path = save(tmp_path / "many.pcap", stream(data, step=1000, size=len(data) // number))

    assert sum(batch.num_rows for batch in Decoder(str(path))) == number


def test_a_compressed_capture_larger_than_what_is_inflated_ahead_is_read(tmp_path: Path) -> None:
    frame = ask(1, bytes(100_000))
    path = save(tmp_path / "large.pcap", stream(frame * 250, step=MILLISECOND))
    packed = tmp_path / "large.pcap.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    assert path.stat().st_size > 20 << 20

    assert len(rows(packed)) == 250


def test_a_compressed_capture_may_have_a_name_and_a_comment(tmp_path: Path) -> None:
    content = save(tmp_path / "named.pcap", stream(ask(1))).read_bytes()
    head = b"\x1f\x8b\x08\x18" + bytes(6) + b"n" * 255 + b"\0" + b"c" * 4096 + b"\0"
    path = tmp_path / "named.pcap.gz"
    path.write_bytes(head + gzip.compress(content)[10:])

    assert len(rows(path)) == 1


def test_ten_thousand_connections_are_remembered(tmp_path: Path) -> None:
    first = (stream(ask(number), number=number) for number in range(10_000))
    second = [
        Packet(START + SECOND, client(n), SERVER, 1 + len(ask(n)), 0, ACK, ask(n + 1))
        for n in range(10_000)
    ]
    decoder = Decoder(str(save(tmp_path / "fleet.pcap", in_time(*first, second))))

    assert sum(batch.num_rows for batch in decoder) == 20_000
    assert decoder.totals.forgotten == 0


def test_ten_thousand_clients_with_ipv6_addresses_are_told_apart(tmp_path: Path) -> None:
    assert MAX_ADDRESSES > 10_000
    server = ("2001:db8::1", 10911)
    clients = [(f"2001:db8::{n >> 8:x}:{n & 255:x}:2", 40_000) for n in range(10_000)]
    packets = [
        Packet(START + number, client, server, *segment)
        for number, client in enumerate(clients)
        for segment in ((0, 0, SYN, b""), (1, 0, ACK, ask(number)))
    ]
    result = rows(save(tmp_path / "ipv6.pcap", packets))

    assert {(row["src"], row["opaque"]) for row in result} == {
        (str(ip_address(host)), number) for number, (host, _) in enumerate(clients)
    }


@pytest.mark.parametrize("bodies", [False, True])
def test_the_largest_messages_of_many_producers_at_once_are_whole(
    tmp_path: Path, *, bodies: bool
) -> None:
    body = bytes(range(256)) * (4 << 12)  # 4 MiB, as large as brokers take
    frame = encode(RemotingCommand(code=310, opaque=1, body=body))
    streams = (stream(frame, number=number, step=MILLISECOND) for number in range(8))
    path = save(tmp_path / "large.pcap", in_time(*streams))
    fields = ("code", "body_ok", "raw_body") if bodies else ("code", "body_ok")

    result = rows(path, Options(bodies=bodies, fields=fields))

    assert [row["body_ok"] for row in result] == [True] * 8
    assert {row.get("raw_body", body) for row in result} == {body}


@pytest.mark.parametrize("ms", [10, 2900])
def test_a_segment_that_comes_seconds_late_loses_nothing_behind_it(tmp_path: Path, ms: int) -> None:
    frames = [ask(opaque, bytes(3000)) for opaque in range(200)]
    packets = [*stream(b"".join(frames), step=MILLISECOND, size=SEGMENT)]
    hole = packets.pop(10)
    delayed = hole._replace(time_ns=hole.time_ns + ms * MILLISECOND)

    assert len(rows(save(tmp_path / "late.pcap", in_time(packets, [delayed])))) == 200


def read_with_late_first_segment(path: Path, delay: int) -> list[dict[str, Any]]:
    frames = [ask(opaque, bytes(1000)) for opaque in range(20)]
    _, first, *following = stream(b"".join(frames), step=MILLISECOND, size=SEGMENT)
    delayed = first._replace(time_ns=first.time_ns + delay)
    return rows(save(path / "first.pcap", in_time([delayed], following)))


def test_a_first_segment_that_is_captured_behind_others_is_looked_back_to(tmp_path: Path) -> None:
    assert len(read_with_late_first_segment(tmp_path, 15 * MILLISECOND)) == 20


def test_a_first_segment_that_comes_too_late_costs_its_own_frames_alone(tmp_path: Path) -> None:
    result = read_with_late_first_segment(tmp_path, 5 * SECOND)

    assert {row["opaque"] for row in result} >= set(range(2, 20))


def test_the_first_frame_is_found_behind_the_rest_of_the_largest_message(tmp_path: Path) -> None:
    data = bytes(16 << 20) + b"".join(ask(opaque, topic="orders") for opaque in range(50))
    _, *packets = stream(data, step=MILLISECOND // 10)

    assert len(rows(save(tmp_path / "midway.pcap", packets))) >= 49


def test_values_of_megabytes_in_headers_are_read(tmp_path: Path) -> None:
    data = ask(1, value="v" * 3_000_000) + ask(2)
    result = rows(save(tmp_path / "kv.pcap", stream(data, step=MILLISECOND)))

    assert [(row["opaque"], row["header_ok"]) for row in result] == [(1, True), (2, True)]


def test_all_requests_that_one_connection_has_open_find_their_answers(tmp_path: Path) -> None:
    opaques = range(100_000, 100_000 + 65_535)
    requests = b"".join(map(ask, opaques))
    answers = b"".join(map(answer, reversed(opaques)))

    def whole_frames(frame: bytes) -> int:
        return OFFLOADED // len(frame) * len(frame)

    size, time = whole_frames(answer(opaques[0])), START + 30 * SECOND
    back = (
        Packet(time, SERVER, client(), 1 + place, 0, ACK, answers[place : place + size])
        for place in range(0, len(answers), size)
    )
    handshake = Packet(START, SERVER, client(), 0, 1, SYN | ACK, b"")
    there = stream(requests, step=MILLISECOND, size=whole_frames(ask(opaques[0])))
    path = save(tmp_path / "open.pcap", [*in_time(there, [handshake]), *back])

    result = [row for row in rows(path) if row["kind"] == "response"]

    assert len(result) == len(opaques)
    assert {row["latency_ns"] is not None for row in result} == {True}


def test_texts_of_twenty_thousand_clients_and_topics_are_right(tmp_path: Path) -> None:
    assert endpoints.MAX_TEXTS > 20_000
    streams = (
        stream(ask(1, topic=f"topic-{number}"), number=number, begin=START + number)
        for number in range(20_000)
    )
    decoder = Decoder(str(save(tmp_path / "texts.pcap", in_time(*streams))))
    summary = SummaryReport(10)
    pairs: list[tuple[str, str]] = []
    for batch in decoder:
        summary.take(batch)
        result = cast("Any", batch).to_pydict()
        pairs += zip(result["src"], result["topic"], strict=True)

    assert sorted(pairs) == sorted((client(n)[0], f"topic-{n}") for n in range(20_000))


def test_a_record_that_claims_too_much_ends_its_file_alone(tmp_path: Path) -> None:
    good = save(tmp_path / "good.pcap", stream(ask(1)))
    data = bytearray(good.read_bytes())
    data[24 + 8 : 24 + 16] = struct.pack("<II", MAX_RECORD + 1, MAX_RECORD + 1)
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(data)

    with pytest.raises(CaptureError, match=r"bad\.pcap at byte 24"):
        rows(bad)
    assert len(rows(good)) == 1


def test_a_header_that_claims_too_much_costs_no_frame_around_it(tmp_path: Path) -> None:
    lie = struct.pack(">II", 0x00FFFFFC, 0x00500000) + b"{" * 100
    data = [ask(1), lie, ask(2)]
    packets = [Packet(START, client(), SERVER, 0, 0, SYN, b"")]
    place = 1
    for number, piece in enumerate(data, 1):
        packets.append(Packet(START + number, client(), SERVER, place, 0, ACK, piece))
        place += len(piece)

    assert [row["opaque"] for row in rows(save(tmp_path / "lie.pcap", packets))] == [1, 2]


def test_bytes_of_no_frame_for_too_long_end_the_search_in_one_stream_alone(tmp_path: Path) -> None:
    _, *zeros = stream(bytes(40 << 20), step=MILLISECOND // 10)
    frames = stream(b"".join(ask(opaque) for opaque in range(50)), number=1, step=MILLISECOND)

    assert len(rows(save(tmp_path / "zeros.pcap", in_time(zeros, frames)))) == 50
