"""Connections to names and addresses."""

import socket

import pytest
import trio

from rocketwire.errors import ConnectFailedError
from rocketwire.transport.dial import connect_stream, sockets
from tests.unit.transport.loopback import closed_port, serve_tcp


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_the_sockets_of_connections_are_known_to_forks(host: str) -> None:
    async with (
        serve_tcp(trio.SocketStream.receive_some) as port,
        await connect_stream(host, port) as stream,
    ):
        assert isinstance(stream, trio.SocketStream)
        assert stream.socket in sockets


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_refused_connection_has_the_reason_without_its_number(host: str) -> None:
    port = await closed_port()
    with pytest.raises(ConnectFailedError, match=rf"^{host}:{port}: [A-Z][a-z ]+$"):
        await connect_stream(host, port)


async def test_an_unknown_host_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(trio, "open_tcp_stream", unknown)

    with pytest.raises(ConnectFailedError, match=r"^host:1: Name or service not known$"):
        await connect_stream("host", 1)
