"""Ports on loopback for servers and listeners of the suite."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from typing import Final

LOOPBACK: Final = "127.0.0.1"


_PORTS: Final = range(28_000, 32_000)
"""Below the range of outgoing connections, which could take a port before its use."""


_chance: Final = random.SystemRandom()


_used: Final[set[int]] = set()


def free_port() -> int:
    """A free port on loopback that was not returned before."""
    while True:
        port = _chance.choice(_PORTS)
        if port in _used:
            continue
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                attempt.bind((LOOPBACK, port))
                _used.add(port)
                return port
