"""SIGINT and SIGTERM as an event, so that a program can finish its work and end."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Stop:
    def __init__(self) -> None:
        self.requested = trio.Event()  # set when the program must stop
        self.signal = 0  # the signal that requested it; 0 for another reason

    @property
    def is_requested(self) -> bool:
        return self.requested.is_set()

    @asynccontextmanager
    async def cancel_when_stopped(self) -> AsyncGenerator[None]:
        async with trio.open_nursery() as nursery:

            async def cancel() -> None:
                await self.requested.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(cancel)
            yield
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def stopping() -> AsyncGenerator[Stop]:
    """In the block, the first signal requests a stop and the second cancels the block.

    Raises:
        KeyboardInterrupt: the second signal cancelled the block.
    """
    stop = Stop()
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def listen() -> None:
                async for number in signals:
                    if stop.is_requested and stop.signal:
                        nursery.cancel_scope.cancel()
                        raise KeyboardInterrupt
                    stop.signal = number
                    stop.requested.set()

            nursery.start_soon(listen)
            yield stop
            nursery.cancel_scope.cancel()
