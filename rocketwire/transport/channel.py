"""``Channel``: one connection under trio, shared by all tasks that send requests over it.

* The reader task never blocks: it wakes the tasks that wait for responses, and starts a task for
  each request of the peer.  The sole waiting task may read instead of it
  (``rocketwire.transport.reader``).
* The writer task writes whole frames (``rocketwire.transport.writer``).  A send that is cancelled
  before its frame is put sends nothing; a frame that was put is always sent.
* If a caller is cancelled, its request is removed and a later response is dropped.
* However the connection ends, every waiting task gets the same error.
* Callers set timeouts: ``with trio.fail_after(3): await channel.request(command)``.  A ``deadline``
  costs a tenth of that; one task keeps all deadlines.
* ``request_chain`` makes each next request in the reader task, without waking the waiting task.
  Requests of chains that are made from one read are written together.

Java: ``NettyRemotingAbstract``, ``NettyRemotingClient``.
"""

from __future__ import annotations

import logging
import math
import ssl
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.connection import DEFAULT_IDLE_TIMEOUT, DEFAULT_MAX_IN_FLIGHT, Connection
from rocketwire.errors import (
    ChannelBrokenError,
    ChannelClosedError,
    ChannelError,
    DecodeError,
    RequestTimeoutError,
    RocketWireError,
)
from rocketwire.events import (
    ConnectionIdle,
    Event,
    PeerClosed,
    RequestReceived,
    RequestTimedOut,
    ResponseReceived,
)
from rocketwire.transport.dial import reason_of
from rocketwire.transport.fastpath import direct_requests
from rocketwire.transport.nursery import background
from rocketwire.transport.peer_requests import MAX_SERVED, Handler, PeerRequests
from rocketwire.transport.reader import StreamReader
from rocketwire.transport.writer import MAX_UNSENT, StreamWriter
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.request_template import PreparedRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.transport.fastpath.direct_requests import DirectRequests, StartedRequest

_LOG: Final = logging.getLogger("rocketwire.channel")

# Errors of a stream that can no longer be used
_LOST: Final = (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError)


NextRequest: TypeAlias = Callable[[RemotingCommand], RemotingCommand | PreparedRequest | None]
"""Takes a response and returns the next request of a chain, or None."""


class PendingRequest:
    __slots__ = ("error", "opaque", "response", "task")

    def __init__(self, opaque: int) -> None:
        self.opaque: int = opaque
        self.task: trio.lowlevel.Task | None = None  # the waiting task; None before it waits
        self.response: RemotingCommand | None = None
        self.error: RocketWireError | None = None

    def wake(self) -> None:
        if self.task is not None:
            trio.lowlevel.reschedule(self.task)


class RequestChain(PendingRequest):
    __slots__ = ("next_request", "timeout")

    def __init__(self, next_request: NextRequest, timeout: float) -> None:
        super().__init__(0)
        self.next_request: NextRequest = next_request
        self.timeout: float = timeout  # seconds for each response


