"""Connections to names and addresses."""

from __future__ import annotations

import pytest
import trio

from rocketwire.transport.dial import connect_stream, sockets


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_the_sockets_of_connections_are_known_to_forks(host: str) -> None:
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]

    async with listener, await connect_stream(host, port) as stream:
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket in sockets
