"""Servers that are no name servers, for the suite to be pointed at."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from rocketwire_tools.conformance.__main__ import main

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence


async def says_nothing(stream: trio.SocketStream) -> None:
    """Takes everything and answers nothing."""
    async for _ in stream:
        pass


async def closes_at_once(stream: trio.SocketStream) -> None:
    """Ends every connection."""
    await stream.aclose()


async def answers_rubbish(stream: trio.SocketStream) -> None:
    """Speaks something else."""
    await stream.receive_some()
    await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await says_nothing(stream)


@asynccontextmanager
async def listening(
    handler: Callable[[trio.SocketStream], Awaitable[object]],
) -> AsyncGenerator[str]:
    """Serve on loopback; gives ``host:port``."""
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, handler, listeners)
        yield f"127.0.0.1:{port}"
        nursery.cancel_scope.cancel()


async def status_of(*words: str) -> int:
    """Run the command line beside the servers of the test; returns its exit status."""

    def run(arguments: Sequence[str]) -> int:
        return main(arguments)

    return await trio.to_thread.run_sync(run, words)
