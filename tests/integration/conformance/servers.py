"""Servers that are no name servers, for the suite to be pointed at."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import trio

from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_tools.conformance.__main__ import main


def find_closed_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


async def says_nothing(stream: trio.SocketStream) -> None:
    async for _ in stream:
        pass


async def closes_at_once(stream: trio.SocketStream) -> None:
    await stream.aclose()


async def answers_rubbish(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await says_nothing(stream)


async def answers_as_a_broker(stream: trio.SocketStream) -> None:
    # Answers what a broker answers to the cluster list, which it does not know, and to a question about itself.
    decoder = CommandDecoder()
    async for data in stream:
        decoder.feed(data)
        while (request := decoder.next_command()) is not None:
            code = 0 if request.code == 28 else 3
            await stream.send_all(encode(RemotingCommand(code=code, opaque=request.opaque, flag=1)))


class AnswersOnce:
    def __init__(self) -> None:
        self._answered = False

    async def __call__(self, stream: trio.SocketStream) -> None:
        if not self._answered:
            self._answered = True
            decoder = CommandDecoder()
            decoder.feed(await stream.receive_some())
            request = decoder.next_command()
            assert request is not None
            await stream.send_all(encode(RemotingCommand(code=0, opaque=request.opaque, flag=1)))
        await says_nothing(stream)


@asynccontextmanager
async def listening(
    handler: Callable[[trio.SocketStream], Awaitable[object]],
) -> AsyncGenerator[str]:
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, handler, listeners)
        yield f"127.0.0.1:{port}"
        nursery.cancel_scope.cancel()


async def status_of(*words: str) -> int:
    # Run the command line while the servers of the test run; returns its exit status.

    def run(arguments: Sequence[str]) -> int:
        return main(arguments)

    return await trio.to_thread.run_sync(run, words)
