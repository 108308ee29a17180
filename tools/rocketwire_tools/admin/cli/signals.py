"""SIGINT and SIGTERM as an event: what is on its way is finished, and then the program ends."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Stop:
    """Whether to stop, and why.

    Attributes:
        asked: set when it is time to stop.
        signal: the signal that asked; 0 if none did.
    """

    def __init__(self) -> None:
        """Not yet."""
        self.asked = trio.Event()
        self.signal = 0

    @property
    def is_asked(self) -> bool:
        """Whether it is time to stop."""
        return self.asked.is_set()


@asynccontextmanager
async def stopping() -> AsyncGenerator[Stop]:
    """For the length of the block the first signal only asks to stop; the second one cancels the block.

    Raises:
        KeyboardInterrupt: the block was cancelled by the second signal.
    """
    stop = Stop()
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def listen() -> None:
                async for number in signals:
                    if stop.is_asked and stop.signal:
                        nursery.cancel_scope.cancel()
                        raise KeyboardInterrupt
                    stop.signal = number
                    stop.asked.set()

            nursery.start_soon(listen)
            yield stop
            nursery.cancel_scope.cancel()
