"""Connecting over TCP and, where asked for, TLS: the stream of a channel."""

from __future__ import annotations

import os
import ssl

import trio

from rocketwire.errors import ConnectFailedError


async def connect_stream(
    host: str,
    port: int,
    *,
    tls: ssl.SSLContext | None = None,
    server_hostname: str | None = None,
) -> trio.abc.Stream:
    """Connect; the stream is for ``over``, or for whoever closes it.

    Args:
        host: name or address; of a name with several addresses the first one that answers.
        port: TCP port.
        tls: context of a TLS connection; None for a plain one.
        server_hostname: the name that the certificate has to have, if not ``host``.

    Raises:
        ConnectFailedError: nobody listens there, that is no name of a host, or the handshake failed.
    """
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        socket = await _tcp_stream(host, port)
    except (OSError, ValueError) as error:  # ValueError: no look-up can be made of that name
        raise ConnectFailedError(f"{where}: {_told(error)}") from error
    if tls is None:
        return socket
    shaken = False
    try:
        stream = trio.SSLStream(
            socket, tls, server_hostname=server_hostname or host, https_compatible=True
        )
        await stream.do_handshake()
        shaken = True
        return stream
    except (trio.BrokenResourceError, ssl.SSLError, ValueError) as error:
        raise ConnectFailedError(f"{where}: no TLS handshake{reason_of(error)}") from error
    finally:
        if not shaken:
            await trio.aclose_forcefully(socket)


async def _tcp_stream(host: str, port: int) -> trio.SocketStream:
    if not is_address(host):
        return await trio.open_tcp_stream(host, port)
    # neither looked up nor one of several that race
    socket = trio.socket.socket()
    connected = False
    try:
        await socket.connect((host, port))
        connected = True
        return trio.SocketStream(socket)
    finally:
        if not connected:
            socket.close()


def _told(error: OSError | ValueError) -> str:
    """What went wrong in the system's words, without the address."""
    number = getattr(error, "errno", None) or 0
    return os.strerror(number) if number > 0 else str(error)


def is_address(host: str) -> bool:
    """Whether a host is said by its IPv4 address: that is not looked up, and for a text Python loads a codec before it looks it up."""
    return host.isascii() and host.count(".") == 3 and host.replace(".", "").isdecimal()


def reason_of(error: BaseException) -> str:
    """What the system or TLS says of a stream that can no longer be used, behind a colon; empty where they say nothing."""
    text = str(error.__cause__ or error)
    return f": {text}" if text else ""
