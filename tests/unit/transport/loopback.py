"""Servers on loopback, and channels after sequential requests, for tests of transport and clients."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.peer_requests import Handler
from rocketwire.wire.command import RemotingCommand, encode
from tests.support.tcp_pair import pair

SEQUENTIAL = 8
"""Sequential requests after which a channel reads responses without its reader task."""


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
