"""The smallest blocking client, for tests that want one answer."""

from __future__ import annotations

import socket

from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_tools.pytest_plugin.trio_thread import host_and_port

__all__ = ["ask"]

_READ = 65_536


def ask(address: str, request: RemotingCommand, *, seconds: float = 10.0) -> RemotingCommand:
    """Send one request over a connection of its own and return the answer.

    Args:
        address: ``host:port`` of the server.
        request: what to ask.
        seconds: most that each step may take.

    Raises:
        TimeoutError: nothing came in time.
        OSError: the server is not there, or the connection was reset (``ConnectionError``) or
            closed without an answer.
        DecodeError: what came is no command.
    """
    decoder = CommandDecoder()
    with socket.create_connection(host_and_port(address), seconds) as stream:
        stream.sendall(encode(request))
        while (answer := decoder.next_command()) is None:
            data = stream.recv(_READ)
            if not data:
                raise ConnectionError(f"{address} closed the connection without an answer")
            decoder.feed(data)
        return answer
