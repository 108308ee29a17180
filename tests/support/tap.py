"""A recording tap: a loopback proxy that passes bytes on and keeps every frame that went by.

It cuts the stream by the length words alone and knows nothing else of the protocol, so that what it
keeps owes nothing to the codec under test.  ``run_tap`` is the proxy; ``tapped`` runs one in a
thread for tests and tools that are not trio's.
"""

import socket
import ssl
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import NamedTuple, TypeAlias, cast

import trio

from tests.peers.processes import LOOPBACK

Stream: TypeAlias = trio.SocketStream | trio.SSLStream[trio.SocketStream]


TLS_HANDSHAKE = b"\x16"
TO_SERVER = "to server"
TO_CLIENT = "to client"


class TappedFrame(NamedTuple):
    """One frame that went by: ``time`` is in seconds since the tap was opened, ``data`` has the length word."""

    time: float
    connection: int
    direction: str
    data: bytes


@dataclass
class Tap:
    port: int
    target: int
    #: all whole frames in order of their last byte
    frames: list[TappedFrame] = field(default_factory=list[TappedFrame])
    #: what was left of a stream that ended within a frame, by connection and direction
    unfinished: dict[tuple[int, str], bytes] = field(default_factory=dict[tuple[int, str], bytes])

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"


async def _pass_on(
    tap: Tap, source: Stream, sink: Stream, connection: int, direction: str, opened: float
) -> None:
    kept = bytearray()
    try:
        async for piece in source:
            kept += piece
            while len(kept) >= 4 and len(kept) >= (end := 4 + struct.unpack_from(">I", kept)[0]):
                moment = trio.current_time() - opened
                tap.frames.append(TappedFrame(moment, connection, direction, bytes(kept[:end])))
                del kept[:end]
            await sink.send_all(piece)
        if isinstance(sink, trio.SocketStream):
            await sink.send_eof()
        else:
            await sink.aclose()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        await source.aclose()
        await sink.aclose()
    if kept:
        tap.unfinished[connection, direction] = bytes(kept)


async def run_tap(
    target: int,
    host: str = LOOPBACK,
    port: int = 0,
    *,
    preface: bytes = b"",
    tls: ssl.SSLContext | None = None,
    task_status: trio.TaskStatus[Tap] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Proxy between ``host:port`` and the server on ``target`` until cancelled; ``task_status`` gets the ``Tap``.

    Args:
        target: port of the server on 127.0.0.1.
        host: another loopback address lets a peer that announces its own port be tapped: announce that address.
        preface: what the server gets before the client's bytes, as from a load balancer.
        tls: a client that begins with TLS is answered so; the server gets plain bytes.
    """
    listeners = await trio.open_tcp_listeners(port, host=host)
    tap = Tap(listeners[0].socket.getsockname()[1], target)
    numbers = count(1)
    opened = trio.current_time()

    async def serve(stream: trio.SocketStream) -> None:
        number, client = next(numbers), cast("Stream", stream)
        if tls is not None and await stream.socket.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
            client = trio.SSLStream(stream, tls, server_side=True, https_compatible=True)
        try:
            server = await trio.open_tcp_stream(LOOPBACK, target)
        except OSError:
            await client.aclose()
            return
        async with client, server, trio.open_nursery() as nursery:
            await server.send_all(preface)
            nursery.start_soon(_pass_on, tap, client, server, number, TO_SERVER, opened)
            nursery.start_soon(_pass_on, tap, server, client, number, TO_CLIENT, opened)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        task_status.started(tap)


@contextmanager
def tapped(
    target: int,
    host: str = LOOPBACK,
    port: int = 0,
    *,
    preface: bytes = b"",
    tls: ssl.SSLContext | None = None,
) -> Generator[Tap]:
    opened: list[Tap] = []
    ready = threading.Event()
    scope = trio.CancelScope()
    token: list[trio.lowlevel.TrioToken] = []

    async def main() -> None:
        with scope:
            async with trio.open_nursery() as nursery:
                token.append(trio.lowlevel.current_trio_token())
                run = partial(run_tap, target, host, port, preface=preface, tls=tls)
                opened.append(await nursery.start(run))
                ready.set()

    thread = threading.Thread(target=trio.run, args=(main,), name="tap", daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield opened[0]
    finally:
        trio.from_thread.run_sync(scope.cancel, trio_token=token[0])
        thread.join()
