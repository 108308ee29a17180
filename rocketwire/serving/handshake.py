"""From an accepted connection to its first frame: the PROXY header, TLS, or neither.

Rules of this file: refused bytes never reach the session; every refusal is one line of the log.

Java: ``NettyRemotingServer.HandshakeHandler``, ``HAProxyMessageHandler``, ``TlsModeHandler``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire.errors import DecodeError
from rocketwire.serving.events import (
    PlainRefused,
    ProxyHeaderRefused,
    TlsHandshakeFailed,
    TlsRefused,
    TlsUnavailable,
)
from rocketwire.serving.preamble import NextProtocol, Preamble, describe_plain, is_plain
from rocketwire.serving.tls.certificates import TlsError
from rocketwire.serving.tls.settings import TlsMode
from rocketwire.serving.tls.stream import TlsStream

if TYPE_CHECKING:
    from rocketwire.serving.events import ConnectionRefused
    from rocketwire.serving.tls.contexts import TlsContexts

READ_SIZE: Final = 65_536


class OpeningConnection(Protocol):
    stream: trio.abc.Stream  # its bytes; replaced if TLS begins
    reading: bool  # whether it waits for bytes
    frame_since: float  # start of the incomplete first frame or handshake; else infinite

    def finish(self, why: str) -> None: ...


class RefusedError(Exception):
    def __init__(self, event_type: type[ConnectionRefused], text: str) -> None:
        super().__init__(text)
        self.event_type = event_type  # the event to record


async def open_connection(
    connection: OpeningConnection,
    tls: TlsContexts,
    introduce: Callable[[str], None],
    received: bytes = b"",
) -> bytes:
    """Read what precedes the first frame; ``introduce`` gets the client of a PROXY header."""
    data = received or await _receive(connection)
    if data and is_plain(data) and tls.mode is not TlsMode.ENFORCING:
        return data
    preamble = Preamble()
    while data:
        follows = _feed(preamble, data)
        if preamble.proxy is not None and (client := preamble.proxy.client) is not None:
            introduce(client)
        if follows is not None:
            return await _follow(connection, tls, follows, bytes(preamble.held))
        # after a complete PROXY header the client may wait, within one it may not
        since = min(connection.frame_since, trio.current_time())
        connection.frame_since = since if preamble.held else math.inf
        data = await _receive(connection)
    return b""


async def _receive(connection: OpeningConnection) -> bytes:
    connection.reading = True
    data = bytes(await connection.stream.receive_some(READ_SIZE))
    connection.reading = False
    if not data:
        connection.finish("closed by the peer")
    return data


def _feed(preamble: Preamble, data: bytes) -> NextProtocol | None:
    try:
        return preamble.feed(data)
    except DecodeError as error:
        raise RefusedError(ProxyHeaderRefused, str(error)) from error


async def _follow(
    connection: OpeningConnection, tls: TlsContexts, follows: NextProtocol, received: bytes
) -> bytes:
    if follows is NextProtocol.TLS:
        await _begin_tls(connection, tls, received)
        return b""
    if tls.mode is TlsMode.ENFORCING:
        raise RefusedError(
            PlainRefused,
            f"it does not begin with TLS, and tls.server.mode is enforcing; it looks like"
            f" {describe_plain(received)}",
        )
    return received


async def _begin_tls(connection: OpeningConnection, tls: TlsContexts, received: bytes) -> None:
    if tls.mode is TlsMode.DISABLED:
        raise RefusedError(TlsRefused, "it begins with TLS, and tls.server.mode is disabled")
    connection.frame_since = min(connection.frame_since, trio.current_time())
    connection.reading = True
    try:
        context = await tls.server_context()
        stream = TlsStream(connection.stream, context, received=received)
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
