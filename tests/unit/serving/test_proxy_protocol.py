"""Headers of the PROXY protocol are accepted and refused as by netty, in pieces of any length.

Both tables have the verdicts of netty 4.1.130, the release that RocketMQ 5.5.0 ships with.
"""

import contextlib
import ipaddress
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.serving.proxy_protocol import begins_proxy_header, read_proxy_header
from tests.support.values import require

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
IPV4 = bytes([1, 2, 3, 4, 5, 6, 7, 8]) + b"\x12\x34\x00\x50"
IPV6 = ipaddress.ip_address("2001:db8::1").packed + bytes(15) + b"\x01\x12\x34\x00\x50"


def v2(body: bytes = b"", *, command: int = 0x21, family: int = 0x11, length: int = -1) -> bytes:
    declared = len(body) if length < 0 else length
    return SIGNATURE + bytes([command, family]) + declared.to_bytes(2, "big") + body


def tlv(number: int, value: bytes) -> bytes:
    return bytes([number]) + len(value).to_bytes(2, "big") + value


def nest(levels: int) -> bytes:
    value = tlv(0x20, bytes(5))
    for _ in range(levels - 1):
        value = tlv(0x20, bytes(5) + value)
    return value


GOOD = [
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 4660 80\r\n", "1.2.3.4:4660"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 4660 80  \r\n", "1.2.3.4:4660"),
    (b"PROXY TCP4 01.002.3.4 5.6.7.8 +1 00065535\r\n", "1.2.3.4:1"),
    (b"PROXY TCP6 2001:db8::1 ::1 4660 80\r\n", "[2001:db8::1]:4660"),
    (b"PROXY TCP6 [::1] fe80::2%eth0 1 2\r\n", "[::1]:1"),
    (b"PROXY TCP6 ::ffff:1.2.3.4 ::1.2.3.4 1 2\r\n", "1.2.3.4:1"),
    (b"PROXY UNKNOWN\r\n", None),
    (b"PROXY UNKNOWN  \r\n", None),
    (b"PROXY UNKNOWN a b c d e f\r\n", None),
    (b"PROXY UNKNOWN \xff\xfe\x00 a\nb\rc\r\n", None),
    (b"PROXY UNKNOWN " + b"a" * 94 + b"\r\n", None),
    (v2(IPV4), "1.2.3.4:4660"),
    (v2(IPV4, family=0x12), "1.2.3.4:4660"),
    (v2(IPV6, family=0x21), "[2001:db8::1]:4660"),
    (v2(IPV6, family=0x22), "[2001:db8::1]:4660"),
    (v2(IPV4[:8] + bytes(4)), None),
    (v2(bytes(216), family=0x31), None),
    (v2(b"\xff" * 216 + tlv(1, b"h2"), family=0x32), None),
    (v2(b"junk", family=0x00), None),
    (v2(family=0x00), None),
    (v2(command=0x20), None),
    (v2(b"\xee\xff\xff", command=0x20, family=0xFF), None),
    (v2(IPV4 + tlv(1, b"h2") + tlv(2, b"") + tlv(0xEE, b"x")), "1.2.3.4:4660"),
    (v2(IPV4 + tlv(0x20, bytes(5))), "1.2.3.4:4660"),
    (v2(IPV4 + tlv(0x20, bytes(5) + tlv(0x21, b"TLSv1.3"))), "1.2.3.4:4660"),
    (v2(IPV4 + tlv(0x20, bytes(8))), "1.2.3.4:4660"),
    (v2(IPV4 + b"\x01\x00\x01"), "1.2.3.4:4660"),
    (v2(IPV4 + nest(129)), "1.2.3.4:4660"),
]

