"""``RawConnection``: a connection to the target that keeps all arrivals in order.

It parses frames but enforces no protocol rules: it can send any bytes, and any input is an arrival.
"""

from __future__ import annotations

import ssl
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import DecodeError
from rocketwire.flags import CommandFlag
from rocketwire.os_errors import os_error_text, reason_of_no_connection
from rocketwire.wire.command import RemotingCommand, decode_frame
from rocketwire.wire.frame import FrameDecoder, RawFrame
from rocketwire_tools.conformance.run.target import CERTIFICATES, Address, FrameRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.conformance.model.steps import Request


_READ: Final = 65_536
# Maximum bytes of invalid input in the evidence.
_MAX_RAW_BYTES: Final = 65_536
_NOT_ANSWERED: Final = CommandFlag.RESPONSE | CommandFlag.ONEWAY


@dataclass(frozen=True, slots=True)
class Arrival:
    kind: str  # ``response``, ``request``, ``rubbish`` (invalid input) or ``end``
    data: bytes = b""  # its bytes; empty for an end
    command: RemotingCommand | None = None  # the decoded response or request
    reason: str = ""  # why input is invalid, or how the connection ended
    request: Request | None = None  # the request that a response answers, if known
    violation: str = ""  # the rule of all frames that it breaks; empty for none


def frame_bytes(raw: RawFrame) -> bytes:
    body = raw.body or b""
    mark = raw.header_type << 24 | len(raw.header)
    return struct.pack(">II", 4 + len(raw.header) + len(body), mark) + raw.header + body


class RawConnection:
    def __init__(self, name: str, stream: trio.abc.Stream, socket: trio.SocketStream) -> None:
        self.name = name  # its name in the case
        self.arrivals: list[Arrival] = []  # arrivals that no step has taken yet
        self.ended = False  # whether the server has closed it
        self.violations: list[Arrival] = []  # arrivals that break a rule of all frames
        self.unanswered: dict[int, list[Request]] = {}  # requests without a response, by opaque
        # whether literal data was sent, which may contain further requests
        self.sent_literally = False
        self.next_opaque = 1  # opaque of the next request
        self.rules = FrameRules()  # the rules of the server's frames
        self._stream = stream
        self._socket = socket
        self._news = trio.Event()
        self._scope = trio.CancelScope()

    def note(self, request: Request, opaque: int) -> None:
        if not request.flag & _NOT_ANSWERED:
            self.unanswered.setdefault(opaque, []).append(request)

    async def send(self, data: bytes) -> bool:
        """Send bytes; returns False if the server has closed the connection (see ``arrivals``)."""
        try:
            await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError):
            return False
        return True

    async def read(self) -> None:
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
                if not self._parse(decoder, bytes(data)):
                    decoder = FrameDecoder(max_frame_length=2**31 - 1)

    def _parse(self, decoder: FrameDecoder, data: bytes) -> bool:
        # Turn bytes into arrivals; returns False after invalid input
        decoder.feed(data)
        while True:
            try:
                raw = decoder.next_frame()
            except DecodeError as error:
                self._add_arrival(Arrival("rubbish", data[:_MAX_RAW_BYTES], reason=str(error)))
                return False
            if raw is None:
                return True
            self._add_arrival(self._arrival_of(raw))

    def _end(self, reason: str) -> None:
        self.ended = True
        self._add_arrival(Arrival("end", reason=reason))

    def _add_arrival(self, arrival: Arrival) -> None:
        self.arrivals.append(arrival)
        if arrival.violation:
            self.violations.append(arrival)
        self._news.set()
        self._news = trio.Event()

    def _arrival_of(self, raw: RawFrame) -> Arrival:
        data = frame_bytes(raw)
        try:
            command = decode_frame(raw)
        except DecodeError as error:
            return Arrival("rubbish", data, reason=str(error))
        requests = self.unanswered.get(command.opaque) if command.is_response else None
        request = requests.pop(0) if requests else None
        violation = self.rules.violation(raw, command, request)
        if not violation and command.is_response and not request and not self.sent_literally:
            violation = f"opaque: {command.opaque} belongs to no unanswered request"
        kind = "response" if command.is_response else "request"
        return Arrival(kind, data, command, request=request, violation=violation)

    async def next(self, accepts: Callable[[Arrival], bool]) -> Arrival:
        """Await and remove the first accepted arrival; an end stays in the list."""
        while True:
            news = self._news
            for index, arrival in enumerate(self.arrivals):
                if accepts(arrival):
                    return arrival if arrival.kind == "end" else self.arrivals.pop(index)
            await news.wait()

    async def close(self, *, reset: bool = False) -> None:
        self._scope.cancel()
        if reset:
            linger = struct.pack("ii", 1, 0)
            self._socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, linger)
            self._socket.socket.close()
            return
        with trio.move_on_after(1):
            await self._socket.aclose()


def tls_context(version: str, shows: str = "", trusts: str = "") -> ssl.SSLContext:
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
    name: str,
    address: Address,
    seconds: float,
    *,
    preamble: bytes = b"",
    tls: ssl.SSLContext | None = None,
) -> RawConnection:
    """Open a connection; ``preamble`` is sent first, before any TLS.

    Raises ``OSError`` if it was refused or the handshake failed, ``TimeoutError`` if it took
    longer.
    """
    with trio.move_on_after(seconds):
        return await _connect(name, address, preamble, tls)
    raise TimeoutError(f"no connection within {seconds:g} s")


async def _connect(
    name: str, address: Address, preamble: bytes, tls: ssl.SSLContext | None
) -> RawConnection:
    try:
        socket = await trio.open_tcp_stream(address.host, address.port)
    except OSError as error:
        raise OSError(os_error_text(reason_of_no_connection(error))) from error
    try:
        if preamble:
            await socket.send_all(preamble)
        if tls is None:
            return RawConnection(name, socket, socket)
        stream = trio.SSLStream(socket, tls, https_compatible=True)
        await stream.do_handshake()
    except (trio.BrokenResourceError, ssl.SSLError) as error:
        await trio.aclose_forcefully(socket)
        raise OSError(f"TLS handshake failed: {error.__cause__ or error}") from error
    except BaseException:
        await trio.aclose_forcefully(socket)
        raise
    return RawConnection(name, stream, socket)
