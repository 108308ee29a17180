"""TCP connections for tests: within one process, or to a server."""

import socket
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import trio

from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.dial import connect_stream


@contextmanager
def pair() -> Generator[tuple[trio.SocketStream, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = socket.create_connection(listening.getsockname())
        here, _ = listening.accept()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with there:
        yield trio.SocketStream(trio.socket.from_stdlib_socket(here)), there


@asynccontextmanager
async def open_channel(
    host: str, port: int, *, tls: ssl.SSLContext | None = None, server_hostname: str | None = None
) -> AsyncGenerator[Channel]:
    stream = await connect_stream(host, port, tls=tls, server_hostname=server_hostname)
    async with open_channel_over(stream, peer=f"{host}:{port}") as channel:
        yield channel