BAD = [
    (b"PROXY \r\n", "family ''"),
    (b"PROXY  UNKNOWN\r\n", "family ''"),
    (b"PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n", "family 'UDP4'"),
    (b"PROXY tcp4 1.2.3.4 5.6.7.8 1 2\r\n", "family 'tcp4'"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n", "5 fields instead of 6"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n", "7 fields instead of 6"),
    (b"PROXY TCP4 1.2.3.4  5.6.7.8 1 2\r\n", "7 fields instead of 6"),
    (b"PROXY TCP4 ::1 ::2 1 2\r\n", "'::1' is not an IPv4 address"),
    (b"PROXY TCP4 1.2.3 5.6.7.8 1 2\r\n", "'1.2.3' is not an IPv4 address"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.256 1 2\r\n", "'5.6.7.256' is not an IPv4 address"),
    (b"PROXY TCP4 1.2.3.\xb2 5.6.7.8 1 2\r\n", "'1.2.3.\\xb2' is not an IPv4 address"),
    (b"PROXY TCP6 1.2.3.4 ::2 1 2\r\n", "'1.2.3.4' is not an IPv6 address"),
    (b"PROXY TCP6 ::1:2:3:4:5:6:7:8 ::1 1 2\r\n", "'::1:2:3:4:5:6:7:8' is not an IPv6 address"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 0 2\r\n", "'0' is not a port"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n", "'65536' is not a port"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 -1 2\r\n", "'-1' is not a port"),
    (b"PROXY TCP4 1.2.3.4 5.6.7.8 4294967297 2\r\n", "'4294967297' is not a port"),
    (b"PROXY UNKNOWN " + b"a" * 95 + b"\r\n", "no end within 108 bytes"),
    (b"PROXY " + bytes(200), "no end within 108 bytes"),
    (v2(IPV4, command=0x31), "version and command 0x31"),
    (v2(IPV4, command=0x11), "version and command 0x11"),
    (v2(IPV4, command=0x22), "version and command 0x22"),
    (v2(IPV4, family=0x10), "family and transport 0x10"),
    (v2(IPV4, family=0x13), "family and transport 0x13"),
    (v2(IPV4, family=0x41), "family and transport 0x41"),
    (v2(IPV4[:4]), "4 bytes of addresses instead of 12"),
    (v2(IPV6[:35], family=0x21), "35 bytes of addresses instead of 36"),
    (v2(bytes(215), family=0x31), "215 bytes of addresses instead of 216"),
    (v2(IPV4 + b"\x01\x00\x03ab"), "a TLV of 3 bytes, but only 2 are left"),
    (v2(IPV4 + tlv(0x20, bytes(4))), "a TLV of type SSL with 4 bytes"),
    (v2(IPV4 + tlv(0x20, bytes(5) + b"\x21\x00\x04abc")), "a TLV of 4 bytes, but only 3 are left"),
    (v2(IPV4 + nest(130)), "nested deeper than 128 levels"),
]


@pytest.mark.parametrize(("header", "client"), GOOD)
def test_a_good_header_is_read_however_it_is_cut(header: bytes, client: str | None) -> None:
    for end in range(len(header)):
        assert begins_proxy_header(header[:end])
        assert read_proxy_header(header[:end]) is None

    result = require(read_proxy_header(header + b"\r\nPROXY and more"))

    assert (result.size, result.client) == (len(header), client)


@pytest.mark.parametrize(("header", "message"), BAD)
def test_a_bad_header_is_refused_however_it_is_cut(header: bytes, message: str) -> None:
    for end in range(len(header)):
        with contextlib.suppress(DecodeError):  # the earlier the better
            assert read_proxy_header(header[:end]) is None

    with pytest.raises(DecodeError) as caught:
        read_proxy_header(header)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_the_longest_header_is_read() -> None:
    header = v2(IPV4 + tlv(4, bytes(65_535 - 12 - 3)))

    assert require(read_proxy_header(header)).size == len(header) == 16 + 65_535
    assert read_proxy_header(header[:-1]) is None


@pytest.mark.parametrize(
    "data", [b"X", b"PROXYX", b"proxy ", b" PROXY ", b"\r\n\r\n\x01", b"\x00\x00", b"\x16\x03"]
)
def test_other_bytes_begin_no_header(data: bytes) -> None:
    assert not begins_proxy_header(data)


@given(st.binary(max_size=300), st.sampled_from([b"PROXY ", b"PROXY TCP4 ", SIGNATURE, v2()]))
def test_any_bytes_are_a_header_or_a_refusal(data: bytes, beginning: bytes) -> None:
    with contextlib.suppress(DecodeError):
        result = read_proxy_header(beginning + data)
        assert result is None or result.size <= len(beginning) + len(data)


ADDRESSES = st.ip_addresses().filter(lambda address: getattr(address, "ipv4_mapped", None) is None)
PORTS = st.integers(1, 65_535)
FIELDS = st.lists(st.tuples(st.integers(0, 0x1F), st.binary(min_size=1, max_size=20)), max_size=5)
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


@given(ADDRESSES, ADDRESSES, PORTS, PORTS, FIELDS)
def test_address_and_port_come_through_whatever_fields_follow(
    source: Address,
    destination: Address,
    source_port: int,
    destination_port: int,
    fields: list[tuple[int, bytes]],
) -> None:
    if source.version != destination.version:
        destination = source
    family = 0x11 if source.version == 4 else 0x21
    ports = source_port.to_bytes(2, "big") + destination_port.to_bytes(2, "big")
    body = source.packed + destination.packed + ports + b"".join(tlv(*field) for field in fields)
    line = f"PROXY TCP{source.version} {source} {destination} {source_port} {destination_port}\r\n"

    binary = require(read_proxy_header(v2(body, family=family)))
    text = require(read_proxy_header(line.encode()))

    for result in (binary, text):
        assert (result.source, result.source_port) == (str(source), source_port)
