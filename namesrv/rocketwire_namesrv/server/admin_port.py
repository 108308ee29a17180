"""The second port, for operators and their tools: metrics, health, and one page for people.

It is not part of RocketMQ's protocol, and loopback-only by default: like the other port, it shows
the whole state of the name server to every client that reaches it.

Rules of this file: the libraries for HTTP and metrics are loaded in a thread at the first
connection, so that a server without one does not pay for them.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.serving.http.port import HttpPort
from rocketwire.serving.sockets import BindError, Listening
from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire.serving.http.exchange import Exchange
    from rocketwire_namesrv.server.admin_pages import Observed, Pages

PAGES: Final = "rocketwire_namesrv.server.admin_pages"


class Observation:
    def __init__(self, server: Observed) -> None:
        self.observer = Observer(time.time)  #: keeps the history
        self._server = server
        self.port = HttpPort(self._open_exchange, logger=LOGGER)  #: accepts connections
        self._pages: Pages | None = None
        self._loading = trio.Lock()

    @property
    def listening(self) -> Listening:
        """Address and port; the port is 0 if it does not listen."""
        return self.port.listening

    @property
    def url(self) -> str:
        return self.port.url

    async def start(self) -> None:
        """Listen, and record events from now on."""
        config = self._server.state.config
        if config.observe_port < 0:
            return
        try:
            await self.port.start(config.observe_address, config.observe_port)
        except BindError as error:
            text = f"no port for operators (rocketwire.observePort): {error}"
            if config.observe_asked:
                raise BindError(text) from error
            LOGGER.warning("%s", text)
            return
        self._server.state.counters.clock = time.perf_counter
        self._server.journal.listeners.append(self.observer)
        LOGGER.info("operators find metrics and status at %s", self.url)

    async def serve(self) -> None:
        """Serve the port until cancelled; return at once if there is none."""
        await self.port.serve()

    async def _open_exchange(self, address: str) -> Exchange:
        async with self._loading:
            if self._pages is None:
                await trio.to_thread.run_sync(import_module, PAGES)
                from rocketwire_namesrv.server.admin_pages import Pages

                self._pages = Pages(self._server, self.observer, address)
        return self._pages.exchange()
