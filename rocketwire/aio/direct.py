"""Sends of tasks over connections of their loop; see ``rocketwire.portal.direct``.

The loop itself writes requests and reads responses: those of one turn are written together.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from rocketwire.client.addresses import split_address
from rocketwire.client.publish.direct_send import DirectSend
from rocketwire.codes import RequestCode
from rocketwire.errors import (
    ChannelBrokenError,
    ChannelClosedError,
    DecodeError,
    RequestTimeoutError,
    RocketWireError,
)
from rocketwire.portal.direct import WARM_SENDS, DirectPath
from rocketwire.portal.forks import plain_sockets
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import decode
from rocketwire.wire.frame import cut_frames

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.send_result import SendResult
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.request_template import RequestTemplate

MAX_UNSENT: Final = 1 << 20
"""Most unsent bytes of a connection; further sends go through trio, which waits for room."""

MAX_RESPONSE: Final = 1 << 20
"""Most bytes of the response to a send."""

_READ_SIZE: Final = 65_536
_MAX_OPAQUE: Final = 2**31 - 1


class PendingSend:
    """A send that waits for the response of the broker.

    Attributes:
        send: the request, and what its response means.
        opaque: number of the request.
        deadline: when it times out, monotonic.
        future: gets the result; an error is for ``MessageSender.send_after_failure``.
    """

    __slots__ = ("connection", "deadline", "future", "opaque", "send")

    def __init__(
        self,
        send: DirectSend,
        request: StartedRequest,
        within: float,
        connection: LoopConnection,
        future: asyncio.Future[SendResult],
    ) -> None:
        self.send: DirectSend = send
        self.opaque: int = request.opaque
        self.deadline: float = request.sent_at + within
        self.connection: LoopConnection = connection
        self.future: asyncio.Future[SendResult] = future

    def receive(self, frame: bytes) -> bool:
        """Set the result from the response, if it is that of this send in the usual form."""
        result = self.send.read(frame)
        if result is not None and not self.future.done():
            self.future.set_result(result)
        return result is not None

    def decode(self, response: RemotingCommand, frame: bytes) -> None:
        """Set the result from the response in any form."""
        self.send.learn(frame)
        try:
            result = self.send.decode(response, self.connection.address)
        except RocketWireError as error:
            self.fail(error)
        else:
            if not self.future.done():
                self.future.set_result(result)

    def forget(self) -> None:
        """Drop the request, because its caller was cancelled."""
        self.connection.forget(self)

    def fail(self, error: RocketWireError) -> None:
        """Set the error."""
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # a caller that was cancelled does not ask


class LoopConnection:
    """A connection whose socket the loop watches.

    Attributes:
        address: address of the broker.
        is_open: whether requests can be sent.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, address: str, connected: socket.socket
    ) -> None:
        """Watch a connected socket."""
        self.address = address
        self.is_open: bool = True
        self._loop = loop
        self._socket = connected
        self._descriptor = connected.fileno()
        self._opaque = 0
        self._rest = b""
        self._pending: dict[int, PendingSend] = {}
        self._unsent: list[bytes] = []
        self._unsent_size = 0
        self._is_writing = False
        self._timer: asyncio.TimerHandle | None = None
        loop.add_reader(self._descriptor, self._read)

    @property
    def in_flight(self) -> int:
        """Number of requests that wait for their responses."""
        return len(self._pending)

    def request(
        self, template: RequestTemplate, values: tuple[object, ...], body: bytes, timeout: float
    ) -> StartedRequest | None:
        """Write a request, alone or with others of this turn; see ``DirectRequests.request``."""
        if not self.is_open or self._unsent_size > MAX_UNSENT:
            return None
        self._opaque = opaque = self._opaque + 1 if self._opaque != _MAX_OPAQUE else 1
        frame = template.frame(values, body, opaque)
        self._unsent.append(frame)
        self._unsent_size += len(frame)
        if not self._is_writing:
            if self._pending:
                self._is_writing = True
                self._loop.call_soon(self._write)
            else:
                self._write()
        return StartedRequest(opaque, time.monotonic(), None)

    def expect(self, send: DirectSend, request: StartedRequest, within: float) -> PendingSend:
        """Wait for the response to a request."""
        pending = PendingSend(send, request, within, self, self._loop.create_future())
        if not self.is_open:
            pending.fail(ChannelBrokenError(f"{self.address}: the connection has ended"))
            return pending
        self._pending[pending.opaque] = pending
        if self._timer is None:
            delay = max(0.0, pending.deadline - time.monotonic())
            self._timer = self._loop.call_later(delay, self._expire)
        return pending

    def forget(self, pending: PendingSend) -> None:
        """Drop a request whose caller was cancelled."""
        self._pending.pop(pending.opaque, None)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            self.close(ChannelBrokenError(f"{self.address}: the connection was lost: {error}"))
            return
        if not data:
            self.close(ChannelBrokenError(f"{self.address}: the peer closed the connection"))
            return
        try:
            frames, self._rest = cut_frames(self._rest + data if self._rest else data, MAX_RESPONSE)
            for frame in frames:
                self._receive(frame)
        except DecodeError as error:
            self.close(ChannelBrokenError(f"the received bytes cannot be decoded: {error}"))

    def _receive(self, frame: bytes) -> None:
        """Give a response to its send; most come in the order of the requests."""
        pendings = self._pending
        for pending in pendings.values():
            if pending.receive(frame):
                del pendings[pending.opaque]
                return
            break
        response = decode(frame)
        addressee = pendings.pop(response.opaque, None) if response.is_response else None
        if addressee is not None:
            addressee.decode(response, frame)

    def _write(self) -> None:
        self._is_writing = False
        unsent = self._unsent
        if not unsent or not self.is_open:
            return
        data = unsent[0] if len(unsent) == 1 else b"".join(unsent)
        unsent.clear()
        try:
            written = os.write(self._descriptor, data)
        except BlockingIOError:
            written = 0
        except OSError as error:
            self.close(ChannelBrokenError(f"{self.address}: could not send: {error}"))
            return
        self._unsent_size -= written
        if written < len(data):
            unsent.append(data[written:])
            self._is_writing = True
            self._loop.add_writer(self._descriptor, self._write_rest)

    def _write_rest(self) -> None:
        self._loop.remove_writer(self._descriptor)
        self._write()

    def _expire(self) -> None:
        """Let requests fail whose time is up."""
        self._timer = None
        now = time.monotonic()
        for pending in [each for each in self._pending.values() if each.deadline <= now]:
            del self._pending[pending.opaque]
            pending.fail(RequestTimeoutError(self.address, RequestCode.SEND_MESSAGE_V2, 0.0))
        if self._pending and self.is_open:
            deadline = min(pending.deadline for pending in self._pending.values())
            self._timer = self._loop.call_later(deadline - now, self._expire)

    def close(self, error: RocketWireError) -> None:
        """Close the connection; waiting sends get the error."""
        if not self.is_open:
            return
        self.is_open = False
        with suppress(RuntimeError, OSError, ValueError):  # a closed loop, or a closed socket
            self._loop.remove_reader(self._descriptor)
            self._loop.remove_writer(self._descriptor)
        if self._timer is not None:
            self._timer.cancel()
        self._socket.close()
        for pending in self._pending.values():
            pending.fail(error)
        self._pending.clear()


