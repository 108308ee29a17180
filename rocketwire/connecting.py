"""Connecting over TCP and, where asked for, TLS: the stream of a channel."""

from __future__ import annotations

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
        socket = await trio.open_tcp_stream(looked_up(host), port)
    except (OSError, ValueError) as error:  # ValueError: no look-up can be made of that name
        raise ConnectFailedError(f"{where}: {error}") from error
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


def looked_up(host: str) -> str | bytes:
    """What is given to a look-up of a host: of an address its bytes, because for a text Python loads a codec first."""
    return host.encode() if host.isascii() and host.replace(".", "").isdecimal() else host


def reason_of(error: BaseException) -> str:
    """What the system or TLS says of a stream that can no longer be used, behind a colon; empty where they say nothing."""
    text = str(error.__cause__ or error)
    return f": {text}" if text else ""
