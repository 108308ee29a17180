"""Accepting connections: not more than there are places, and through a lack of file descriptors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_namesrv.logs import LOGGER
from rocketwire_namesrv.sockets import SocketStream, accept, address_text

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from rocketwire_namesrv.state import State

__all__ = ["Door"]

PAUSE_SECONDS: Final = 0.1
"""Before the next attempt, when the process has no file descriptor left."""
REPEAT_SECONDS: Final = 60.0
"""Between two warnings that no more connections are accepted."""


class Door:
    """Lets peers in.

    Args:
        state: has the settings.
        welcome: serves an accepted connection, given its stream and its peer's ``host:port``; a
            place is taken for it, which ``leave`` gives back.

    Attributes:
        admitted: how many have been let in.
    """

    def __init__(self, state: State, welcome: Callable[[SocketStream, str], None]) -> None:
        self.admitted = 0
        self._state = state
        self._welcome = welcome
        self._next_warning = -math.inf
        self._places = trio.Semaphore(max(1, state.config.max_connections))

    def leave(self) -> None:
        """Give the place of a connection to another one."""
        self._places.release()

    async def accept_for_ever(self, listener: socket.socket) -> None:
        """Accept connections until cancelled."""
        exhausted = False
        while True:
            await self._free_place()
            try:
                accepted = await accept(listener)
            except OSError as error:
                self._places.release()
                if not exhausted:
                    LOGGER.warning("no connection can be accepted at the moment: %s", error)
                exhausted = True
                await trio.sleep(PAUSE_SECONDS)
            else:
                exhausted = False
                self.admit(accepted, address_text(accepted))

    async def _free_place(self) -> None:
        try:
            self._places.acquire_nowait()
        except trio.WouldBlock:
            now = trio.current_time()
            if now >= self._next_warning:
                self._next_warning = now + REPEAT_SECONDS
                limit = self._state.config.max_connections
                LOGGER.warning("%d connections are the limit, others have to wait", limit)
            await self._places.acquire()

    def admit(self, accepted: socket.socket, address: str) -> None:
        """Have an accepted socket served, for which there is a place.

        Args:
            accepted: the server owns it from now on.
            address: of the peer, ``host:port``, for the log.
        """
        config = self._state.config
        try:
            stream = SocketStream(
                accepted,
                send_buffer=config.server_socket_snd_buf_size,
                receive_buffer=config.server_socket_rcv_buf_size,
            )
        except OSError:
            accepted.close()  # the peer has gone already
            self._places.release()
        else:
            self.admitted += 1
            self._welcome(stream, address)
