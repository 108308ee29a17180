"""Runs a server until a signal: SIGTERM and SIGINT stop it, SIGHUP reloads its certificate."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import trio

from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire.serving.sockets import Listening
    from rocketwire.serving.tls.contexts import TlsContexts


class Stoppable(Protocol):
    listening: Listening
    tls: TlsContexts
    stopped: trio.Event

    @property
    def status_page(self) -> str: ...

    async def stop(self) -> None: ...


async def run_until_signal(
    serve: Callable[..., Awaitable[None]], on_boot: Callable[[Listening, str], None]
) -> int:
    """Run a server until SIGTERM or SIGINT, and stop it gracefully; main thread only.

    A second signal ends the graceful phase.
    """
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:
            server: Stoppable = await nursery.start(serve)
            on_boot(server.listening, server.status_page)
            number = await _wait_for_stop(server, signals)
            LOGGER.info("stopping on signal %d", number)
            nursery.start_soon(server.stop)
            nursery.start_soon(_stop_at_once, server, signals, nursery.cancel_scope)
            await server.stopped.wait()
            nursery.cancel_scope.cancel()
    return number


async def _wait_for_stop(server: Stoppable, signals: AsyncIterator[int]) -> int:
    while (number := await anext(signals)) == signal.SIGHUP:
        await server.tls.reload()
    return number


async def _stop_at_once(
    server: Stoppable, signals: AsyncIterator[int], scope: trio.CancelScope
) -> None:
    await _wait_for_stop(server, signals)
    scope.cancel()
