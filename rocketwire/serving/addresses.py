"""Addresses of peers and of listening sockets, as texts."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address


def ip_of(address: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address of ``host:port``, with brackets if IPv6; None for other texts."""
    text = address.rpartition(":")[0].strip("[]")
    try:
        host = ip_address(text)
    except ValueError:
        return None
    mapped = None if host.version == 4 else host.ipv4_mapped
    return host if mapped is None else mapped


def is_loopback(address: str) -> bool:
    """Return whether only this machine reaches an IP address."""
    host = ip_of(f"{address}:0")
    return host is not None and host.is_loopback
