"""Addresses of stored messages and message ids."""

import pytest

from rocketwire.wire.message.host import Host

IPV6 = bytes.fromhex("20010db8000000000000000000000001")


@pytest.mark.parametrize(
    ("host", "text"),
    [
        (Host(bytes([10, 0, 0, 2]), 50000), "10.0.0.2:50000"),
        (Host(bytes(4), 0), "0.0.0.0:0"),
        # InetAddress.getHostAddress neither shortens nor pads the groups
        (Host(IPV6, 10911), "2001:db8:0:0:0:0:0:1:10911"),
    ],
)
def test_a_host_reads_as_java_prints_it(host: Host, text: str) -> None:
    assert str(host) == text
    assert Host.parse(text) == host


@pytest.mark.parametrize("text", ["[2001:db8::1]:10911", "2001:DB8::1:10911"])
def test_an_ipv6_host_may_be_written_with_brackets_or_shortened(text: str) -> None:
    assert Host.parse(text) == Host(IPV6, 10911)


def test_a_wrapped_ipv4_address_is_an_ipv4_address() -> None:
    wrapped = bytes.fromhex("00000000000000000000ffff0a000002")
    assert Host.of(wrapped, 1) == Host(bytes([10, 0, 0, 2]), 1)
    assert Host.parse("[::ffff:10.0.0.2]:1") == Host(bytes([10, 0, 0, 2]), 1)
    assert Host.of(IPV6, 1) == Host(IPV6, 1)


@pytest.mark.parametrize(
    "text",
    [
        *("", "10.0.0.2", "10.0.0.2:", "10.0.0.2:65536", "10.0.0.2:-1", "10.0.0:1", "broker-a:1"),
        *("[::g]:1", "1.2.3.4:\u0663"),
    ],
)
def test_a_name_or_a_missing_port_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match=r"no (port|address) in"):
        Host.parse(text)