class Channel(trio.abc.AsyncResource):
    def __init__(
        self,
        stream: trio.abc.Stream,
        nursery: trio.Nursery,
        *,
        peer: str = "",
        handler: Handler | None = None,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        max_served: int = MAX_SERVED,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> None:
        """Create a channel over a connected stream, which it closes, without starting its tasks.

        ``peer`` is for error messages. Without a handler, the peer's requests are not supported.
        """
        self.peer = peer
        self.is_open: bool = True  # whether requests can be sent
        self._now = trio.lowlevel.current_clock().current_time
        self._stream = stream
        self._nursery = nursery
        self._peer_requests = PeerRequests(handler, peer, max_served)
        self._writer = StreamWriter(stream)
        self.reader: StreamReader = StreamReader(stream)  # reader of the stream
        self._alarm = trio.CancelScope()
        self._alarm_at = math.inf
        self._pending: dict[int, PendingRequest] = {}
        self._answered = 0  # responses of the last read, whose tasks may send in this turn
        self._error: ChannelError | None = None
        self._ended = trio.Event()
        self._connection = Connection(
            now=self._now(), max_in_flight=max_in_flight, idle_timeout=idle_timeout
        )
        # the fast path for a single request at a time, or None
        self.direct: DirectRequests | None = direct_requests.attach(
            self._connection, self.reader, self._writer, self._now
        )
        self._opened_at = self.reader.received_at

    @property
    def received_at(self) -> float:
        """Time of trio's clock at which bytes were received last, or of the creation."""
        return self.reader.received_at

    @property
    def in_flight(self) -> int:
        return self._connection.in_flight

    async def request(
        self,
        command: RemotingCommand | PreparedRequest,
        *,
        deadline: float | None = None,
        now: float | None = None,
    ) -> RemotingCommand:
        """Send a request and return its response, whatever the code, before ``deadline``.

        Raises:
            ChannelClosedError: this side closed the channel.
            ChannelBrokenError: the connection ended before the response came.
            RequestTimeoutError: no response before the deadline.
            EncodeError, LocalProtocolError: see ``Connection.send_request``.

        Cancellation: the request is no longer pending, but the peer may execute it.
        """
        # First, because a cancelled scope may have closed its channel already.
        await trio.lowlevel.checkpoint_if_cancelled()
        self._require_open()
        if self._writer.unsent > MAX_UNSENT:
            await self._wait_for_room(deadline, command.code)
            now = None
        sent_at = self._now() if now is None else now
        opaque, data = self._connection.send_request(command, now=sent_at, deadline=deadline)
        if deadline is not None and deadline < self._alarm_at:
            self._alarm_at = self._alarm.deadline = deadline
        pending, reader = self._pending, self.reader
        is_sole = not pending or self._answered == 1
        self._answered = 0
        written = self._writer.put(data, immediately=is_sole)
        received: bytes | None = None
        if written and reader.allows_bypass and not pending:
            response, received = self._receive_directly(opaque)
            if response is not None:
                return response
        return await self._wait_for_response(opaque, received)

    async def finish_request(
        self, started: StartedRequest, request_code: int, deadline: float
    ) -> RemotingCommand:
        """Wait for the response to a direct request, before anything else is awaited."""
        opaque, sent_at, received = started
        self._connection.expect(opaque, request_code, now=sent_at, deadline=deadline)
        if deadline < self._alarm_at:
            self._alarm_at = self._alarm.deadline = deadline
        return await self._wait_for_response(opaque, received)

    async def request_chain(
        self,
        command: RemotingCommand | PreparedRequest,
        next_request: NextRequest,
        *,
        response_timeout: float,
    ) -> RemotingCommand:
        """Send a request, then each request that ``next_request`` makes from a response.

        The reader task calls it with each response; the last one, for which it returns None, is
        returned. ``DecodeError`` if it raises something else than a ``RocketWireError``. Other
        errors and cancellation: as ``request``, for the current request.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        self._require_open()
        if self._writer.unsent > MAX_UNSENT:
            await self._wait_for_room(trio.current_time() + response_timeout, command.code)
        chain = RequestChain(next_request, response_timeout)
        self._writer.put(self._encode_link(chain, command), immediately=True)
        await self._wait_for(chain)
        if chain.response is None:
            raise chain.error or self._copy_error()
        return chain.response

    async def send_oneway(self, command: RemotingCommand) -> None:
        """Send a request that wants no response; return after the system has taken its bytes.

        Cancellation: nothing is sent before the request is put; afterwards all of it is.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        self._require_open()
        if self._writer.unsent > MAX_UNSENT:
            await self._wait_for_room(None, command.code)
        await self._send(self._connection.send_oneway(command, now=trio.current_time()))

    async def wait_closed(self) -> None:
        await self._ended.wait()

    async def aclose(self) -> None:
        """Close; waiting tasks get ``ChannelClosedError``.  Closing again does nothing."""
        self._end(ChannelClosedError(f"the channel to {self.peer} was closed"))
        await trio.aclose_forcefully(self._stream)

    async def _wait_for_response(self, opaque: int, received: bytes | None) -> RemotingCommand:
        pending = self._pending[opaque] = PendingRequest(opaque)
        if received is not None:
            self._receive(received)
        if opaque in self._pending:
            await self._wait_for(pending)
        if pending.response is None:
            raise pending.error or self._copy_error()
        return pending.response

    def _receive_directly(self, opaque: int) -> tuple[RemotingCommand | None, bytes | None]:
        # returns the response to the sole pending request, or other bytes that came first
        try:
            data = self.reader.receive_directly()
        except BaseException:  # KeyboardInterrupt
            self._connection.forget(opaque)
            raise
        now = self._now()
        response = data and self._connection.receive_answer(data, opaque, now=now)
        if response:
            self.reader.received_at, self._answered = now, 1
        return response or None, data

    async def _wait_for(self, pending: PendingRequest) -> None:
        def abort(_: object) -> trio.lowlevel.Abort:
            self._pending.pop(pending.opaque, None)
            self._connection.forget(pending.opaque)
            return trio.lowlevel.Abort.SUCCEEDED

        pending.task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)

    def _encode_link(
        self, chain: RequestChain, command: RemotingCommand | PreparedRequest
    ) -> bytes:
        now = self._now()
        deadline = now + chain.timeout
        opaque, data = self._connection.send_request(command, now=now, deadline=deadline)
        if deadline < self._alarm_at:
            self._alarm_at = self._alarm.deadline = deadline
        chain.opaque = opaque
        self._pending[opaque] = chain
        return data

    def _require_open(self) -> None:
        if self._error is not None:
            raise self._copy_error()

    def _copy_error(self) -> ChannelError:
        # returns a copy of the channel's error, for one caller
        error = self._error or ChannelBrokenError("the channel ended")
        copy = type(error)(*error.args)
        copy.__cause__ = error.__cause__
        return copy

    async def _wait_for_room(self, deadline: float | None, code: int) -> None:
        started = trio.current_time()
        with trio.CancelScope(deadline=math.inf if deadline is None else deadline) as scope:
            await self._writer.wait_for_room(self._has_no_error)
        if scope.cancelled_caught:
            raise RequestTimeoutError(self.peer, code, trio.current_time() - started)
        self._require_open()

    async def _send(self, data: bytes) -> None:
        if self._writer.put(data, immediately=True):
            await trio.lowlevel.cancel_shielded_checkpoint()
            return
        await self._writer.flush(self._has_no_error)
        self._require_open()

    def _has_no_error(self) -> bool:
        return self._error is None

    def _break(self, reason: str, cause: BaseException | None = None) -> None:
        error = ChannelBrokenError(f"{self.peer}: {reason}")
        error.__cause__ = cause
        self._end(error)

    def _end(self, error: ChannelError) -> None:
        if self._error is not None:
            return
        self._error = error
        self.is_open = False
        self._connection.close()
        for pending in self._pending.values():
            pending.wake()
        self._pending.clear()
        self._writer.close()
        self.reader.close()
        self._ended.set()
        self._nursery.cancel_scope.cancel()

    async def read(self) -> None:
        reader = self.reader
        while self._error is None:
            try:
                self._receive(await reader.receive(self._connection.missing))
            except _LOST as error:
                self._break(f"the connection was lost{reason_of(error)}", error)
            is_single = self._answered == 1 and not self._pending
            reader.single_responses = reader.single_responses + 1 if is_single else 0

    async def write(self) -> None:
        try:
            await self._writer.run()
        except _LOST as error:
            self._break(f"could not send{reason_of(error)}", error)

    async def watch(self) -> None:
        while self._error is None:
            deadline = self._connection.next_deadline()
            self._alarm_at = math.inf if deadline is None else deadline
            self._alarm = trio.CancelScope(deadline=self._alarm_at)
            with self._alarm:
                await trio.sleep_forever()
            self._handle(self._connection.handle_deadline(trio.current_time()))

    def _receive(self, data: bytes) -> None:
        if self._error is None:
            now = self._now()
            self._handle(self._connection.receive(data, now=now))
            self.reader.received_at = now

    def _handle(self, events: tuple[Event, ...]) -> None:
        self._answered = len(events)
        requests: list[bytes] = []
        for event in events:
            if isinstance(event, ResponseReceived):
                pending = self._pending.pop(event.opaque)
                if isinstance(pending, RequestChain) and self._continue(
                    pending, event.response, requests
                ):
                    continue
                pending.response = event.response
                pending.wake()
            elif isinstance(event, RequestTimedOut):
                pending = self._pending.pop(event.opaque)
                pending.error = RequestTimeoutError(self.peer, event.request_code, event.elapsed)
                pending.wake()
            elif isinstance(event, RequestReceived):
                serve = self._peer_requests.serve
                self._nursery.start_soon(serve, event.request, self._connection, self._send)
            else:
                self._handle_end(event)
        if requests:
            self._answered -= len(requests)
            data = requests[0] if len(requests) == 1 else b"".join(requests)
            self._writer.put(data, immediately=True)

    def _continue(
        self, chain: RequestChain, response: RemotingCommand, requests: list[bytes]
    ) -> bool:
        # add the next request of a chain to requests; return False for its last response
        try:
            command = chain.next_request(response)
            if command is None:
                return False
            requests.append(self._encode_link(chain, command))
        except Exception as failure:  # noqa: BLE001 - it must not end the tasks of all callers
            error = failure if isinstance(failure, RocketWireError) else self._wrap(failure)
            if self._connection.is_open:
                chain.error = error
                chain.wake()
            else:  # a later event of the same read ends the channel and wakes the task
                self._pending[chain.opaque] = chain
        return True

    def _wrap(self, failure: Exception) -> DecodeError:
        _LOG.error("%s: a response cannot be handled", self.peer, exc_info=failure)
        error = DecodeError(f"{self.peer}: the response cannot be handled: {failure!r}")
        error.__cause__ = failure
        return error

    def _silence_hint(self) -> str:
        # returns a hint if nothing was ever received, as from a server that requires TLS
        if self.reader.received_at != self._opened_at:
            return ""
        hint = "" if isinstance(self._stream, trio.SSLStream) else "; does it want TLS?"
        return f" before it sent anything{hint}"

    def _handle_end(self, event: Event) -> None:
        if isinstance(event, PeerClosed):
            self._break(f"the peer closed the connection{self._silence_hint()}")
        elif isinstance(event, ConnectionIdle):
            self._break(f"no bytes were sent or received for {event.silence:.0f} s")
        else:
            error = getattr(event, "error", None)
            if isinstance(error, DecodeError):
                self._break(f"the received bytes cannot be decoded: {error}", error)


@asynccontextmanager
async def open_channel_over(
    stream: trio.abc.Stream,
    *,
    peer: str = "",
    handler: Handler | None = None,
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
    max_served: int = MAX_SERVED,
    idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
) -> AsyncGenerator[Channel]:
    """Open a channel over a connected stream; the block's end closes it and cancels its handlers.

    If the connection ends earlier, the block continues, and methods of the channel raise.
    """

    async def run(task_status: trio.TaskStatus[Channel]) -> None:
        try:
            async with trio.open_nursery() as nursery:
                channel = Channel(
                    stream,
                    nursery,
                    peer=peer,
                    handler=handler,
                    max_in_flight=max_in_flight,
                    max_served=max_served,
                    idle_timeout=idle_timeout,
                )
                for task in (channel.read, channel.write, channel.watch):
                    nursery.start_soon(task)
                task_status.started(channel)
        finally:
            await trio.aclose_forcefully(stream)

    async with background() as outer:
        channel = await outer.start(run)
        try:
            yield channel
        finally:
            await channel.aclose()
