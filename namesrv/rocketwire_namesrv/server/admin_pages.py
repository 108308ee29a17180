"""The documents of the operators' port by path."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire import __version__
from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.events import ForeignHostRefused
from rocketwire.serving.http.exchange import Document, Exchange, plain
from rocketwire_namesrv.admin_http.address_list import AddressLists, list_for, read_lists
from rocketwire_namesrv.admin_http.metrics import CONTENT_TYPE, Exposition
from rocketwire_namesrv.admin_http.status import status_of
from rocketwire_namesrv.admin_http.status_page import status_page
from rocketwire_namesrv.runtime.address_file import AddressFile
from rocketwire_namesrv.server.peers import PATH

if TYPE_CHECKING:
    from rocketwire.serving.acceptor import Acceptor
    from rocketwire.serving.tls.contexts import TlsContexts
    from rocketwire_namesrv.admin_http.event_history import Observer
    from rocketwire_namesrv.protocol.state import State
    from rocketwire_namesrv.server.event_log import Journal

MAX_AWAITED: Final = 16
"""Maximum number of awaited brokers that are listed."""
MAX_PREFIX: Final = 255
"""Maximum length of the searched beginning of topic names."""


class Observed(Protocol):
    @property
    def state(self) -> State: ...

    @property
    def connections(self) -> Sized: ...

    @property
    def acceptor(self) -> Acceptor: ...

    @property
    def tls(self) -> TlsContexts: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def driver_name(self) -> str: ...


class Pages:
    def __init__(self, server: Observed, observer: Observer, address: str) -> None:
        self._server = server
        self._observer = observer
        self._local_only = is_loopback(address)
        no_lists: AddressLists = {}
        self._address_file = AddressFile(
            server.state.config.address_server_file, read_lists, no_lists
        )
        self._exposition = Exposition(
            server.state,
            observer,
            now=trio.current_time,
            connections=lambda: len(server.connections),
            opened=lambda: server.acceptor.admitted,
            expiry=lambda: server.tls.expiry,
            driver=server.driver_name,
        )

    def exchange(self) -> Exchange:
        return Exchange(self.respond, local_only=self._local_only, refused=self._record_refusal)

    def _record_refusal(self, host: str) -> None:
        self._server.journal.record((ForeignHostRefused(host=host),), None)

    def respond(self, path: str, query: Mapping[str, str]) -> Document | None:
        if path == "/metrics":
            return Document(200, CONTENT_TYPE, self._exposition.text())
        if path == "/healthz":
            return plain(200, "ok")
        if path == "/readyz":
            return self._ready()
        if path == "/":
            return Document(200, "text/html; charset=utf-8", self._page(query.get("topic", "")))
        if path == PATH:
            return self._digest()
        addresses = list_for(self._address_file.read(), path)
        return None if addresses is None else plain(200, addresses)

    def _digest(self) -> Document | None:
        digest = self._server.state.peers.digest
        if digest is None:
            return None
        return Document(200, "application/json", digest.document())

    def _ready(self) -> Document:
        state = self._server.state
        if state.is_ready(trio.current_time()):
            return plain(200, "ready")
        why = "the server stops" if state.shutting_down else "no routes are returned yet"
        return plain(503, f"not ready: {why}")

    def _page(self, prefix: str) -> bytes:
        state, observer = self._server.state, self._observer
        config = state.config
        facts = {
            "rocketwire": __version__,
            "listening on": f"{config.bind_address}:{config.listen_port}",
            "driver": self._server.driver_name,
            "connections": str(len(self._server.connections)),
            "requests": str(sum(state.counters.all_requests().values())),
        }
        if awaited := sorted(map(str, state.warm_start.awaited)):
            facts["waiting for"] = ", ".join(awaited[:MAX_AWAITED])
        status = status_of(state, trio.current_time(), prefix[:MAX_PREFIX])
        return status_page(status, facts, observer.permissions, observer.news, observer.troubles)
