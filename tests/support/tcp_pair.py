"""TCP connections for tests: within one process, or to a server."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import trio

from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.dial import connect_stream
from rocketwire.wire.command import RemotingCommand, encode

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

    from rocketwire.transport.peer_requests import Handler

SEQUENTIAL = 8
"""Sequential requests after which a channel reads responses without its reader task."""


@contextmanager
def pair() -> Generator[tuple[trio.SocketStream, socket.socket]]:
    """Our stream, and the other end."""
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
    """A channel to a server."""
    stream = await connect_stream(host, port, tls=tls, server_hostname=server_hostname)
    async with open_channel_over(stream, peer=f"{host}:{port}") as channel:
        yield channel


async def closed_port() -> int:
    """A port of loopback that refuses connections."""
    async with (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0] as listener:
        return int(listener.socket.getsockname()[1])


@asynccontextmanager
async def serve_tcp(
    handle: Callable[[trio.SocketStream], Awaitable[object]],
) -> AsyncGenerator[int]:
    """A server on loopback until the block ends; yields its port."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, handle, listeners)
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


def encode_answer(opaque: int) -> bytes:
    """The response to a request of a sequential channel."""
    return encode(RemotingCommand(code=opaque + 100, opaque=opaque, flag=1))


@asynccontextmanager
async def open_sequential_channel(
    handler: Handler | None = None,
) -> AsyncGenerator[tuple[Channel, socket.socket]]:
    """A channel after ``SEQUENTIAL`` requests, and its other end."""
    with pair() as (stream, there):
        async with open_channel_over(
            stream, peer="peer", handler=handler, idle_timeout=None
        ) as channel:
            for code in range(SEQUENTIAL):
                there.sendall(encode_answer(code))
                assert (await channel.request(RemotingCommand(code=code))).code == code + 100
            yield channel, there
