"""Parses, formats and maps addresses: ``host:port``, lists of them, and a broker's second port.

Java: ``RemotingHelper``, ``NameServerAddressUtils``, ``MixAll.brokerVIPChannel``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias, cast

from rocketwire.client.arguments import shown, type_error
from rocketwire.errors import IllegalAddressError, IllegalValueError

AddressRemap: TypeAlias = "str | Mapping[str, str] | Callable[[str], str]"
"""``from=to;from=to``, or a mapping of such texts, or a function; see ``build_remap``."""

# Distance of a broker's second port below its first; it serves all but pulls and pops
VIP_PORT_DISTANCE: Final = 2

_NOT_IN_NAMES: Final = frozenset(" \t,;/*")


def split_address(address: str) -> tuple[str, int]:
    """Split ``host:port`` at the last colon, or raise ``IllegalAddressError``; without brackets."""
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
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_name_servers(configured: str | Iterable[str]) -> tuple[str, ...]:
    # Parse ``host:port;host:port``, or of an endpoint ``http://instance.host:port/`` the address.
    texts = [configured] if isinstance(configured, str) else configured
    addresses: dict[str, None] = {}
    for item in ";".join(texts).split(";"):
        address = item.strip().removesuffix("/").rpartition("/")[2]
        if address:
            if "," in address:
                raise IllegalAddressError(f"not host:port: {address!r}; separate them by ';'")
            split_address(address)
            addresses[address] = None
    return tuple(addresses)


def namespace_of_endpoint(configured: str | Iterable[str]) -> str:
    # Return ``MQ_INST_x_y`` of ``http://MQ_INST_x_y.host:port``, the namespace of topics and groups
    # (Java: ``NameServerAddressUtils.parseInstanceIdFromEndpoint``).
    endpoints = configured if isinstance(configured, str) else ";".join(configured)
    if "MQ_INST_" not in endpoints:
        return ""
    import re

    found = re.match(r"(?:\w+://)?(MQ_INST_\w+_\w+)\.", endpoints, re.ASCII)
    return "" if found is None else found[1]


def vip_address(address: str) -> str:
    host, port = split_address(address)
    return join_address(host, port - VIP_PORT_DISTANCE)


def build_remap(name: str, remap: Any) -> Callable[[str], str]:
    """Return a function from the address of a peer to the address to connect to.

    ``remap`` is such a function, or pairs of ``host[:port]``, of which the first that fits is used:
    ``*`` stands for any characters of a peer's address, and a pair without ports keeps the port.
    The function raises ``IllegalAddressError`` if an address is not ``host:port``.
    """
    if callable(remap):
        return partial(_call_remap, cast("Callable[[str], str]", remap))
    if isinstance(remap, str):
        parts = (pair.partition("=") for pair in remap.split(";") if pair.strip())
        remap = {source.strip(): target.strip() for source, _, target in parts}
    if not isinstance(remap, Mapping):
        raise type_error(name, "'from=to;from=to', a mapping or a function", remap)
    pairs = cast("Mapping[str, str]", remap)
    if not pairs:
        return str
    import re

    rules: list[tuple[re.Pattern[str], str, str]] = []
    for source, target in pairs.items():
        try:
            host, port = _split_port(source, wildcard="1")
            pattern = re.escape(f"{host}:{port or '*'}").replace(r"\*", ".*")
            rules.append((re.compile(pattern), *_split_port(target)))
        except (AttributeError, IllegalAddressError):
            expected = "host[:port] for host[:port]"
            actual = shown({source: target})
            raise IllegalValueError(f"{name}: expected {expected}, got {actual}") from None

    def map_address(address: str) -> str:
        host, port = split_address(address)
        for pattern, target_host, target_port in rules:
            if pattern.fullmatch(join_address(host, port)):
                return f"{target_host}:{target_port or port}"
        return address

    return map_address


def _split_port(address: str, *, wildcard: str = "*") -> tuple[str, str]:
    # the host keeps its brackets; the port may be empty
    host, colon, port = address.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = address, ""
    split_address(f"{host}:{port or 1}".replace("*", wildcard))
    return host, port


def _call_remap(remap: Callable[[str], str], address: str) -> str:
    split_address(address)
    try:
        target = remap(address)
        split_address(target)
    except Exception as error:
        raise IllegalAddressError(f"{address}: address_remap failed: {error!r}") from error
    return target