class DirectSends:
    """The connections of a producer in the loop that has opened it.

    Attributes:
        has_hooks: whether hooks see the sends of the producer.
    """

    def __init__(self, producer: Producer, loop: asyncio.AbstractEventLoop) -> None:
        """Start without connections."""
        self._loop = loop
        self._connections: dict[str, LoopConnection] = {}
        self._connecting: dict[str, asyncio.Task[None]] = {}
        self._path = DirectPath(producer, self._connection)
        self._producer = producer
        self._connect_timeout = producer.instance.config.connect_timeout
        self.has_hooks: bool = producer.sender.hooks is not None
        self._sends = 0
        self._is_closed = False

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses with an open connection."""
        return tuple(address for address, c in self._connections.items() if c.is_open)

    @property
    def in_flight(self) -> int:
        """Number of requests that wait for their responses."""
        return sum(connection.in_flight for connection in self._connections.values())

    def start(self, message: Message, within: float) -> PendingSend | None:
        """Start to send a message; returns None if it has to go through trio.

        Raises:
            IllegalMessageError, EncodeError: see ``Producer.send``.
        """
        if self._sends < WARM_SENDS:
            self._sends += 1
            return None
        send = self._path.send(message, within)
        if not isinstance(send, DirectSend):  # only a result that was read at once would be one
            return None
        connection = cast("LoopConnection", send.direct_queue.connection)
        return connection.expect(send, cast("StartedRequest", send.request), within)

    def _connection(self, address: str) -> LoopConnection | None:
        """Return the connection to a broker; without one, start to connect."""
        connection = self._connections.get(address)
        if connection is not None and connection.is_open:
            return connection
        is_wanted = address not in self._connecting and not self._is_closed
        if is_wanted and self._producer.allows_direct_sends:
            self._connecting[address] = self._loop.create_task(self._connect(address))
        return None

    async def _connect(self, address: str) -> None:
        connected = socket.socket()
        plain_sockets.add(connected)
        connected.setblocking(False)
        try:
            async with asyncio.timeout(self._connect_timeout):
                target = self._producer.instance.pool.remap(address)
                await self._loop.sock_connect(connected, split_address(target))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections[address] = LoopConnection(self._loop, address, connected)
        except (OSError, ValueError, RocketWireError):  # trio tells what is wrong
            connected.close()
            await asyncio.sleep(1)
        except BaseException:
            connected.close()
            raise
        finally:
            self._connecting.pop(address, None)

    async def close(self) -> None:
        """Close the connections; waiting sends get ``ChannelClosedError``."""
        self._is_closed = True
        tasks = list(self._connecting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._connections.values():
            connection.close(ChannelClosedError(f"the channel to {connection.address} was closed"))
        self._connections.clear()
