"""Accepts connections up to a limit, in total and per address, and closes those that are too slow.

Rules of this file: no cancel scope and no timer per connection or request: all connections are
checked periodically. When file descriptors run out, it waits.

Java: ``IdleStateHandler``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import trio

from rocketwire.connection.guards import Activity, Deadlines, Guard, Overdue, exceeds
from rocketwire.os_errors import os_error_text
from rocketwire.serving.events import ExceededAgain, LimitExceeded
from rocketwire.serving.sockets import SocketStream, accept, address_text

if TYPE_CHECKING:
    import logging
    import socket

    from rocketwire.serving.events import Event


PAUSE_SECONDS: Final = 0.1  # pause when the process has no file descriptor left
REPEAT_SECONDS: Final = 60.0
"""Minimum time between two warnings about a limit, in total or for one address."""
MAX_WARNED: Final = 1024  # maximum number of addresses whose last warning is remembered


class AcceptorSettings(Protocol):
    @property
    def max_connections(self) -> int: ...

    @property
    def max_connections_per_address(self) -> int: ...

    @property
    def server_socket_snd_buf_size(self) -> int: ...

    @property
    def server_socket_rcv_buf_size(self) -> int: ...


class Acceptor:
    """Accepts connections; ``leave`` lets another one in for each that has ended."""

    def __init__(
        self,
        settings: Callable[[], AcceptorSettings],
        welcome: Callable[[SocketStream, str], None],
        record_events: Callable[[Iterable[Event], str | None], None],
        logger: logging.Logger,
    ) -> None:
        self.admitted: int = 0  # number of accepted connections
        self._settings = settings
        self._logger = logger
        self._welcome = welcome
        self._record_events = record_events
        self._next_warning: dict[str, float] = {}
        self._capacity = trio.Semaphore(max(1, settings().max_connections))
        self._hosts: dict[str, int] = {}

    def leave(self, address: str) -> None:
        self._capacity.release()
        host = _host(address)
        count = self._hosts.pop(host, 0) - 1
        if count > 0:
            self._hosts[host] = count

    async def accept_for_ever(self, listener: socket.socket) -> None:
        exhausted = False
        while True:
            await self._acquire_capacity()
            try:
                accepted = await accept(listener)
            except OSError as error:
                self._capacity.release()
                if not exhausted:
                    text = os_error_text(error)
                    self._logger.warning("no connection can be accepted: %s", text)
                exhausted = True
                await trio.sleep(PAUSE_SECONDS)
            else:
                exhausted = False
                self.admit(accepted, address_text(accepted))

    async def _acquire_capacity(self) -> None:
        try:
            self._capacity.acquire_nowait()
        except trio.WouldBlock:
            limit = self._settings().max_connections
            what = f"{limit} connections, others have to wait"
            self._record_excess(Guard.CONNECTIONS, limit, what, "")
            await self._capacity.acquire()

    def admit(self, accepted: socket.socket, address: str) -> None:
        """Serve an accepted socket, which the server owns now, unless its address has too many."""
        config = self._settings()
        try:
            stream = SocketStream(
                accepted,
                send_buffer=config.server_socket_snd_buf_size,
                receive_buffer=config.server_socket_rcv_buf_size,
            )
        except OSError:
            accepted.close()  # the peer has already closed it
            self._capacity.release()
            return
        host = _host(address)
        count = self._hosts.get(host, 0) + 1
        limit = config.max_connections_per_address
        if exceeds(count, limit):
            accepted.close()
            self._capacity.release()
            what = f"another connection of {host}"
            self._record_excess(Guard.CONNECTIONS_PER_ADDRESS, limit, what, host)
            return
        self._hosts[host] = count
        self.admitted += 1
        self._welcome(stream, address)

    def _record_excess(self, limit: Guard, allowed: int, what: str, host: str) -> None:
        now = trio.current_time()
        event_type: type[LimitExceeded] = ExceededAgain
        if now >= self._next_warning.get(host, -math.inf):
            event_type = LimitExceeded
            if len(self._next_warning) >= MAX_WARNED:
                self._next_warning.clear()
            self._next_warning[host] = now + REPEAT_SECONDS
        self._record_events((event_type(limit=limit, allowed=allowed, what=what),), None)


def _host(address: str) -> str:
    return address.rpartition(":")[0]


T = TypeVar("T", bound=Activity)

SWEEP_SECONDS: Final = 1.0
"""Time between two checks of all connections; less if a deadline is short."""


async def sweep_for_ever(
    connections: Mapping[int, T],
    deadlines: Callable[[], Deadlines],
    close: Callable[[T, Overdue], None],
) -> None:
    while True:
        valid = deadlines()
        now = trio.current_time()
        for connection in list(connections.values()):
            if (overdue := connection.overdue(now, valid)) is not None:
                close(connection, overdue)
        await trio.sleep(min(SWEEP_SECONDS, min(valid) / 8))
