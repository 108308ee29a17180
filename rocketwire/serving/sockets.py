"""The listening socket and accepted sockets as streams: the TCP part of the driver.

``SocketStream`` does the same as ``trio.SocketStream`` at half its cost per request: one wait and
one ``recv`` per batch, one ``send`` and no wait while the kernel accepts everything.
"""

from __future__ import annotations

import errno
import socket
from typing import Final, NamedTuple

import trio

from rocketwire.os_errors import os_error_text

BACKLOG: Final = 1024
"""Size of the kernel's accept queue; Java's number, whatever ``serverSocketBacklog`` is."""

# Errors of accept(2) about a connection that is already closed, or about its network.
_PASSING: Final = frozenset(
    {
        errno.EAGAIN,
        errno.ECONNABORTED,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EINTR,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ENOPROTOOPT,
        errno.EOPNOTSUPP,
        errno.EPERM,
        errno.EPROTO,
    }
)


_ADVICE: Final = {
    errno.EADDRINUSE: "; stop the program that listens there, or choose another port",
    errno.EADDRNOTAVAIL: "; choose an address of this machine",
    errno.EACCES: "; choose a port above 1023",
}
"""What the user can do about an error of ``bind``."""


class BindError(OSError):
    """The listening socket could not be opened."""


class Listening(NamedTuple):
    address: str
    port: int


async def listen(address: str, port: int) -> socket.socket:
    """Open the listening socket; like Java, on the first address of a host name."""
    if not 0 <= port <= 65_535:
        raise BindError(
            f"Failed to bind to {address}:{port}: no such port; choose one from 0 to 65535"
        )
    try:
        addresses = await trio.socket.getaddrinfo(
            address or "localhost", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, socket_type, protocol, _, socket_address = addresses[0]
        listener = socket.socket(family, socket_type, protocol)
        try:
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listener.bind(socket_address)
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:  # UnicodeError: nothing that can be a name
        advice = _ADVICE.get(getattr(error, "errno", None) or 0, "")
        text = f"Failed to bind to {address}:{port}: {os_error_text(error)}{advice}"
        raise BindError(text) from error
    return listener


async def accept(listener: socket.socket) -> socket.socket:
    """Wait for the next connection.

    Raises:
        OSError: there is one, but it cannot be taken now (EMFILE, ENFILE, ENOBUFS, ENOMEM).
    """
    while True:
        await trio.lowlevel.wait_readable(listener)
        try:
            accepted, _ = listener.accept()
        except OSError as error:
            if error.errno not in _PASSING:
                raise
        else:
            return accepted


def address_text(accepted: socket.socket) -> str:
    """Return ``host:port`` of the peer as Java writes it; ``unknown`` if it has already closed the
    connection."""
    try:
        where = accepted.getpeername()
    except OSError:
        return "unknown"
    if accepted.family == socket.AF_INET:
        return f"{where[0]}:{where[1]}"
    host = where[0].removeprefix("::ffff:")
    return f"{host}:{where[1]}" if "." in host else f"[{host}]:{where[1]}"


class SocketStream(trio.abc.Stream):
    __slots__ = ("socket",)

    def __init__(
        self, accepted: socket.socket, *, send_buffer: int = 0, receive_buffer: int = 0
    ) -> None:
        self.socket: socket.socket = accepted
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if send_buffer > 0:
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        if receive_buffer > 0:
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Wait for bytes; none of them means that the peer sends no more."""
        while True:
            await trio.lowlevel.wait_readable(self.socket)
            try:
                return self.socket.recv(max_bytes or 65_536)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError from error

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send everything; unlike trio's own streams, without a checkpoint when nothing blocks."""
        unsent = memoryview(data)
        while unsent:
            try:
                unsent = unsent[self.socket.send(unsent) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self.socket)
            except OSError as error:
                raise trio.BrokenResourceError from error

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.wait_writable(self.socket)

    async def aclose(self) -> None:
        """Close at once; the kernel still sends the bytes that it has."""
        trio.lowlevel.notify_closing(self.socket)
        self.socket.close()
        await trio.lowlevel.checkpoint()
