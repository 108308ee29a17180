"""Parses and formats addresses: ``host:port``, lists of them, and a broker's second port.

Java: ``RemotingHelper``, ``NameServerAddressUtils``, ``MixAll.brokerVIPChannel``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final

from rocketwire.errors import IllegalAddressError

VIP_PORT_DISTANCE: Final = 2
"""Distance of a broker's second port below its first; it serves all but pulls and pops."""

_NOT_IN_NAMES: Final = frozenset(" \t,;/")


def split_address(address: str) -> tuple[str, int]:
    """Split ``host:port`` at the last colon; brackets of an IPv6 address are removed.

    Raises:
        IllegalAddressError: host or port is missing or invalid.
    """
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_port = port.isascii() and port.isdecimal() and len(port) < 9 and 0 < int(port) < 65536
    if not colon or not is_port or not _is_host(host):
        raise IllegalAddressError(f"not host:port: {address!r}")
    return host, int(port)


def _is_host(host: str) -> bool:
    if ":" not in host:
        return bool(host) and not _NOT_IN_NAMES.intersection(host)
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return True


def join_address(host: str, port: int) -> str:
    """Return ``host:port``, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_name_servers(configured: str | Iterable[str]) -> tuple[str, ...]:
    """Parse ``host:port;host:port`` or a list of addresses; spaces and empty items are ignored.

    Of an endpoint ``http://instance.host:port``, the address is used. Duplicates are removed.

    Raises:
        IllegalAddressError: an address is not ``host:port``.
    """
    texts = [configured] if isinstance(configured, str) else configured
    addresses: dict[str, None] = {}
    for item in ";".join(texts).split(";"):
        address = item.strip().rsplit("/", 1)[-1]
        if address:
            split_address(address)
            addresses[address] = None
    return tuple(addresses)


def vip_address(address: str) -> str:
    """Return the address of a broker's second port.

    Raises:
        IllegalAddressError: the address is not ``host:port``.
    """
    host, port = split_address(address)
    return join_address(host, port - VIP_PORT_DISTANCE)
