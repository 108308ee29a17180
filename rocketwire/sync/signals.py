"""Wait for the signal that asks a program to end, in the main thread."""

from __future__ import annotations

import signal
import threading

from rocketwire.client.signals import SIGNALS


def wait_for_signal() -> signal.Signals:
    """Wait for SIGINT or SIGTERM, which do not end the program meanwhile; main thread only.

    Leave the block of a consumer then: its running handlers end, and its offsets are stored.

    Returns:
        The signal.

    Raises:
        RuntimeError: this is not the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("signals arrive in the main thread only; wait there")
    received: list[signal.Signals] = []
    arrival = threading.Event()

    def receive(number: int, frame: object) -> None:
        received.append(signal.Signals(number))
        arrival.set()

    earlier = [signal.signal(number, receive) for number in SIGNALS]
    try:
        arrival.wait()
        return received[0]
    finally:
        for number, handler in zip(SIGNALS, earlier, strict=True):
            signal.signal(number, handler)
