"""Addresses as texts: ``host:port``, lists of them, and a broker's second port.

Java: ``RemotingHelper``, ``NameServerAddressUtils``, ``MixAll.brokerVIPChannel``.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final

from rocketwire.errors import IllegalAddressError

if TYPE_CHECKING:
    from collections.abc import Iterable

VIP_PORT_DISTANCE: Final = 2
"""By so much a broker's second port, which serves all but pulls and pops, lies below its first."""

_NOT_IN_NAMES: Final = frozenset(" \t,;/")

_INSTANCE_ENDPOINT: Final = r"^(\w+://|)(MQ_INST_\w+_\w+)\..*$"


def split_address(address: str) -> tuple[str, int]:
    """Host and port of ``host:port``; the last colon divides, and brackets around an IPv6 address are taken off.

    Raises:
        IllegalAddressError: there is no port, or no host.
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
    """``host:port``, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_name_servers(configured: str | Iterable[str]) -> tuple[str, ...]:
    """Addresses out of ``host:port;host:port`` or of one text each; blanks around them and empty ones do not count.

    An endpoint ``http://instance.host:port`` is the address that stands in it.  Of one that occurs twice the first counts.

    Raises:
        IllegalAddressError: one of them is not ``host:port``.
    """
    texts = [configured] if isinstance(configured, str) else configured
    found: dict[str, None] = {}
    for item in ";".join(texts).split(";"):
        address = item.strip().rsplit("/", 1)[-1]
        if address:
            split_address(address)
            found[address] = None
    return tuple(found)


def instance_of_endpoint(configured: str) -> str | None:
    """The namespace that an endpoint names, ``MQ_INST_..._...`` before its first dot; None for any other text."""
    match = re.match(_INSTANCE_ENDPOINT, configured.strip())
    return None if match is None else match[2]


def vip_address(address: str) -> str:
    """The address of the same broker's second port.

    Raises:
        IllegalAddressError: not ``host:port``.
    """
    host, port = split_address(address)
    return join_address(host, port - VIP_PORT_DISTANCE)
