"""Wait for the signal that asks a program to end, in an event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rocketwire.client.signals import SIGNALS

if TYPE_CHECKING:
    import signal


async def wait_for_signal() -> signal.Signals:
    """Wait for SIGINT or SIGTERM, which do not end the program meanwhile; main thread only.

    Leave the block of a consumer then: its running handlers end, and its offsets are stored.

    Returns:
        The signal.

    Raises:
        RuntimeError: this is not the main thread.
    """
    loop = asyncio.get_running_loop()
    received: asyncio.Future[signal.Signals] = loop.create_future()

    def receive(number: signal.Signals) -> None:
        if not received.done():
            received.set_result(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, receive, number)
    try:
        return await received
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
