"""``Channel``: one connection under trio, shared by whoever wants to ask something over it.

Rules of this file:

* Who reads never waits for anybody: answers go to their waiters, requests of the peer to tasks of their own.  That is one task,
  or in its place the only one who waits for an answer, if nothing else can happen meanwhile (``rocketwire.transport.reader``).
* One task writes, of whole frames all that were put meanwhile (``rocketwire.transport.writer``).  A send that is cancelled before its turn
  is as if it had not been made; later its frame goes out all the same.
* Cancelling a caller leaves nothing behind: its number waits no longer, and an answer that still comes is dropped.
* However the connection ends, every waiter is woken with the same error.
* No time limits of its own: callers have them (``with trio.fail_after(3): await channel.request(command)``), or say a ``deadline``,
  which costs a tenth of that and is kept by one task for all.
* Who asks one thing after the other may have the next request made of each answer where it is read (``converse``): no task has a
  turn for that, and requests that are made of what came together leave together.

Java: ``NettyRemotingAbstract``, ``NettyRemotingClient``.
"""

from __future__ import annotations

import math
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

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
from rocketwire.transport.dial import connect_stream, reason_of
from rocketwire.transport.fastpath.request import AtOnce
from rocketwire.transport.nursery import background
from rocketwire.transport.peer_requests import MAX_SERVED, Handler, Serving
from rocketwire.transport.pending import Talk, Waiter
from rocketwire.transport.reader import Inlet
from rocketwire.transport.writer import MAX_UNSENT, Outbox
from rocketwire.wire.frame import MAX_FRAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.transport.fastpath.request import Begun
    from rocketwire.transport.pending import Follow
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.request_template import PreparedRequest

_LOST: Final = (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError)
"""What a stream raises that can no longer be used."""


