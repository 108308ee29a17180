"""Sends of tasks over connections of their loop; see ``rocketwire.portal.direct``.

The loop itself writes requests and reads responses: those of one turn are written together.
"""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING, Final, cast

from rocketwire.client.addresses import split_address
from rocketwire.errors import (
    ChannelBrokenError,
    ChannelClosedError,
    DecodeError,
    RequestTimeoutError,
    RocketWireError,
)
from rocketwire.portal.direct import MAX_OPAQUE, MAX_RESPONSE, WARM_SENDS, Attempt, DirectPath
from rocketwire.portal.portal import plain_sockets
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import decode
from rocketwire.wire.frame import cut_frames

if TYPE_CHECKING:
    from rocketwire.client.hooks import HookChain
    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.send_result import SendResult
    from rocketwire.wire.request_template import RequestTemplate

# Maximum unsent bytes of a connection; further sends go through trio, which waits for room
MAX_UNSENT: Final = 1 << 20


class LoopConnection(asyncio.Protocol):
    # requests of one turn are written together
    def __init__(self, loop: asyncio.AbstractEventLoop, address: str) -> None:
        self.address = address
        self.is_open: bool = False
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._opaque = 0
        self._rest = b""
        self._pending: dict[int, Attempt] = {}
        self._unsent: list[bytes] = []
        self._unsent_size = 0
        self._is_full = False
        self._timer: asyncio.TimerHandle | None = None

    def request(
        self, template: RequestTemplate, values: tuple[object, ...], body: bytes, timeout: float
    ) -> StartedRequest | None:
        """Write a request, alone or with others of this turn; see ``DirectRequests.request``."""
        if not self.is_open or self._is_full or self._unsent_size > MAX_UNSENT:
            return None
        self._opaque = opaque = self._opaque + 1 if self._opaque != MAX_OPAQUE else 1
        frame = template.frame(values, body, opaque)
        self._unsent.append(frame)
        self._unsent_size += len(frame)
        if len(self._unsent) == 1:
            # A sender without others must not wait for the next turn. If responses are awaited,
            # more senders are likely to follow in this turn, and share the system call.
            if self._pending:
                self._loop.call_soon(self._write)
            else:
                self._write()
        return StartedRequest(opaque, time.monotonic(), None)

    def expect(self, attempt: Attempt) -> asyncio.Future[SendResult]:
        future: asyncio.Future[SendResult] = self._loop.create_future()
        attempt.future = future
        self._pending[attempt.started.opaque] = attempt
        if self._timer is None:
            delay = max(0.0, attempt.deadline - time.monotonic())
            self._timer = self._loop.call_later(delay, self._expire)
        return future

    def forget(self, attempt: Attempt) -> None:
        self._pending.pop(attempt.started.opaque, None)

    def _write(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()
        self._unsent_size = 0

    def _expire(self) -> None:
        self._timer = None
        now = time.monotonic()
        for attempt in [each for each in self._pending.values() if each.deadline <= now]:
            del self._pending[attempt.started.opaque]
            seconds = now - attempt.started.sent_at
            _fail(attempt, RequestTimeoutError(self.address, attempt.request_code, seconds))
        if self._pending:
            deadline = min(attempt.deadline for attempt in self._pending.values())
            self._timer = self._loop.call_later(deadline - now, self._expire)

    def close(self, error: RocketWireError) -> None:
        if self._transport is not None:
            self._transport.abort()
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for attempt in self._pending.values():
            _fail(attempt, error)
        self._pending.clear()

    # ------------------------------------------------------------------ called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(MAX_UNSENT)
        self.is_open = True

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False

    def data_received(self, data: bytes) -> None:
        try:
            frames, self._rest = cut_frames(self._rest + data if self._rest else data, MAX_RESPONSE)
            for frame in frames:
                self._receive(frame)
        except DecodeError as error:
            self.close(ChannelBrokenError(f"the received bytes cannot be decoded: {error}"))

    def _receive(self, frame: bytes) -> None:
        pending = self._pending
        # most responses come in the order of the requests, in a form that needs no decoding
        for first in pending.values():
            result = first.read_usual(frame)
            if result is not None:
                del pending[first.started.opaque]
                _finish(first, result)
                return
            break
        response = decode(frame)
        attempt = pending.pop(response.opaque, None) if response.is_response else None
        if attempt is not None:
            try:
                _finish(attempt, attempt.read(response, frame))
            except RocketWireError as error:
                _fail(attempt, error)

    def connection_lost(self, exc: Exception | None) -> None:
        reason = f"the connection was lost: {exc}" if exc else "the peer closed the connection"
        self.close(ChannelBrokenError(f"{self.address}: {reason}"))


def _finish(attempt: Attempt, result: SendResult) -> None:
    if not attempt.future.done():
        attempt.future.set_result(result)


def _fail(attempt: Attempt, error: RocketWireError) -> None:
    if not attempt.future.done():
        attempt.future.set_exception(error)
        attempt.future.exception()  # a caller that was cancelled does not ask


class DirectSends:
    def __init__(self, producer: Producer, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._connections: dict[str, LoopConnection] = {}
        self._connecting: dict[str, asyncio.Task[None]] = {}
        self._path = DirectPath(producer, self._get_connection)
        self._producer = producer
        self.hooks: HookChain | None = producer.sender.hooks
        self._sends = 0
        self._is_closed = False

    def start(self, message: Message, within: float) -> Attempt | None:
        # None: the message has to go through trio
        if self._sends < WARM_SENDS:
            self._sends += 1
            return None
        # its connections never return a result at once
        attempt = cast("Attempt | None", self._path.send(message, within))
        if attempt is not None:
            attempt.connection.expect(attempt)
        return attempt

    def _get_connection(self, address: str) -> LoopConnection | None:
        # the first sends after a loss go through trio, while the loop connects
        connection = self._connections.get(address)
        if connection is not None and connection.is_open:
            return connection
        is_wanted = address not in self._connecting and not self._is_closed
        if is_wanted and self._producer.allows_direct_sends:
            self._connecting[address] = self._loop.create_task(self._connect(address))
        return None

    async def _connect(self, address: str) -> None:
        instance = self._producer.instance
        connected = socket.socket()
        plain_sockets.add(connected)
        connected.setblocking(False)
        connection = LoopConnection(self._loop, address)
        try:
            async with asyncio.timeout(instance.config.connect_timeout):
                target = instance.pool.remap(address)
                await self._loop.sock_connect(connected, split_address(target))
                await self._loop.create_connection(lambda: connection, sock=connected)
        except (OSError, ValueError, RocketWireError):  # trio's own attempt reports the error
            connected.close()
            await asyncio.sleep(1)
        except BaseException:
            connected.close()
            raise
        else:
            self._connections[address] = connection
        finally:
            self._connecting.pop(address, None)

    async def close(self) -> None:
        self._is_closed = True
        tasks = list(self._connecting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._connections.values():
            connection.close(ChannelClosedError(f"the channel to {connection.address} was closed"))
        self._connections.clear()
