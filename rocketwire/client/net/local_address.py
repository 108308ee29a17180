"""An address of this machine, as a part of client ids and message ids; nothing is connected to for it."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOPBACK: Final = "127.0.0.1"


def local_address() -> str:
    """The address that this machine's name has: IPv4 before IPv6, never loopback unless there is nothing else.

    Java: ``NetworkUtil.getLocalAddress``, which asks the network interfaces.
    """
    try:
        name = os.fsencode(
            socket.gethostname()
        )  # of a text Python makes these very bytes, with a codec that it has to load
        records = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return LOOPBACK
    return best_address(str(record[4][0]) for record in records)


def best_address(addresses: Iterable[str]) -> str:
    """The one to be known by: IPv4 before IPv6; loopback and link-local addresses do not count."""
    found = [ipaddress.ip_address(address.partition("%")[0]) for address in addresses]
    outer = [one for one in found if not one.is_loopback and not one.is_link_local]
    return str(min(outer, key=lambda one: one.version, default=LOOPBACK))
