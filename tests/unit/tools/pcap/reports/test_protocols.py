"""TLS and PROXY headers at the beginning of connections are reported, for Java's connections too."""

from pathlib import Path
from typing import Any

import pytest

from rocketwire.wire.command import RemotingCommand, encode
from tests.integration.tools.pcap.test_recorded import read_counts
from tests.peers import manifest
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.file_programs import run_pcap

SECRET = manifest.FIXTURES / "captures" / "java-5.5.0-tls.pcap.gz"
CLIENT, SERVER = ("10.0.0.1", 40_000), ("10.0.0.2", 10911)
FRAME = encode(RemotingCommand(code=105, opaque=7, ext_fields={"topic": "x"}))
Tables = dict[str, list[dict[str, Any]]]


def summarize(capture: Path) -> Tables:
    """The tables of ``summary``."""
    return run_pcap("summary", capture, "--json").report


def test_tls_and_proxied_connections_of_java_are_reported() -> None:
    rows = read_counts(SECRET)
    secret = {frozenset((row["src"], row["dst"])) for row in rows if row["speaks"] == "tls"}
    proxied = {frozenset((row["src"], row["dst"])) for row in rows if row["proxy"]}
    tables = summarize(SECRET)
    connections: dict[str, set[frozenset[str]]] = {"TLS": set(), "RocketMQ": set()}
    for table in tables["unusual"]:
        connections[table["protocol"]].add(frozenset(table["connection"].split("-")))
    assert {"TLS": secret, "RocketMQ": proxied} == connections
    assert {"192.0.2.1"} == {table["proxied_for"] for table in tables["unusual"]} - {None}
    kinds = {table["protocol"]: table["connections"] for table in tables["protocols"]}
    assert len(secret) == kinds["TLS"]


def send(data: bytes, second: int = 0, port: int = 40_000) -> list[Packet]:
    """Packets that open a connection and send bytes."""
    client = CLIENT[0], port
    now = (1_700_000_000 + second) * 10**9
    return [
        Packet(now, client, SERVER, 999, 0, SYN, b""),
        Packet(now + 1000, client, SERVER, 1000, 1, ACK, data),
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (FRAME, ("RocketMQ", None)),
        (b"GET / HTTP/1.1\r\n\r\n", ("unknown", None)),
        (b"\x16\x03\x01\x02\x00\x01", ("TLS", None)),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), ("HTTP/2", None)),
        (b"\0\0\6\4\0\0\0\0" + bytes(8), ("unknown", None)),
        (FRAME[:8] + b"no header" * 11, ("unknown", None)),
        (FRAME[:20], ("RocketMQ", None)),
        (b"PROXY TCP4 192.0.2.9 10.0.0.2 1 2\r\n" + FRAME, ("RocketMQ", "192.0.2.9")),
        (
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x09\0\0\0\0\0\0\0\0" + FRAME,
            ("RocketMQ", "192.0.2.9"),
        ),
        (
            b"\r\n\r\n\0\r\nQUIT\n\x21\x21\x00\x24" + bytes(15) + b"\1" + bytes(20) + FRAME,
            ("RocketMQ", "::1"),
        ),
        (b"PROXY UNKNOWN\r\n\x16\x03\x01\0", ("TLS", "unknown")),
    ],
)
def test_first_bytes_decide(data: bytes, expected: tuple[str, str | None], tmp_path: Path) -> None:
    tables = summarize(save(tmp_path / "a.pcap", send(data)))
    protocol, proxied = expected
    assert [(protocol, 1, len(data))] == [
        (table["protocol"], table["connections"], table["payload_bytes"])
        for table in tables["protocols"]
    ]
    assert [proxied] == [table["proxied_for"] for table in tables["unusual"]] or expected == (
        "RocketMQ",
        None,
    )


@pytest.mark.parametrize("client", [b"PRI * HTTP/2.0\r\n\r\n", b"\x16\x03\x01\x02\x00"])
@pytest.mark.parametrize("client_is_first", [False, True], ids=["server first", "client first"])
def test_protocol_of_one_side_is_that_of_the_other(
    client: bytes, client_is_first: bool, tmp_path: Path
) -> None:
    syn, request = send(client)
    answer = Packet(request.time_ns, SERVER, request.source, 5000, 1, ACK, FRAME[:20])
    packets = [syn, request, answer] if client_is_first else [syn, answer, request]
    (protocol,) = summarize(save(tmp_path / "a.pcap", packets))["protocols"]
    assert ("HTTP/2" if client.startswith(b"PRI") else "TLS", 1) == (
        protocol["protocol"], protocol["connections"],
    )  # fmt: skip


def test_client_that_opens_many_connections_in_a_second_is_named(tmp_path: Path) -> None:
    packets = [
        packet for number in range(30) for packet in send(FRAME, number // 20, 40_000 + number)
    ]
    opened = summarize(save(tmp_path / "a.pcap", packets))["opened"]
    assert [{"client": "10.0.0.1", "connections": 30, "most_in_a_second": 20}] == opened


def test_requests_without_an_answer_are_counted(tmp_path: Path) -> None:
    oddities = summarize(save(tmp_path / "a.pcap", send(FRAME)))["oddities"]
    assert {"what": "requests without an answer", "count": 1} in oddities