class Channel(trio.abc.AsyncResource):
    """One connection; made by ``open_channel`` or, over any stream, by ``over``.

    Attributes:
        is_open: whether requests can still be sent.
        peer: who is on the other side, for messages.
        at_once: the shorter way for requests that are each the only one.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        nursery: trio.Nursery,
        *,
        peer: str = "",
        handler: Handler | None = None,
        max_frame_length: int = MAX_FRAME_LENGTH,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        max_served: int = MAX_SERVED,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> None:
        """A channel over a stream that is connected; ``over`` also starts its reader.

        Args:
            stream: what carries the bytes; the channel closes it.
            nursery: for the reader and for the peer's requests.
            peer: who is on the other side.
            handler: answers the peer's requests; None to refuse them all as unsupported.
            max_frame_length: most bytes of a frame.
            max_in_flight: most requests of ours that may wait.
            max_served: most requests of the peer that are worked on at once.
            idle_timeout: seconds without any byte after which it is closed; None for never.
        """
        self.peer = peer
        self.is_open = True
        self._now = trio.lowlevel.current_clock().current_time
        self._stream = stream
        self._nursery = nursery
        self._serving = Serving(handler, peer, max_served)
        self._outbox = Outbox(stream)
        self._inlet = Inlet(stream)
        self._alarm = trio.CancelScope()
        self._alarm_at = math.inf
        self._waiters: dict[int, Waiter] = {}
        self._answered = 0  # by what was read last, until the next request: so many may send now
        self._error: ChannelError | None = None
        self._over = trio.Event()
        self._connection = Connection(
            now=self._now(),
            max_frame_length=max_frame_length,
            max_in_flight=max_in_flight,
            idle_timeout=idle_timeout,
        )
        self.at_once = AtOnce(self._connection, self._outbox, self._inlet, self._now)
        self._opened_at = self.at_once.heard_at

    @property
    def heard_at(self) -> float:
        """When something last came from there, time of trio's clock; when it was made, before that."""
        return self.at_once.heard_at

    @property
    def in_flight(self) -> int:
        """Requests of ours that wait for an answer."""
        return self._connection.in_flight

    async def request(
        self,
        command: RemotingCommand | PreparedRequest,
        *,
        deadline: float | None = None,
        now: float | None = None,
    ) -> RemotingCommand:
        """Send a request and wait for its answer, whatever its code.

        Args:
            command: what to ask; it gets a number of its own.
            deadline: time of trio's clock after which nobody waits any longer; None to wait as long as it takes.
            now: the time of trio's clock, from whoever has just looked.

        Raises:
            ChannelClosedError: closed by this side.
            ChannelBrokenError: the connection ended before the answer came.
            RequestTimeoutError: no answer before the deadline.
            EncodeError: the command has no form on the wire.
            LocalProtocolError: too many requests wait.

        Cancellation: the request is forgotten; it may have been executed.
        """
        self._require_open()
        await trio.lowlevel.checkpoint_if_cancelled()  # whoever sends waits afterwards
        if self._outbox.unsent > MAX_UNSENT:
            await self._room_by(deadline, command.code)
            now = None
        sent_at = self._now() if now is None else now
        opaque, data = self._connection.send_request(command, now=sent_at, deadline=deadline)
        if deadline is not None and deadline < self._alarm_at:
            self._alarm_at = self._alarm.deadline = deadline
        waiters, inlet = self._waiters, self._inlet
        alone = not waiters or self._answered == 1
        self._answered = 0
        written = self._outbox.put(data, at_once=alone)
        came: bytes | None = None
        if written and inlet.is_free and not waiters:
            response, came = self._soon(opaque)
            if response is not None:
                return response
        return await self._answer_to(opaque, came)

    async def go_on(self, begun: Begun, request_code: int, deadline: float) -> RemotingCommand:
        """As ``request``, for what ``at_once`` has begun; to be awaited before anything else is."""
        opaque, sent_at, came = begun
        self._connection.expect(opaque, request_code, now=sent_at, deadline=deadline)
        if deadline < self._alarm_at:
            self._alarm_at = self._alarm.deadline = deadline
        return await self._answer_to(opaque, came)

    async def converse(
        self, command: RemotingCommand | PreparedRequest, follow: Follow, *, patience: float
    ) -> RemotingCommand:
        """Send a request, then whatever ``follow`` makes of its answer, and so on; returns the answer of which it makes nothing.

        Args:
            command: what to ask first.
            follow: takes each answer, where it is read; it neither waits nor raises.
            patience: seconds that each answer may take.

        Errors, cancellation: as of ``request``, of the last one.
        """
        self._require_open()
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._outbox.unsent > MAX_UNSENT:
            await self._room_by(trio.current_time() + patience, command.code)
        talk = Talk(follow, patience)
        self._outbox.put(self._said(talk, command), at_once=True)
        await self._wait_for(talk)
        if talk.response is None:
            raise talk.error or self._ended()
        return talk.response

    async def send_oneway(self, command: RemotingCommand) -> None:
        """Send a request that wants no answer; returns when its bytes are with the system.

        Raises:
            ChannelClosedError: closed by this side.
            ChannelBrokenError: the connection has ended.
            EncodeError: the command has no form on the wire.

        Cancellation: before its turn nothing is sent, later all of it.
        """
        self._require_open()
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._outbox.unsent > MAX_UNSENT:
            await self._room_by(None, command.code)
        await self._send(self._connection.send_oneway(command, now=trio.current_time()))

    async def wait_closed(self) -> None:
        """Wait until the connection has ended, whoever ended it; returns at once when it has."""
        await self._over.wait()

    async def aclose(self) -> None:
        """Close; waiters are woken with ``ChannelClosedError``.  Closing again does nothing."""
        self._end(ChannelClosedError(f"the channel to {self.peer} was closed"))
        await trio.aclose_forcefully(self._stream)

    async def _answer_to(self, opaque: int, came: bytes | None) -> RemotingCommand:
        """Wait for the answer to a request that is pending; ``came`` is what is still to be read."""
        waiter = self._waiters[opaque] = Waiter(opaque)
        if came is not None:
            self._received(came)
        if opaque in self._waiters:
            await self._wait_for(waiter)
        if waiter.response is None:
            raise waiter.error or self._ended()
        return waiter.response

    def _soon(self, opaque: int) -> tuple[RemotingCommand | None, bytes | None]:
        """The answer to the only request that waits, or what else comes before anything else can happen."""
        try:
            came = self._inlet.receive_soon()
        except BaseException:  # whoever sits at the keyboard had enough
            self._connection.forget(opaque)
            raise
        now = self._now()
        response = came and self._connection.receive_answer(came, opaque, now=now)
        if response:
            self.at_once.heard_at, self._answered = now, 1
        return response or None, came

    async def _wait_for(self, waiter: Waiter) -> None:
        """Wait until whoever reads has the answer to a request, or something else has settled it."""

        def abort(_: object) -> trio.lowlevel.Abort:
            self._forget(waiter.opaque)
            return trio.lowlevel.Abort.SUCCEEDED

        waiter.task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)

    def _said(self, talk: Talk, command: RemotingCommand | PreparedRequest) -> bytes:
        """The bytes of the next request of a talk, which waits for its answer from now on."""
        now = self._now()
        deadline = now + talk.patience
        opaque, data = self._connection.send_request(command, now=now, deadline=deadline)
        if deadline < self._alarm_at:
            self._alarm_at = self._alarm.deadline = deadline
        talk.opaque = opaque
        self._waiters[opaque] = talk
        return data

    def _forget(self, opaque: int) -> None:
        self._waiters.pop(opaque, None)
        self._connection.forget(opaque)

    def _require_open(self) -> None:
        if self._error is not None:
            raise self._ended()

    def _ended(self) -> ChannelError:
        """A fresh error for each who is told, caused by what ended the channel."""
        error = self._error or ChannelBrokenError("the channel ended")
        told = type(error)(*error.args)
        told.__cause__ = error.__cause__
        return told

    async def _room_by(self, deadline: float | None, code: int) -> None:
        """Wait until more may be put, for a peer that takes nothing until the deadline."""
        started = trio.current_time()
        with trio.CancelScope(deadline=math.inf if deadline is None else deadline) as scope:
            await self._outbox.room(self._is_open)
        if scope.cancelled_caught:
            raise RequestTimeoutError(self.peer, code, trio.current_time() - started)
        self._require_open()

    async def _send(self, data: bytes) -> None:
        if self._outbox.put(data, at_once=True):
            await trio.lowlevel.cancel_shielded_checkpoint()
            return
        await self._outbox.flushed(self._is_open)
        self._require_open()

    def _is_open(self) -> bool:
        return self._error is None

    def _break(self, why: str, cause: BaseException | None = None) -> None:
        error = ChannelBrokenError(f"{self.peer}: {why}")
        error.__cause__ = cause
        self._end(error)

    def _end(self, error: ChannelError) -> None:
        """The channel is over; only the first reason counts."""
        if self._error is not None:
            return
        self._error = error
        self.is_open = False
        self._connection.close()
        for waiter in self._waiters.values():
            waiter.wake()
        self._waiters.clear()
        self._outbox.over()
        self._inlet.over()
        self._over.set()
        self._nursery.cancel_scope.cancel()

    async def read(self) -> None:
        """Receive until the connection ends; a task that ``over`` starts."""
        while self._error is None:
            try:
                self._received(await self._inlet.receive(self._connection.missing))
            except _LOST as error:
                self._break(f"the connection was lost{reason_of(error)}", error)
            lone = self._answered == 1 and not self._waiters
            self._inlet.lone_reads = self._inlet.lone_reads + 1 if lone else 0

    async def write(self) -> None:
        """Send what is put until the connection ends; a task that ``over`` starts."""
        try:
            await self._outbox.run()
        except _LOST as error:
            self._break(f"could not send{reason_of(error)}", error)

    async def watch(self) -> None:
        """Keep deadlines until the connection ends; a task that ``over`` starts."""
        while self._error is None:
            deadline = self._connection.next_deadline()
            self._alarm_at = math.inf if deadline is None else deadline
            self._alarm = trio.CancelScope(deadline=self._alarm_at)
            with self._alarm:
                await trio.sleep_forever()
            self._happened(self._connection.handle_deadline(trio.current_time()))

    def _received(self, data: bytes) -> None:
        if self._error is None:
            now = self._now()
            self._happened(self._connection.receive(data, now=now))
            self.at_once.heard_at = now

    def _happened(self, events: tuple[Event, ...]) -> None:
        self._answered = len(events)
        said: list[bytes] = []
        for event in events:
            if isinstance(event, ResponseReceived):
                waiter = self._waiters.pop(event.opaque)
                if isinstance(waiter, Talk) and self._goes_on(waiter, event.response, said):
                    continue
                waiter.response = event.response
                waiter.wake()
            elif isinstance(event, RequestTimedOut):
                waiter = self._waiters.pop(event.opaque)
                waiter.error = RequestTimeoutError(self.peer, event.request_code, event.elapsed)
                waiter.wake()
            elif isinstance(event, RequestReceived):
                asked = event.request
                self._nursery.start_soon(self._serving.serve, asked, self._connection, self._send)
            else:
                self._may_end(event)
        if said:
            self._answered -= len(said)
            self._outbox.put(said[0] if len(said) == 1 else b"".join(said), at_once=True)

    def _goes_on(self, talk: Talk, response: RemotingCommand, said: list[bytes]) -> bool:
        """Whether an answer is followed by a request, which is added to what is to be sent, or by an error."""
        command = talk.follow(response)
        if command is None:
            return False
        try:
            said.append(self._said(talk, command))
        except RocketWireError as error:
            if self._connection.is_open:
                talk.error = error
                talk.wake()
            else:  # the event that says why is behind this one, and wakes all who wait
                self._waiters[talk.opaque] = talk
        return True

    def _without_a_word(self) -> str:
        """What to add where nothing ever came: servers that want TLS do so to whoever speaks plainly."""
        if self.at_once.heard_at != self._opened_at:
            return ""
        asked = "" if isinstance(self._stream, trio.SSLStream) else "; does it want TLS?"
        return f" before it said anything{asked}"

    def _may_end(self, event: Event) -> None:
        """What may end the channel."""
        if isinstance(event, PeerClosed):
            self._break(f"the peer closed the connection{self._without_a_word()}")
        elif isinstance(event, ConnectionIdle):
            self._break(f"nothing moved for {event.silence:.0f} s")
        else:
            error = getattr(event, "error", None)
            if isinstance(error, DecodeError):
                self._break(f"what came cannot be read: {error}", error)


