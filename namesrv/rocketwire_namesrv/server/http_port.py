"""A port for HTTP: it accepts connections, and bounds their number and their time.

Rules of this file: if there are too many connections, the oldest one is closed. What answers
requests is loaded at the first connection, so that a server without one does not pay for the
libraries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.runtime.sockets import BindError, Listening, SocketStream, accept, listen

if TYPE_CHECKING:
    import socket

    from rocketwire_namesrv.admin_http.http import Exchange

MOST_CONNECTIONS: Final = 32
EXCHANGE_SECONDS: Final = 10.0
"""Default of ``exchange_seconds``."""
ACCEPT_PAUSE_SECONDS: Final = 0.1
"""Pause when the process has no file descriptor left."""
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
    """A port for HTTP.

    Args:
        open_exchange: begins the exchange of a connection.
        before_answer: awaited when bytes of a request have arrived, before they are answered.
        exchange_seconds: maximum time from a connection's start, or its last response, until the
            next response is sent; ``before_answer`` has as much time again.

    Attributes:
        listening: address and port; the port is 0 if it does not listen.
    """

    def __init__(
        self,
        open_exchange: OpenExchange,
        *,
        before_answer: Callable[[], Awaitable[None]] | None = None,
        exchange_seconds: float = EXCHANGE_SECONDS,
    ) -> None:
        self.listening = Listening("", 0)
        self._open_exchange = open_exchange
        self._before_answer = before_answer
        self._exchange_seconds = exchange_seconds
        self._listener: socket.socket | None = None
        self._address = ""  # the IP address that it listens on
        self._scopes: dict[trio.CancelScope, None] = {}

    async def start(self, address: str, port: int) -> None:
        """Listen.

        Raises:
            BindError: the address is not local, the port is in use, or a library is missing.
        """
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

    async def serve(self) -> None:
        """Serve the port until cancelled; return at once if it does not listen."""
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
        scope.deadline = trio.current_time() + self._exchange_seconds
        exchange = await self._open_exchange(self._address)
        while not exchange.closed:
            received = await stream.receive_some(READ_SIZE)
            if received and self._before_answer is not None:
                scope.deadline = trio.current_time() + self._exchange_seconds
                await self._before_answer()
            has_answered = False
            for part in exchange.answers(received):
                await stream.send_all(part)
                has_answered = True
            if has_answered:
                scope.deadline = trio.current_time() + self._exchange_seconds
