"""A client in trio of a broker of this process."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import trio

from rocketwire.codes import RequestCode
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_broker.server.server import BrokerServer
from tests.support.broker_wire import SECONDS

GET_CONFIG = encode(RemotingCommand(code=RequestCode.GET_BROKER_CONFIG, opaque=1))


class StreamClient:
    """A connection to a broker of this process."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream  #: plain or with TLS
        self._decoder = CommandDecoder()

    async def send(self, *requests: bytes) -> None:
        await self.stream.send_all(b"".join(requests))

    async def read_answer(self) -> RemotingCommand:
        with trio.fail_after(SECONDS):
            while (command := self._decoder.next_command()) is None:
                data = await self.stream.receive_some()
                if not data:
                    raise EOFError
                self._decoder.feed(bytes(data))
        return command

    async def call(self, request: bytes = GET_CONFIG) -> RemotingCommand:
        await self.send(request)
        return await self.read_answer()

    async def wait_until_closed(self) -> None:
        """Wait for the end of the connection; answers are not read."""
        with trio.fail_after(SECONDS), suppress(trio.BrokenResourceError):
            while await self.stream.receive_some():
                pass


async def connect(server: BrokerServer) -> StreamClient:
    port = server.broker.config.listen_port
    return StreamClient(await trio.open_tcp_stream("127.0.0.1", port))


@asynccontextmanager
async def open_clients(server: BrokerServer, count: int = 1) -> AsyncGenerator[list[StreamClient]]:
    accepted = len(server.broker.peers) + count
    clients = [await connect(server) for _ in range(count)]
    await wait_for(lambda: len(server.broker.peers) == accepted)
    try:
        yield clients
    finally:
        for client in clients:
            await trio.aclose_forcefully(client.stream)


async def wait_for(is_true: Callable[[], bool]) -> None:
    with trio.fail_after(SECONDS):
        while not is_true():
            await trio.lowlevel.checkpoint()
