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
        ConnectFailedError: nobody listens there, or the handshake failed.
    """
    try:
        socket = await trio.open_tcp_stream(host, port)
    except OSError as error:
        raise ConnectFailedError(f"{host}:{port}: {error}") from error
    if tls is None:
        return socket
    stream = trio.SSLStream(
        socket, tls, server_hostname=server_hostname or host, https_compatible=True
    )
    shaken = False
    try:
        await stream.do_handshake()
        shaken = True
    except (trio.BrokenResourceError, ssl.SSLError) as error:
        cause = error.__cause__ or error
        raise ConnectFailedError(f"{host}:{port}: no TLS handshake: {cause}") from error
    finally:
        if not shaken:
            await trio.aclose_forcefully(socket)
    return stream
