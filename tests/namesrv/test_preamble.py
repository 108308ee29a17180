"""Foreign first bytes are named, and nothing in them can forge a line of the log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire_namesrv.preamble import describe


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
        (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            "a TLS ClientHello (this listener does not speak TLS)",
        ),
        (b"\x16", "a TLS ClientHello (this listener does not speak TLS)"),
        (b"*1\r\n$4\r\nPING\r\n", "a Redis command: '*1\\r\\n$4\\r\\nPING\\r\\n'"),
        (b"PING\r\n", "a Redis command: 'PING\\r\\n'"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "an SSH client: 'SSH-2.0-OpenSSH_9.6'"),
        (
            b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nabc",
            "a PROXY protocol v1 header (this listener does not take one): "
            "'PROXY TCP4 1.2.3.4 5.6.7.8 1 2'",
        ),
        (
            b"\r\n\r\n\x00\r\nQUIT\n\x21\x11",
            "a PROXY protocol v2 header (this listener does not take one)",
        ),
        (b"\x7f\xff\xff\xff", "a frame length of 2147483647 (a probe or an attack)"),
        (
            b"\x00\x00\x00\x20\x00\x00\x00\x64{",
            "a frame of 32 bytes with a header of 100",
        ),
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


@given(st.binary(max_size=300))
def test_any_bytes_give_one_short_printable_line(data: bytes) -> None:
    text = describe(data)

    assert text.isprintable()
    assert len(text) < 400
