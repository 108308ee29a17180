"""An address of this machine for client ids and message ids; it opens no connection."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterable
from typing import Final

LOOPBACK: Final = "127.0.0.1"


def local_address() -> str:
    """Return the address of this machine's host name: IPv4 first, loopback only if it is alone.

    Java: ``NetworkUtil.getLocalAddress``, which reads the network interfaces.
    """
    try:
        # Bytes, because Python would load a codec for text (idna).
        name = os.fsencode(socket.gethostname())
        records = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return LOOPBACK
    return best_address(str(record[4][0]) for record in records)


def best_address(addresses: Iterable[str]) -> str:
    """Return the first IPv4, then IPv6 address that is neither loopback nor link-local."""
    candidates = [ipaddress.ip_address(address.partition("%")[0]) for address in addresses]
    external = [ip for ip in candidates if not ip.is_loopback and not ip.is_link_local]
    return str(min(external, key=lambda ip: ip.version, default=LOOPBACK))
