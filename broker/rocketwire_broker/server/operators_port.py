"""The port for operators: status pages, a browser of messages, metrics, health.

It is not part of RocketMQ's protocol, and listens on the loopback interface only by default: every
host that reaches it can read all messages.

Rules of this file: the libraries for HTTP and metrics are loaded in a thread at the first
connection, so that a process without one does not pay for them.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.events import Event, ForeignHostRefused
from rocketwire.serving.http.port import HttpPort
from rocketwire.serving.sockets import BindError
from rocketwire_broker.access.access import PagesExposed
from rocketwire_broker.config import ANY_STATUS_PORT, STATUS_PORT

if TYPE_CHECKING:
    from rocketwire.serving.http.exchange import Exchange
    from rocketwire_broker.admin_http.documents import Documents
    from rocketwire_broker.config import Config
    from rocketwire_broker.server.server import BrokerServer
    from rocketwire_broker.state.broker import Broker

LOGGER: Final = logging.getLogger("rocketwire.broker")

DOCUMENTS: Final = "rocketwire_broker.admin_http.documents"


class OperatorsPort:
    def __init__(self) -> None:
        self.servers: list[BrokerServer] = []  # the brokers that run
        self.is_ready = False  # whether all brokers serve and are registered
        self._port = HttpPort(self._open_exchange, logger=LOGGER)
        self._documents: Documents | None = None
        self._loading = trio.Lock()

    @property
    def url(self) -> str:
        """Address of the status page; empty if the port does not listen."""
        return self._port.url

    async def start(self, config: Config) -> None:
        port = config.observe_port
        if port == ANY_STATUS_PORT:
            await self._start_anywhere(config.observe_address)
        elif port >= 0:
            try:
                await self._port.start(config.observe_address, port)
            except BindError as error:
                text = f"no port for operators (--status-port, or rocketwire.observePort): {error}"
                raise BindError(text) from error
        if self._port.is_exposed:
            self._record(PagesExposed(url=self.url))

    def _record(self, event: Event) -> None:
        LOGGER.log(event.level, "%s", event.text)

    async def _start_anywhere(self, address: str) -> None:
        for port in (STATUS_PORT, 0):
            try:
                await self._port.start(address, port)
            except BindError as error:
                reason = error
            else:
                return
        LOGGER.warning("no port for operators: %s", reason)

    async def serve(self) -> None:
        await self._port.serve()

    def _brokers(self) -> list[tuple[Broker, int]]:
        return [(server.broker, server.clock.now()) for server in self.servers]

    def _waits_for(self) -> str:
        return "" if self.is_ready else "the brokers are not registered yet"

    async def _open_exchange(self, address: str) -> Exchange:
        async with self._loading:
            if self._documents is None:
                await trio.to_thread.run_sync(import_module, DOCUMENTS)
                from rocketwire_broker.admin_http.documents import Documents

                self._documents = Documents(
                    self._brokers,
                    self._waits_for,
                    local_only=is_loopback(address),
                    refused=lambda host: self._record(ForeignHostRefused(host=host)),
                )
        return self._documents.exchange()
