"""Ports on loopback for servers and listeners of the suite."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from typing import Final

LOOPBACK: Final = "127.0.0.1"


_PORTS: Final = range(28_000, 32_000)
"""Below those that systems give to outgoing connections, so that none is lost between now and its use."""


_chance: Final = random.SystemRandom()


_handed_out: Final[set[int]] = set()


def free_port() -> int:
    """A port on loopback that nobody listens on now, and that nobody was given before."""
    while True:
        port = _chance.choice(_PORTS)
        if port in _handed_out:
            continue
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                attempt.bind((LOOPBACK, port))
                _handed_out.add(port)
                return port
