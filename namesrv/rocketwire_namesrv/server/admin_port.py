"""The second port, for operators and their tools: metrics, health, and one page for people.

It is not part of RocketMQ's protocol, and loopback-only by default: like the other port, it shows
the whole state of the name server to every client that reaches it.

Rules of this file: connections and the time of each exchange are bounded; if there are too many
connections, the oldest one is closed. The libraries for HTTP and metrics are loaded in a thread at
the first connection, so that a server without one does not pay for them.
"""

from __future__ import annotations

import time
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.runtime.sockets import BindError, Listening, SocketStream, accept, listen

if TYPE_CHECKING:
    import socket

    from rocketwire_namesrv.server.admin_pages import Observed, Pages

MOST_CONNECTIONS: Final = 32
EXCHANGE_SECONDS: Final = 10.0
"""Maximum time from a connection's start, or its last response, until the next response is sent."""
ACCEPT_PAUSE_SECONDS: Final = 0.1
"""Pause when the process has no file descriptor left."""
READ_SIZE: Final = 4096
PAGES: Final = "rocketwire_namesrv.server.admin_pages"
LIBRARIES: Final = ("h11", "prometheus_client")


def missing_libraries() -> str:
    """Return a message about missing libraries; empty if all are installed."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    install = "not installed (pip install 'rocketwire[observe]')"
    return f"{', '.join(missing)} {install}" if missing else ""


class Observation:
    """The operators' port of a server.

    Attributes:
        listening: address and port; the port is 0 if it does not listen.
        observer: keeps the history.
    """

    def __init__(self, server: Observed) -> None:
        self.listening = Listening(server.state.config.observe_address, 0)
        self.observer = Observer(time.time)
        self._server = server
        self._listener: socket.socket | None = None
        self._address = ""  # the IP address that it listens on
        self._pages: Pages | None = None
        self._scopes: dict[trio.CancelScope, None] = {}
        self._loading = trio.Lock()

    async def start(self) -> None:
        """Listen, and record events from now on.

        Raises:
            BindError: the port is configured and in use, or a library is missing.
        """
        config = self._server.state.config
        if config.observe_port < 0:
            return
        try:
            if missing := missing_libraries():
                raise BindError(missing)
            self._listener = await listen(config.observe_address, config.observe_port)
        except BindError as error:
            text = f"no port for operators (rocketwire.observePort): {error}"
            if config.observe_asked:
                raise BindError(text) from error
            LOGGER.warning("%s", text)
            return
        self._address, port = self._listener.getsockname()[:2]
        self.listening = Listening(config.observe_address, port)
        self._server.state.counters.clock = time.perf_counter
        self._server.journal.listeners.append(self.observer)
        LOGGER.info("operators find metrics and status at %s", self.url)

    @property
    def url(self) -> str:
        """Address of the status page; empty if the port does not listen."""
        address, port = self.listening
        if not port:
            return ""
        return f"http://[{address}]:{port}/" if ":" in address else f"http://{address}:{port}/"

    async def serve(self) -> None:
        """Serve the port until cancelled; return at once if there is none."""
        if self._listener is None:
            return
        with self._listener as listener:
            async with trio.open_nursery() as nursery:
                while True:
                    try:
                        accepted = await accept(listener)
                    except OSError:
                        await trio.sleep(ACCEPT_PAUSE_SECONDS)
                    else:
                        nursery.start_soon(self._serve_one, accepted, self._place())

    def _place(self) -> trio.CancelScope:
        """The scope of a new connection, for which the oldest one makes room if it must."""
        if len(self._scopes) >= MOST_CONNECTIONS:
            oldest = next(iter(self._scopes))
            oldest.cancel()
            del self._scopes[oldest]
        scope = trio.CancelScope()
        self._scopes[scope] = None
        return scope

    async def _serve_one(self, accepted: socket.socket, scope: trio.CancelScope) -> None:
        try:
            with accepted, scope:
                await self._converse(SocketStream(accepted), scope)
        except (OSError, trio.BrokenResourceError):
            pass  # the client has closed the connection
        except Exception:  # noqa: BLE001 - an error here must not end the server
            LOGGER.exception("a request for metrics or status failed")
        finally:
            self._scopes.pop(scope, None)

    async def _converse(self, stream: SocketStream, scope: trio.CancelScope) -> None:
        scope.deadline = trio.current_time() + EXCHANGE_SECONDS
        pages = await self._loaded()
        exchange = pages.exchange()
        while not exchange.closed:
            answers = exchange.receive(await stream.receive_some(READ_SIZE))
            if answers:
                await stream.send_all(answers)
                scope.deadline = trio.current_time() + EXCHANGE_SECONDS

    async def _loaded(self) -> Pages:
        async with self._loading:
            if self._pages is None:
                await trio.to_thread.run_sync(import_module, PAGES)
                from rocketwire_namesrv.server.admin_pages import Pages

                self._pages = Pages(self._server, self.observer, self._address)
        return self._pages
