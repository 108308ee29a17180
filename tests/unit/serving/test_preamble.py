"""The protocol of a connection is known from the fewest bytes; log lines name foreign protocols."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError
from rocketwire.serving.preamble import NextProtocol, Preamble, describe, describe_plain, is_plain
from rocketwire.wire.command import RemotingCommand, encode

V1 = b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes([1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 2])
FRAME = b"\x00\x00\x00\x10\x00\x00\x00\x0c"
HELLO = b"\x16\x03\x01\x02\x00"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "nothing"),
        (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", "an HTTP request: GET '/health'"),
        (b"POST /", "an HTTP request: POST '/'"),
        (b"GET ", "an HTTP request: GET ''"),
        (b"GET /" + b"a" * 90, f"an HTTP request: GET '/{'a' * 59}'..."),
        (
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00",
            "an HTTP/2 connection preface (a gRPC client?)",
        ),
        (b"PRI ", "an HTTP/2 connection preface (a gRPC client?)"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "a TLS ClientHello"),
        (b"\x16", "a TLS ClientHello"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "an SSH client: 'SSH-2.0-OpenSSH_9.6'"),
        (
            b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nabc",
            "a PROXY protocol v1 header (a connection may begin with one only): "
            "'PROXY TCP4 1.2.3.4 5.6.7.8 1 2'",
        ),
        (
            b"\r\n\r\n\x00\r\nQUIT\n\x21\x11",
            "a PROXY protocol v2 header (a connection may begin with one only)",
        ),
        (b"\x7f\xff\xff\xff", "a frame length of 2147483647 (a probe or an attack)"),
        (b"\x00\x00\x00\x20\x00\x00\x00\x64{", "a frame of 32 bytes with a header of 100"),
        (b"\x00\x00\x00\x20\x02\x00\x00\x00", "bytes 00 00 00 20 02 00 00 00"),
        (b"\x00\x00\x00\x20\x00\x00\x00\x05", "bytes 00 00 00 20 00 00 00 05"),
        (b"\x00\x00\x00\x20", "bytes 00 00 00 20"),
        (b"\xff\xff\xff\xff\x00\x00\x00\x00", "bytes ff ff ff ff 00 00 00 00"),
        (b"\x00\x01", "bytes 00 01"),
        (b"hello\r\nworld\n", "text: 'hello\\r\\nworld\\n'"),
    ],
)
def test_first_bytes_are_named(data: bytes, expected: str) -> None:
    assert describe(data) == expected


JSON = encode(
    RemotingCommand(code=Code.GET_ROUTEINFO_BY_TOPIC, opaque=1, ext_fields={"topic": "TA"})
)
BINARY = encode(
    RemotingCommand(code=Code.REGISTER_BROKER, opaque=1, serialize_type=SerializeType.ROCKETMQ)
)
PLAIN = "a RocketMQ client that does not use TLS"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (JSON, f"{PLAIN}: GET_ROUTEINFO_BY_TOPIC (105)"),
        (JSON[:40], f"{PLAIN}: GET_ROUTEINFO_BY_TOPIC (105)"),
        (JSON + b"more", f"{PLAIN}: GET_ROUTEINFO_BY_TOPIC (105)"),
        (JSON[:12], PLAIN),
        (JSON[:8], PLAIN),
        (JSON[:4], PLAIN),
        (JSON.replace(b":105,", b":4711,"), f"{PLAIN}: code 4711"),
        (BINARY, f"{PLAIN}: REGISTER_BROKER (103)"),
        (BINARY[:9], PLAIN),
        (JSON[:3], f"bytes {JSON[:3].hex(' ')}"),
        (b"\x00\x00\x00\x03\x00\x00\x00\x00", "a frame of 3 bytes with a header of 0"),
        (b"\x00\x00\x00\x03", "bytes 00 00 00 03"),
        (b"GET /health HTTP/1.1\r\n", "an HTTP request: GET '/health'"),
    ],
)
def test_client_without_tls_is_named(data: bytes, expected: str) -> None:
    assert describe_plain(data) == expected


@given(st.binary(max_size=300))
def test_any_bytes_give_one_short_printable_line(data: bytes) -> None:
    for text in (describe_plain(data), describe(data)):
        assert text.isprintable()
        assert len(text) < 400


@pytest.mark.parametrize("header", [b"", V1, V2], ids=["no header", "version 1", "version 2"])
@pytest.mark.parametrize(
    ("data", "expected"), [(FRAME, NextProtocol.PLAIN), (HELLO, NextProtocol.TLS)]
)
def test_protocol_after_a_header(header: bytes, data: bytes, expected: NextProtocol) -> None:
    for cut in range(len(header) + 1):
        preamble = Preamble()
        assert preamble.feed(header[:cut]) is None
        assert preamble.feed(header[cut:]) is None
        assert preamble.held == b""

        assert preamble.feed(data[:1]) is expected
        assert preamble.held == data[:1]
        assert (preamble.proxy is None) == (header == b"")
        assert preamble.proxy is None or preamble.proxy.client == "1.2.3.4:1"


@pytest.mark.parametrize(("data", "header"), [(FRAME, V2), (V1, V1)], ids=["frame", "header"])
def test_only_the_first_header_is_one(data: bytes, header: bytes) -> None:
    preamble = Preamble()

    assert preamble.feed(header + data) is NextProtocol.PLAIN
    assert preamble.held == data


@pytest.mark.parametrize("data", [b"PROXX", b"\r\n\r\n\r", b"PROXYX", b"P\x00"])
def test_bytes_are_held_only_as_long_as_they_may_become_a_header(data: bytes) -> None:
    preamble = Preamble()

    assert preamble.feed(data[:-1]) is None
    assert preamble.feed(data[-1:]) is NextProtocol.PLAIN
    assert preamble.held == data


def test_a_malformed_header_is_an_error() -> None:
    with pytest.raises(DecodeError, match="family 'TCP5'"):
        Preamble().feed(b"PROXY TCP5 \r\n")


@pytest.mark.parametrize(
    ("data", "expected"),
    [(FRAME, True), (b"GET /", True), (V1, False), (V2, False), (HELLO, False)],
)
def test_the_first_byte_settles_most_connections(data: bytes, expected: bool) -> None:
    assert is_plain(data) is expected
