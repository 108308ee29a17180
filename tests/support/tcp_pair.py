"""A TCP connection within one process."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def pair() -> Generator[tuple[trio.SocketStream, socket.socket]]:
    """Our stream, and the other end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = socket.create_connection(listening.getsockname())
        here, _ = listening.accept()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with there:
        yield trio.SocketStream(trio.socket.from_stdlib_socket(here)), there
