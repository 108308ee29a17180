"""Sends of tasks over connections of their loop; see ``rocketwire.portal.direct``.

The loop itself writes requests and reads responses: those of one turn are written together.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire.client.addresses import split_address
from rocketwire.client.producer.fast_path import MAX_RESPONSE_FORMS, learn_response
from rocketwire.client.publish.request_builder import build_outgoing_message
from rocketwire.client.publish.sender import FirstAttempt
from rocketwire.client.send_result import SendResult
from rocketwire.errors import (
    ChannelBrokenError,
    ChannelClosedError,
    DecodeError,
    RequestTimeoutError,
    RocketWireError,
)
from rocketwire.policy.retry import SendStatus
from rocketwire.portal.direct import WARM_SENDS, DirectPath, read_result
from rocketwire.portal.forks import plain_sockets
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import decode
from rocketwire.wire.frame import cut_frames

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.publish.request_builder import OutgoingMessage, QueueFastPath, Target
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.request_template import RequestTemplate

MAX_UNSENT: Final = 1 << 20
"""Most unsent bytes of a connection; further sends go through trio, which waits for room."""

MAX_RESPONSE: Final = 1 << 20
"""Most bytes of the response to a send."""

_READ_SIZE: Final = 65_536
_MAX_OPAQUE: Final = 2**31 - 1
_OK: Final = SendStatus.SEND_OK


class PendingSend:
    """A send that waits for the response of the broker.

    Attributes:
        future: gets the result; an error is for ``MessageSender.send_after_failure``.
        opaque: number of the request.
        deadline: when it times out, monotonic.
        connection: where the request was sent; None if nothing was sent.
    """

    __slots__ = (
        "_born",
        "_config",
        "_fast_queue",
        "_key",
        "_message",
        "connection",
        "deadline",
        "future",
        "opaque",
        "target",
    )

    def __init__(
        self,
        message: Message,
        key: str,
        born: int,
        target: Target,
        fast_queue: QueueFastPath,
        config: Any,
        deadline: float,
        opaque: int,
    ) -> None:
        """Create it without a future."""
        self._message = message
        self._key = key
        self._born = born
        self._fast_queue = fast_queue
        self._config = config
        self.target: Target = target
        self.deadline: float = deadline
        self.opaque: int = opaque
        self.connection: LoopConnection | None = None
        self.future: asyncio.Future[SendResult] | None = None

    def outgoing(self) -> OutgoingMessage:
        """Return the message for another attempt."""
        return build_outgoing_message(self._message, self._key, self._born, self._config)

    @property
    def first(self) -> FirstAttempt:
        """The attempt."""
        return FirstAttempt(self.target, self._fast_queue.queue, 0.0, self.deadline, None)

    def receive(self, frame: bytes) -> bool:
        """Set the result from the response, if it is that of this send in the usual form."""
        queue, key = self._fast_queue, self._key
        form = queue.response_form
        values = None if form is None else form.values(frame, key.encode(), self.opaque)
        if values is None:
            return False
        msg_id, offset = values
        transaction_id = key if queue.has_transaction_id else None
        future = self.future
        if future is not None and not future.done():
            future.set_result(
                SendResult(
                    _OK,
                    key,
                    msg_id.decode(),
                    queue.queue,
                    int(offset),
                    transaction_id,
                    queue.region,
                    queue.is_traced,
                )
            )
        return True

    def decode(self, response: RemotingCommand, frame: bytes) -> None:
        """Set the result from the response in any form."""
        queue, future = self._fast_queue, self.future
        if queue.form_count < MAX_RESPONSE_FORMS:
            learn_response(queue, frame, self._key)
        address = "" if self.connection is None else self.connection.address
        try:
            result = read_result(response, self.outgoing(), self.first, address)
        except RocketWireError as error:
            self.fail(error)
        else:
            if future is not None and not future.done():
                future.set_result(result)

    def forget(self) -> None:
        """Drop the request, because its caller was cancelled."""
        if self.connection is not None:
            self.connection.forget(self)

    def fail(self, error: RocketWireError) -> None:
        """Set the error."""
        if self.future is not None and not self.future.done():
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

    def expect(self, pending: PendingSend) -> asyncio.Future[SendResult]:
        """Return the future of a request's result."""
        pending.connection = self
        pending.future = future = self._loop.create_future()
        if not self.is_open:
            pending.fail(ChannelBrokenError(f"{self.address}: the connection has ended"))
            return future
        self._pending[pending.opaque] = pending
        if self._timer is None:
            delay = max(0.0, pending.deadline - time.monotonic())
            self._timer = self._loop.call_later(delay, self._expire)
        return future

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
            pending.fail(RequestTimeoutError(self.address, pending.outgoing().code, 0.0))
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


class LoopPath(DirectPath):
    """The fast path of a loop."""

    def _fall_back(
        self,
        message: Message,
        key: str,
        born: int,
        target: Target,
        fast_queue: QueueFastPath,
        within: float,
        sent_request: StartedRequest | None,
    ) -> Any:
        if sent_request is None:
            connection = cast("LoopConnection | None", fast_queue.at_once)
            if connection is not None and not connection.is_open:
                self.forget()
            return None
        pending = PendingSend(
            message,
            key,
            born,
            target,
            fast_queue,
            self._config,
            sent_request.sent_at + within,
            sent_request.opaque,
        )
        pending.connection = cast("LoopConnection", fast_queue.at_once)
        return pending


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
        self._path = LoopPath(producer, self._connection)
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
        path = self._path
        if not path.follow(message.topic):
            return None
        sent: Any = path.send(message, within)
        if sent is None:
            return None
        pending = cast("PendingSend", sent)
        if pending.connection is not None:
            pending.connection.expect(pending)
        return pending

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
