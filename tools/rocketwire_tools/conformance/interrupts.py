"""SIGINT and SIGTERM during a run: running cases still clean up."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def until_interrupted(work: Callable[[], Awaitable[object]]) -> bool:
    """Await ``work``; returns whether a signal cancelled it.

    A second signal takes effect after the cleanup.
    """
    if threading.current_thread() is not threading.main_thread():  # other threads get no signals
        await work()
        return False
    failure: Exception | None = None  # raised outside of the nursery, which would wrap it
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            scope = nursery.cancel_scope
            interrupted = False

            async def watch() -> None:
                nonlocal interrupted
                async for _ in signals:
                    interrupted = True
                    scope.cancel()
                    return

            nursery.start_soon(watch)
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - it is raised again below
                failure = error
            scope.cancel()
    if failure is not None:
        raise failure
    return interrupted
