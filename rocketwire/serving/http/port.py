"""A port for HTTP: it accepts connections, and bounds their number and their time.

Rules of this file: if there are too many connections, a new one waits until one ends, or until one
has had its time for a request and is closed.  So a crowd of clients is served, and silent ones keep
nobody out.  What answers requests is loaded at the first connection, so that a server without one
does not pay for the libraries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from importlib.util import find_spec
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.serving import LOGGER
from rocketwire.serving.addresses import is_loopback
from rocketwire.serving.sockets import BindError, Listening, SocketStream, accept, listen

if TYPE_CHECKING:
    import logging
    import socket

    from rocketwire.serving.http.exchange import Exchange

MAX_CONNECTIONS: Final = 32
OWN_SECONDS: Final = 1.0
"""Time that a connection is kept open if the port is full, from its start or last request."""
EXCHANGE_SECONDS: Final = 10.0  # default of ``exchange_seconds``
ACCEPT_PAUSE_SECONDS: Final = 0.1  # pause when the process has no file descriptor left
READ_SIZE: Final = 4096
LIBRARIES: Final = ("h11", "prometheus_client")

OpenExchange = Callable[[str], Awaitable["Exchange"]]
"""Begins the exchange of a connection; its argument is the IP address that the port listens on."""


def missing_libraries() -> str:
    """Return a message about missing libraries; empty if all are installed."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    install = "not installed (pip install 'rocketwire[observe]')"
    return f"{', '.join(missing)} {install}" if missing else ""


class HttpPort:
    """A port for HTTP; ``before_answer`` is awaited before received bytes are answered."""

    def __init__(
        self,
        open_exchange: OpenExchange,
        *,
        logger: logging.Logger = LOGGER,
        before_answer: Callable[[], Awaitable[None]] | None = None,
        exchange_seconds: float = EXCHANGE_SECONDS,
    ) -> None:
        # address and port; the port is 0 if it does not listen
        self.listening: Listening = Listening("", 0)
        self._open_exchange = open_exchange
        self._logger = logger
        self._before_answer = before_answer
        self._exchange_seconds = exchange_seconds
        self._listener: socket.socket | None = None
        self._address = ""  # the IP address that it listens on
        self._scopes: dict[trio.CancelScope, float] = {}  # → when it may be closed for a new one
        self._has_ended = trio.Event()

    async def start(self, address: str, port: int) -> None:
        if missing := missing_libraries():
            raise BindError(missing)
        self._listener = await listen(address, port)
        self._address, port = self._listener.getsockname()[:2]
        self.listening = Listening(address, port)

    @property
    def url(self) -> str:
        """Address of the first page; empty if the port does not listen."""
        address, port = self.listening
        if not port:
            return ""
        return f"http://[{address}]:{port}/" if ":" in address else f"http://{address}:{port}/"

    @property
    def is_exposed(self) -> bool:
        return self._listener is not None and not is_loopback(self._address)

    async def serve(self) -> None:
        if self._listener is None:
            return
        with self._listener as listener:
            async with trio.open_nursery() as nursery:
                while True:
                    try:
                        accepted = await accept(listener)
                    except OSError:
                        await trio.sleep(ACCEPT_PAUSE_SECONDS)
                        continue
                    with ExitStack() as stack:
                        stack.enter_context(accepted)  # closed if the port ends now
                        scope = await self._open_scope()
                        stack.pop_all()
                    nursery.start_soon(self._serve_one, accepted, scope)

    async def _open_scope(self) -> trio.CancelScope:
        # if the port is full, another connection makes room for the new one
        while len(self._scopes) >= MAX_CONNECTIONS:
            scope, due = min(self._scopes.items(), key=itemgetter(1))
            if due <= trio.current_time():
                scope.cancel()
                del self._scopes[scope]
                break
            self._has_ended = trio.Event()
            with trio.move_on_at(due):
                await self._has_ended.wait()
        scope = trio.CancelScope()
        self._scopes[scope] = trio.current_time() + OWN_SECONDS
        return scope

    def _keep(self, scope: trio.CancelScope, seconds: float) -> None:
        # the connection may have made room for another one meanwhile
        if scope in self._scopes:
            self._scopes[scope] = trio.current_time() + seconds

    async def _serve_one(self, accepted: socket.socket, scope: trio.CancelScope) -> None:
        try:
            with accepted, scope:
                await self._converse(SocketStream(accepted), scope)
        except (OSError, trio.BrokenResourceError):
            pass  # the client has closed the connection
        except Exception:
            self._logger.exception("a request for metrics or status failed")
        finally:
            self._scopes.pop(scope, None)
            self._has_ended.set()

    async def _converse(self, stream: SocketStream, scope: trio.CancelScope) -> None:
        scope.deadline = trio.current_time() + self._exchange_seconds
        exchange = await self._open_exchange(self._address)
        has_answered = False
        while not exchange.closed:
            received = await stream.receive_some(READ_SIZE)
            if has_answered:
                self._keep(scope, OWN_SECONDS)
            if received and self._before_answer is not None:
                scope.deadline = trio.current_time() + self._exchange_seconds
                await self._before_answer()
            has_answered = False
            for part in exchange.answers(received):
                await stream.send_all(part)
                has_answered = True
            if has_answered:
                scope.deadline = trio.current_time() + self._exchange_seconds
                self._keep(scope, 0)
