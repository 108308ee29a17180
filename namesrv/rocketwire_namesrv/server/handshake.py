"""From an accepted connection to its first frame: the PROXY header, TLS, or neither.

Rules of this file: nothing of what is refused here reaches the session; every refusal is one line
of the log.

Java: ``NettyRemotingServer.HandshakeHandler``, ``HAProxyMessageHandler``, ``TlsModeHandler``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import DecodeError
from rocketwire_namesrv.config.tls_settings import TlsMode
from rocketwire_namesrv.events import (
    PlainRefused,
    ProxyHeaderRefused,
    TlsHandshakeFailed,
    TlsRefused,
    TlsUnavailable,
)
from rocketwire_namesrv.protocol.preamble import NextProtocol, Preamble, describe_plain, is_plain
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.tls.contexts import TlsError
from rocketwire_namesrv.tls.stream import TlsStream

if TYPE_CHECKING:
    from rocketwire_namesrv.events import ConnectionRefused
    from rocketwire_namesrv.protocol.state import State
    from rocketwire_namesrv.server.connection import Connection
    from rocketwire_namesrv.tls.contexts import TlsContexts

__all__ = ["RefusedError", "open_connection"]

READ_SIZE: Final = 65_536


class RefusedError(Exception):
    """The connection has to be closed; the text says why.

    Attributes:
        kind: what has happened.
    """

    def __init__(self, kind: type[ConnectionRefused], text: str) -> None:
        super().__init__(text)
        self.kind = kind


async def open_connection(
    connection: Connection, tls: TlsContexts, state: State, received: bytes = b""
) -> bytes:
    """Read what comes before the first frame.

    Afterwards ``connection.stream`` is the one that frames come from, and ``connection.peer`` is
    the client that a PROXY header named.

    Args:
        connection: just accepted.
        tls: certificates, and whether they may be used.
        state: for the session of a peer that turns out to be another.
        received: bytes that have been read from the connection already.

    Returns:
        Bytes of the first frames; none of them after TLS was begun, or where the peer has ended.

    Raises:
        RefusedError: a malformed PROXY header, TLS where it is not spoken or fails, no TLS where it
            must be.
    """
    data = received or await _receive(connection)
    if data and is_plain(data) and tls.mode is not TlsMode.ENFORCING:
        return data
    preamble = Preamble()
    while data:
        follows = _fed(preamble, data)
        if preamble.proxy is not None:
            _introduce(connection, state, preamble.proxy.client)
        if follows is not None:
            return await _follow(connection, tls, follows, bytes(preamble.held))
        # the client that a whole PROXY header speaks for may take its time, half of one may not
        since = min(connection.frame_since, trio.current_time())
        connection.frame_since = since if preamble.held else math.inf
        data = await _receive(connection)
    return b""


async def _receive(connection: Connection) -> bytes:
    connection.reading = True
    data = bytes(await connection.stream.receive_some(READ_SIZE))
    connection.reading = False
    if not data:
        connection.finish("closed by the peer")
    return data


def _fed(preamble: Preamble, data: bytes) -> NextProtocol | None:
    try:
        return preamble.feed(data)
    except DecodeError as error:
        raise RefusedError(ProxyHeaderRefused, str(error)) from error


def _introduce(connection: Connection, state: State, client: str | None) -> None:
    """Know the connection by its client's address from now on."""
    if client is not None and client != connection.peer.address:
        connection.peer = connection.peer._replace(address=client)
        connection.session = Session(state, connection.peer)


async def _follow(
    connection: Connection, tls: TlsContexts, follows: NextProtocol, held: bytes
) -> bytes:
    if follows is NextProtocol.TLS:
        await _begin_tls(connection, tls, held)
        return b""
    if tls.mode is TlsMode.ENFORCING:
        raise RefusedError(
            PlainRefused,
            f"it does not begin with TLS, and tls.server.mode is enforcing; it looks like"
            f" {describe_plain(held)}",
        )
    return held


async def _begin_tls(connection: Connection, tls: TlsContexts, held: bytes) -> None:
    if tls.mode is TlsMode.DISABLED:
        raise RefusedError(TlsRefused, "it begins with TLS, and tls.server.mode is disabled")
    connection.frame_since = min(connection.frame_since, trio.current_time())
    connection.reading = True
    try:
        context = await tls.server_context()
        stream = TlsStream(connection.stream, context, received=held)
        connection.stream = stream
        await stream.do_handshake()
    except TlsError as error:
        text = f"it begins with TLS, and there is no certificate: {error}"
        raise RefusedError(TlsUnavailable, text) from error
    except trio.BrokenResourceError as error:
        text = f"the TLS handshake failed: {error.__cause__ or error}"
        raise RefusedError(TlsHandshakeFailed, text) from error
    connection.reading = False
    connection.frame_since = math.inf
