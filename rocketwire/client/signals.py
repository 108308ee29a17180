"""Wait for the signal that asks a program to end; consumers then finish their messages."""

from __future__ import annotations

import signal
from typing import Final

import trio

# Ctrl-C, and what a service manager or Kubernetes sends
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


async def wait_for_signal() -> signal.Signals:
    """Wait for SIGINT or SIGTERM, which do not end the program meanwhile; main thread only.

    Leave the block of a consumer then: its running handlers end, and its offsets are stored.

    Returns:
        The signal.

    Raises:
        RuntimeError: this is not the main thread.
    """
    with trio.open_signal_receiver(*SIGNALS) as numbers:
        return signal.Signals(await anext(numbers))
