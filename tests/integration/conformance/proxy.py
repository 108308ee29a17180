"""A proxy between the suite and a name server that does one thing wrong.

It parses frames on both sides, and forwards bytes that it cannot parse.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TypeAlias

import trio

from rocketwire.errors import DecodeError
from rocketwire.wire.command import RemotingCommand, decode_frame, encode
from rocketwire.wire.frame import FrameDecoder
from rocketwire_tools.conformance.run.raw_connection import frame_bytes
from rocketwire_tools.conformance.run.target import Address


@dataclass
class Memory:
    #: ext fields of all registrations
    registered: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    #: anything else
    kept: dict[object, RemotingCommand] = field(default_factory=dict[object, RemotingCommand])
    link: object = None  #: the connection


Ask: TypeAlias = Callable[[RemotingCommand, Memory], list[RemotingCommand]]
"""Return the request to forward in place of the given one."""
Response: TypeAlias = Callable[[RemotingCommand, RemotingCommand, Memory], RemotingCommand | None]
"""Return the response to send in place of the server's; None for nothing."""
Raw: TypeAlias = Callable[[bytes], bytes]
"""Return the header bytes to write in place of the server's."""
Reply: TypeAlias = Callable[[RemotingCommand], RemotingCommand | None]
"""Return a further response to send; None for nothing."""


@dataclass(frozen=True)
class Defect:
    name: str  #: a description
    case: str  #: the address of the case that must notice it
    _: KW_ONLY
    ask: Ask | None = None  #: changes requests
    answer: Response | None = None  #: changes answers
    raw: Raw | None = None  #: changes the headers of answers, as bytes
    reply: Reply | None = None  #: adds answers
    #: changes the answers to several requests that were read together
    in_flight: Callable[[list[RemotingCommand]], list[RemotingCommand]] | None = None
    idle_seconds: float = math.inf  #: after how long without a request a connection is closed
    stays_open: bool = False  #: whether a connection that the server closes is left open
    forgets_to_close: bool = False  #: whether the server does not learn that a connection is closed


class _Pair:
    def __init__(
        self, defect: Defect, memory: Memory, near: trio.SocketStream, far: trio.SocketStream
    ) -> None:
        self._defect = defect
        self._memory = memory
        self._near = near
        self._far = far
        self._asked: dict[int, RemotingCommand] = {}
        self._together: list[RemotingCommand] = []
        self._awaited = 0
        self._sending = trio.Lock()

    async def requests(self) -> None:
        decoder = FrameDecoder()
        readable = True
        while True:
            data = b""
            with trio.move_on_after(self._defect.idle_seconds):
                data = await self._near.receive_some()
            if not data:
                return
            if readable:
                decoder.feed(bytes(data))
                readable = await self._forward(decoder)
            if not readable:
                await self._far.send_all(data)

    async def _forward(self, decoder: FrameDecoder) -> bool:
        # Pass whole requests on; returns False when the bytes cannot be read.
        requests: list[tuple[RemotingCommand, bytes]] = []
        readable = True
        try:
            while (raw := decoder.next_frame()) is not None:
                requests.append((decode_frame(raw), frame_bytes(raw)))
        except DecodeError:
            readable = False
        if self._defect.in_flight is not None and len(requests) > 1:
            self._awaited = len(requests)
        for request, data in requests:
            await self._one_request(request, data)
        return readable

    async def _one_request(self, request: RemotingCommand, data: bytes) -> None:
        if request.code == 103 and request.ext_fields is not None:
            self._memory.registered.append(dict(request.ext_fields))
        self._asked[request.opaque] = request
        reply = None if self._defect.reply is None else self._defect.reply(request)
        if reply is not None:
            await self._answer(encode(reply))
        if self._defect.ask is None:
            await self._far.send_all(data)
            return
        for forwarded in self._defect.ask(request, self._memory):
            await self._far.send_all(data if forwarded is request else encode(forwarded))

    async def answers(self) -> None:
        decoder = FrameDecoder()
        async for data in self._far:
            decoder.feed(bytes(data))
            while (raw := decoder.next_frame()) is not None:
                if self._awaited:
                    self._together.append(decode_frame(raw))
                    await self._answer_together()
                elif data := self._change(decode_frame(raw), frame_bytes(raw)):
                    await self._answer(data)

    async def _answer_together(self) -> None:
        if self._defect.in_flight is None or len(self._together) < self._awaited:
            return
        answers, self._together, self._awaited = self._together, [], 0
        for answer in self._defect.in_flight(answers):
            await self._answer(encode(answer))

    async def _answer(self, data: bytes) -> None:
        async with self._sending:
            await self._near.send_all(data)

    def _change(self, response: RemotingCommand, data: bytes) -> bytes:
        request = self._asked.get(response.opaque)
        if self._defect.raw is not None:
            length = int.from_bytes(data[5:8])
            header = self._defect.raw(data[8 : 8 + length])
            frame = len(header).to_bytes(4) + header + data[8 + length :]
            return len(frame).to_bytes(4) + frame
        if self._defect.answer is None or request is None or not response.is_response:
            return data
        changed = self._defect.answer(request, response, self._memory)
        if changed is response:
            return data
        return b"" if changed is None else encode(changed)


async def _both(pair: _Pair, defect: Defect) -> None:
    async with trio.open_nursery() as nursery:

        async def pump(move: Callable[[], Awaitable[None]], stays: bool) -> None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await move()
            if stays:
                await trio.sleep_forever()
            nursery.cancel_scope.cancel()

        nursery.start_soon(pump, pair.requests, defect.forgets_to_close)
        nursery.start_soon(pump, pair.answers, defect.stays_open)


@asynccontextmanager
async def run_proxy(defect: Defect, server: Address) -> AsyncGenerator[Address]:
    memory = Memory()

    async def serve(near: trio.SocketStream) -> None:
        far = await trio.open_tcp_stream(server.host, server.port)
        try:
            await _both(_Pair(defect, replace(memory, link=near), near, far), defect)
        finally:
            await trio.aclose_forcefully(far)
            await trio.aclose_forcefully(near)

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host=server.host)
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        yield Address(server.host, listeners[0].socket.getsockname()[1])
        nursery.cancel_scope.cancel()
