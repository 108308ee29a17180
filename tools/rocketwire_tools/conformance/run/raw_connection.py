"""``Link``: one connection to the target, with everything that came over it kept in order.

It understands frames but obeys no rule of the protocol: any bytes can be sent, and whatever comes is an arrival to look at.
"""

from __future__ import annotations

import ssl
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire.errors import DecodeError
from rocketwire.wire.command import RemotingCommand, decode_frame
from rocketwire.wire.frame import FrameDecoder, RawFrame
from rocketwire_tools.conformance.run.target import CERTIFICATES

if TYPE_CHECKING:
    from collections.abc import Callable

_READ: Final = 65_536
_RAW_KEPT: Final = 65_536
"""Bytes of rubbish that are kept for the evidence."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One thing that came.

    Attributes:
        kind: ``response``, ``request``, ``rubbish`` or ``end``.
        data: its bytes; of an end, none.
        command: of a response or request.
        reason: of rubbish why it is none, of an end how it came.
    """

    kind: str
    data: bytes = b""
    command: RemotingCommand | None = None
    reason: str = ""


class Stream(Protocol):
    """What a connection is made of: a socket's stream, or TLS over one."""

    async def send_all(self, data: bytes) -> None:
        """Send all of it."""

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive; empty at the end."""
        ...

    async def aclose(self) -> None:
        """Close."""


def frame_bytes(raw: RawFrame) -> bytes:
    """The bytes that a frame came as."""
    body = raw.body or b""
    mark = raw.header_type << 24 | len(raw.header)
    return struct.pack(">II", 4 + len(raw.header) + len(body), mark) + raw.header + body


class Link:
    """One connection.

    Attributes:
        name: what the case calls it.
        arrivals: what came and nobody has taken yet.
        ended: whether the server has closed it.
        outstanding: numbers of requests that were sent without awaiting their answers.
        asked: the request codes of all numbers that were given.
        next_opaque: the number for the next request.
    """

    def __init__(self, name: str, stream: Stream, socket: trio.SocketStream) -> None:
        self.name = name
        self.arrivals: list[Arrival] = []
        self.ended = False
        self.outstanding: set[int] = set()
        self.asked: dict[int, int] = {}
        self.next_opaque = 1
        self._stream = stream
        self._socket = socket
        self._news = trio.Event()
        self._scope = trio.CancelScope()

    def owns(self, arrival: Arrival) -> bool:
        """Whether a response has the number of a request that was sent; true where no number is known."""
        command = arrival.command
        if command is None or arrival.kind != "response" or not self.outstanding:
            return True
        is_own = command.opaque in self.outstanding
        self.outstanding.discard(command.opaque)
        return is_own

    async def send(self, data: bytes) -> bool:
        """Send bytes; returns False where the server has closed already, of which the arrivals tell."""
        try:
            await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError):
            return False
        return True

    async def read(self) -> None:
        """Receive until the end; run in a task of its own."""
        decoder = FrameDecoder(max_frame_length=2**31 - 1)
        with self._scope:
            while True:
                try:
                    data = await self._stream.receive_some(_READ)
                except (trio.BrokenResourceError, ssl.SSLError) as error:
                    self._end(f"reset ({error.__cause__ or error})")
                    return
                except trio.ClosedResourceError:
                    return
                if not data:
                    self._end("closed")
                    return
                if not self._take(decoder, bytes(data)):
                    decoder = FrameDecoder(max_frame_length=2**31 - 1)

    def _take(self, decoder: FrameDecoder, data: bytes) -> bool:
        """Turn bytes into arrivals; returns False after rubbish."""
        decoder.feed(data)
        while True:
            try:
                raw = decoder.next_frame()
            except DecodeError as error:
                self._arrive(Arrival("rubbish", data[:_RAW_KEPT], reason=str(error)))
                return False
            if raw is None:
                return True
            self._arrive(_arrival(raw))

    def _end(self, reason: str) -> None:
        self.ended = True
        self._arrive(Arrival("end", reason=reason))

    def _arrive(self, arrival: Arrival) -> None:
        self.arrivals.append(arrival)
        self._news.set()
        self._news = trio.Event()

    async def next(self, accepts: Callable[[Arrival], bool]) -> Arrival:
        """Wait for the first arrival that is wanted, and take it; the end is never taken away."""
        while True:
            news = self._news
            for number, arrival in enumerate(self.arrivals):
                if accepts(arrival):
                    return arrival if arrival.kind == "end" else self.arrivals.pop(number)
            await news.wait()

    async def close(self, *, reset: bool = False) -> None:
        """Close from this side."""
        self._scope.cancel()
        if reset:
            self._socket.setsockopt(_SOL_SOCKET, _SO_LINGER, struct.pack("ii", 1, 0))
            self._socket.socket.close()
            return
        with trio.move_on_after(1):
            await self._socket.aclose()


_SOL_SOCKET: Final = trio.socket.SOL_SOCKET
_SO_LINGER: Final = trio.socket.SO_LINGER


def _arrival(raw: RawFrame) -> Arrival:
    data = frame_bytes(raw)
    try:
        command = decode_frame(raw)
    except DecodeError as error:
        return Arrival("rubbish", data, reason=str(error))
    return Arrival("response" if command.is_response else "request", data, command)


def tls_context(version: str, shows: str = "", trusts: str = "") -> ssl.SSLContext:
    """A client's side of TLS.

    Args:
        version: ``any``, ``1.2`` or ``1.3``.
        shows: the name of its own certificate among ``CERTIFICATES``; empty for none.
        trusts: the name of the only authority that it trusts; empty to trust every certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    if trusts:
        context.load_verify_locations(CERTIFICATES / f"{trusts}.pem")
    else:
        context.verify_mode = ssl.CERT_NONE
    if shows:
        context.load_cert_chain(CERTIFICATES / f"{shows}.pem", CERTIFICATES / f"{shows}.key")
    exact = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}.get(version)
    if exact is not None:
        context.minimum_version = context.maximum_version = exact
    return context


async def connect(
    name: str, host: str, port: int, *, preamble: bytes = b"", tls: ssl.SSLContext | None = None
) -> Link:
    """Open a connection.

    Args:
        name: what the case calls it.
        host: of the target.
        port: of the target.
        preamble: bytes that go before anything else.
        tls: our side of it; None for a connection without.

    Raises:
        OSError: nobody listens, or the handshake failed.
    """
    socket = await trio.open_tcp_stream(host, port)
    try:
        if preamble:
            await socket.send_all(preamble)
        if tls is None:
            return Link(name, socket, socket)
        stream = trio.SSLStream(socket, tls, https_compatible=True)
        await stream.do_handshake()
    except (trio.BrokenResourceError, ssl.SSLError) as error:
        await trio.aclose_forcefully(socket)
        raise OSError(f"no handshake: {error.__cause__ or error}") from error
    except BaseException:
        await trio.aclose_forcefully(socket)
        raise
    return Link(name, stream, socket)
