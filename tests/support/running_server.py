"""Running servers for tests: each test on both drivers, with peers in memory or through the kernel."""

import json
import math
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair

from rocketwire.codes import RequestCode
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.server import reactor
from rocketwire_namesrv.server.server import NameServer, serve
from tests.support.fakes.sansio_server import identity, registration_body, topic
from tests.support.fakes.sansio_server import request as frame

LOOPBACK = "127.0.0.1"
REACTOR = pytest.mark.skipif(not reactor.is_available(), reason="this system has no epoll")


class Driver:
    name = "portable"
    sockets: ClassVar[list[socket.socket]] = []


def settings(**changes: Any) -> Config:
    options: dict[str, Any] = {"driver": Driver.name, **changes}
    return Config(bind_address=LOOPBACK, listen_port=0, **options)


def request(code: int, opaque: int = 1, *, oneway: bool = False, **ext: str) -> bytes:
    flag = CommandFlag.ONEWAY if oneway else 0
    return encode(RemotingCommand(code=code, opaque=opaque, flag=flag, ext_fields=ext or None))


CLUSTER_INFO = request(RequestCode.GET_BROKER_CLUSTER_INFO)


def registration(name: str = "broker-a", address: str = "10.0.0.1:10911", **changes: str) -> bytes:
    ext = identity(name, address, **{"haServerAddr": "10.0.0.1:10912", **changes})
    body = registration_body({name: topic(name, queues=4) for name in ("TA", "TB")})
    return frame(RequestCode.REGISTER_BROKER, ext, body)


class Client:
    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._decoder = CommandDecoder()

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def reply(self) -> RemotingCommand:
        while (command := self._decoder.next_command()) is None:
            data = await self.stream.receive_some()
            assert data, "closed instead of a reply"
            self._decoder.feed(data)
        return command

    async def ask(self, data: bytes) -> RemotingCommand:
        await self.send(data)
        return await self.reply()

    async def is_closed(self) -> bool:
        """Whether the server closes without another byte; waits for it."""
        try:
            return await self.stream.receive_some() == b""
        except trio.BrokenResourceError:
            return True

    async def brokers(self) -> dict[str, Any]:
        body = (await self.ask(CLUSTER_INFO)).body
        assert body is not None
        text = body.replace(b"{0:", b'{"0":')
        table: dict[str, Any] = json.loads(text)["brokerAddrTable"]
        return table


def socket_pair() -> tuple[trio.SocketStream, socket.socket]:
    with socket.create_server((LOOPBACK, 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    Driver.sockets.append(ours)
    return trio.SocketStream(trio.socket.from_stdlib_socket(ours)), theirs


class Site:
    """A running server and a way to connect to it without sockets."""

    def __init__(self, server: NameServer, nursery: trio.Nursery) -> None:
        self.server = server
        self.nursery = nursery

    def connect(self, pair: Callable[[], tuple[Any, Any]] | None = None) -> Client:
        if self.server.reactor is not None and pair is None:
            stream, accepted = socket_pair()
            self.server.acceptor.admit(accepted, "client:1")
            return Client(stream)
        ours, theirs = (pair or memory_stream_pair)()
        self.nursery.start_soon(self.server.serve_stream, theirs, "client:1")
        return Client(ours)


@asynccontextmanager
async def running(config: Config | None = None, **changes: Any) -> AsyncGenerator[Site]:
    # without a limit if the clock jumps, because it would jump to the limit
    is_mock = isinstance(trio.lowlevel.current_clock(), MockClock)
    with trio.fail_after(math.inf if is_mock else 120):
        async with trio.open_nursery() as nursery:
            server: NameServer = await nursery.start(serve, config or settings(**changes))
            yield Site(server, nursery)
            nursery.cancel_scope.cancel()


def connect_slowly(server: NameServer) -> socket.socket:
    # A connection whose peer reads nothing, so that it takes a few kilobytes.
    ours = socket.socket()
    Driver.sockets.append(ours)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    ours.connect(tuple(server.listening))
    return ours


def client_of(ours: socket.socket) -> Client:
    return Client(trio.SocketStream(trio.socket.from_stdlib_socket(ours)))


async def connect(site: Site) -> trio.SocketStream:
    return await trio.open_tcp_stream(*site.server.listening)
