"""Opens TCP and TLS connections: the streams of channels."""

from __future__ import annotations

import os
import ssl
from weakref import WeakSet

import trio

from rocketwire.errors import ConnectFailedError
from rocketwire.os_errors import reason_of_no_connection

# The sockets of this process's connections, of which a fork closes its copies
sockets: WeakSet[trio.socket.SocketType] = WeakSet()


async def connect_stream(
    host: str, port: int, *, tls: ssl.SSLContext | None = None, server_hostname: str | None = None
) -> trio.abc.Stream:
    """Connect, to the first address of a name that answers; ``ConnectFailedError`` otherwise."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        socket = await _tcp_stream(host, port)
    except (OSError, ValueError) as error:  # ValueError: a name that cannot be looked up
        raise ConnectFailedError(f"{address}: {_describe(error)}") from error
    if tls is None:
        return socket
    is_secure = False
    try:
        stream = trio.SSLStream(
            socket, tls, server_hostname=server_hostname or host, https_compatible=True
        )
        await stream.do_handshake()
        is_secure = True
        return stream
    except (trio.BrokenResourceError, ssl.SSLError, ValueError) as error:
        raise ConnectFailedError(f"{address}: no TLS handshake{reason_of(error)}") from error
    finally:
        if not is_secure:
            await trio.aclose_forcefully(socket)


async def _tcp_stream(host: str, port: int) -> trio.SocketStream:
    if not is_address(host):
        stream = await trio.open_tcp_stream(host, port)
        sockets.add(stream.socket)
        return stream
    # an address needs neither a look-up nor trio's race between several addresses
    socket = trio.socket.socket()
    sockets.add(socket)
    connected = False
    try:
        await socket.connect((host, port))
        connected = True
        return trio.SocketStream(socket)
    finally:
        if not connected:
            socket.close()


def _describe(error: OSError | ValueError) -> str:
    # returns the system's text of an error, without the address
    reason = reason_of_no_connection(error)
    number = getattr(reason, "errno", None) or 0
    if number > 0:
        return os.strerror(number)
    # the number of a failed look-up is negative
    return getattr(reason, "strerror", None) or str(reason)


def is_address(host: str) -> bool:
    """Return whether a host is an IPv4 address, which needs no look-up (and no codec for it)."""
    return host.isascii() and host.count(".") == 3 and host.replace(".", "").isdecimal()


def reason_of(error: BaseException) -> str:
    text = str(error.__cause__ or error)
    return f": {text}" if text else ""