@asynccontextmanager
async def over(
    stream: trio.abc.Stream,
    *,
    peer: str = "",
    handler: Handler | None = None,
    max_frame_length: int = MAX_FRAME_LENGTH,
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
    max_served: int = MAX_SERVED,
    idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
) -> AsyncGenerator[Channel]:
    """A channel over a connected stream, for the length of the block; arguments as of ``Channel``.

    Closing: at the end of the block the channel is closed and its handlers are cancelled.  When the connection ends earlier, the
    block goes on: whoever uses the channel is told.
    """

    async def run(task_status: trio.TaskStatus[Channel]) -> None:
        try:
            async with trio.open_nursery() as nursery:
                channel = Channel(
                    stream,
                    nursery,
                    peer=peer,
                    handler=handler,
                    max_frame_length=max_frame_length,
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


@asynccontextmanager
async def open_channel(
    host: str,
    port: int,
    *,
    tls: ssl.SSLContext | None = None,
    server_hostname: str | None = None,
    handler: Handler | None = None,
    idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
) -> AsyncGenerator[Channel]:
    """Connect, for the length of the block; closing as of ``over``.

    Args:
        host: name or address.
        port: TCP port.
        tls: context of a TLS connection; None for a plain one.
        server_hostname: the name that the certificate has to have, if not ``host``.
        handler: answers the peer's requests.
        idle_timeout: seconds without any byte after which it is closed; None for never.

    Raises:
        ConnectFailedError: nobody listens there, or the handshake failed.
    """
    stream = await connect_stream(host, port, tls=tls, server_hostname=server_hostname)
    async with over(
        stream, peer=f"{host}:{port}", handler=handler, idle_timeout=idle_timeout
    ) as channel:
        yield channel
