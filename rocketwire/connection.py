"""``Connection``: who asked what and which answer belongs to it, for one connection, without I/O.

Both ends may ask.  Bytes come in through ``receive``, bytes to send come out of ``send_request``,
``send_oneway`` and ``send_response``; the caller moves them.  Time comes in as ``now``, seconds of
any monotonic clock; ``next_deadline`` says when ``handle_deadline`` wants to be called.

Rules of this file:

* The response bit decides what a command is, before anything else is looked at.  The numbers
  (``opaque``) that this side gives and those that the peer gives have nothing to do with each
  other.
* A number is given to no second request while the first one waits.
* Bytes that cannot be read break the connection for good: what came whole before them is still
  reported, every waiting request is abandoned, and ``receive`` raises the same error ever after.
* However the connection ends, each waiting request is reported exactly once.

Java: ``NettyRemotingAbstract`` (``responseTable``, ``scanResponseTable``), ``RemotingCommand``
(``requestId``), ``IdleStateHandler`` as ``NettyRemotingClient`` and ``NettyRemotingServer`` set it.
"""

from __future__ import annotations

from enum import Enum, auto
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import DecodeError, EncodeError, LocalProtocolError
from rocketwire.events import (
    ConnectionBroken,
    ConnectionIdle,
    Event,
    PeerClosed,
    RequestAbandoned,
    RequestReceived,
    RequestTimedOut,
    ResponseReceived,
    ResponseUnmatched,
)
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode_as
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.request_template import PreparedRequest
from rocketwire.wire.values.drafts import build_constructor

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.request_template import RequestForm

DEFAULT_MAX_IN_FLIGHT: Final = 65_535
"""Requests that may wait at once; Java's default for asynchronous ones (``NettySystemConfig``)."""

DEFAULT_IDLE_TIMEOUT: Final = 120.0
"""Seconds of silence after which both Java ends close."""

_RESPONSE: Final = int(CommandFlag.RESPONSE)
_ONEWAY: Final = int(CommandFlag.ONEWAY)
_KINDS: Final = _RESPONSE | _ONEWAY

_response_received: Final = build_constructor(ResponseReceived)
_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]
"""What the constructor of a named tuple calls, at a third of its price."""

_SETTLED_DEADLINES_KEPT: Final = 64
_MIN_OPAQUE: Final = -(2**31)
_MAX_OPAQUE: Final = 2**31 - 1


class ConnectionState(Enum):
    """Whether anything can still be sent and received."""

    OPEN = auto()
    CLOSED = auto()
    BROKEN = auto()


_OPEN: Final = ConnectionState.OPEN


class SentRequest(NamedTuple):
    """A request on its way.

    Attributes:
        opaque: the number that it was given; its events carry it.
        data: what to send.
    """

    opaque: int
    data: bytes


class _Pending(NamedTuple):
    request_code: int
    made_at: float
    deadline: float | None


class Connection:
    """The protocol's state of one connection.

    Attributes:
        max_in_flight: most requests that may wait for an answer at once.
        idle_timeout: seconds of silence in both directions that end the connection; None for never.
    """

    def __init__(
        self,
        *,
        now: float,
        first_opaque: int = 0,
        max_frame_length: int = MAX_FRAME_LENGTH,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> None:
        """A connection that has just been opened.

        Args:
            now: the time now.
            first_opaque: number of the first request, int32.
            max_frame_length: most bytes of one whole frame, received or sent.
            max_in_flight: most requests that may wait for an answer at once.
            idle_timeout: seconds of silence in both directions that end the connection, or None.

        Raises:
            LocalProtocolError: ``first_opaque`` is not an int32.
        """
        if not _MIN_OPAQUE <= first_opaque <= _MAX_OPAQUE:
            raise LocalProtocolError(f"opaque {first_opaque} is not an int32")
        self.max_in_flight = max_in_flight
        self.idle_timeout = idle_timeout
        self._max_frame_length = max_frame_length
        self._decoder = CommandDecoder(max_frame_length=max_frame_length)
        self._state = ConnectionState.OPEN
        self._error: DecodeError | None = None
        self._next_opaque = first_opaque
        self._pending: dict[int, _Pending] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._last_active = now
        self._in_frame = False  # whether what came ended inside a frame

    @property
    def state(self) -> ConnectionState:
        """Whether it is open, closed by either side, or broken by unreadable bytes."""
        return self._state

    @property
    def is_open(self) -> bool:
        """Whether anything can still be sent and received."""
        return self._state is _OPEN

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer."""
        return len(self._pending)

    @property
    def missing(self) -> int:
        """Bytes that have to come, at least, before there is another command."""
        return self._decoder.missing

    # ------------------------------------------------------------------ sending

    def send_request(
        self,
        request: RemotingCommand | PreparedRequest,
        *,
        now: float,
        deadline: float | None = None,
    ) -> SentRequest:
        """Makes a request, which from now on waits for its answer.

        Args:
            request: what to ask; it gets a number of its own, and both command flags are cleared.
            now: the time now.
            deadline: the time at which nobody waits any longer; None to wait as long as it takes.

        Raises:
            LocalProtocolError: not open, or ``max_in_flight`` requests wait already.
            EncodeError: the command has no form on the wire; nothing waits.
        """
        if self._state is not _OPEN:
            self._require_open()
        pending, opaque = self._pending, self._next_opaque
        if len(pending) >= self.max_in_flight:
            raise LocalProtocolError(f"{len(pending)} requests wait already")
        if opaque in pending:
            opaque = self._free_opaque()
        if isinstance(request, PreparedRequest):
            data = request.frame(opaque)
            self._sends(data, now)
        else:
            data = self._encode(request, opaque, 0, now)
        self._next_opaque = opaque + 1 if opaque != _MAX_OPAQUE else _MIN_OPAQUE
        self.expect(opaque, request.code, now=now, deadline=deadline)
        sent: SentRequest = _new(SentRequest, (opaque, data))
        return sent

    def send_alone(
        self, form: RequestForm, values: tuple[object, ...], body: bytes, now: float
    ) -> tuple[int, bytes] | None:
        """Makes a request whose answer is read where it was made, if that is the next that comes; else ``expect`` has to follow.

        Args:
            form: of the request.
            values: what it is filled with.
            body: of the request.
            now: the time now.

        Raises:
            EncodeError: it is too long.

        Returns:
            Its number and what to send; None where another request waits, something has come that is not whole, or the connection
            is not open.
        """
        if self._pending or self._in_frame or self._state is not _OPEN:
            return None
        opaque = self._next_opaque
        data = form.frame(values, body, opaque)
        if len(data) > self._max_frame_length:
            self._sends(data, now)  # raises
        self._last_active = now
        self._next_opaque = opaque + 1 if opaque != _MAX_OPAQUE else _MIN_OPAQUE
        return opaque, data

    def expect(
        self, opaque: int, request_code: int, *, now: float, deadline: float | None = None
    ) -> None:
        """Waits for the answer to a request that was made, before anything else is received.

        Args:
            opaque: its number.
            request_code: its code.
            now: when it was made.
            deadline: as of ``send_request``.
        """
        self._pending[opaque] = _new(_Pending, (request_code, now, deadline))
        if deadline is not None:
            self._schedule(deadline, opaque)

    def send_oneway(self, request: RemotingCommand, *, now: float) -> bytes:
        """Makes a request that wants no answer; returns what to send.

        Raises:
            LocalProtocolError: not open.
            EncodeError: the command has no form on the wire.
        """
        self._require_open()
        opaque = self._free_opaque()
        data = self._encode(request, opaque, _ONEWAY, now)
        self._next_opaque = _following(opaque)
        return data

    def send_response(
        self, request: RemotingCommand, response: RemotingCommand, *, now: float
    ) -> bytes:
        """Answers a request of the peer; returns what to send.

        Args:
            request: as it was received; its number becomes that of the response.
            response: the answer, in whichever header form it says.
            now: the time now.

        Raises:
            LocalProtocolError: not open, the request wants no answer, or it is a response itself.
            EncodeError: the command has no form on the wire.
        """
        self._require_open()
        if request.is_response or request.is_oneway:
            raise LocalProtocolError("only a request that wants an answer can be answered")
        return self._encode(response, request.opaque, _RESPONSE, now)

    def forget(self, opaque: int) -> bool:
        """Stops waiting for an answer, as a cancelled caller does; returns whether it was waited
        for.

        No event comes for the request any more, and an answer that still comes is unmatched.
        """
        return self._pending.pop(opaque, None) is not None

    # ------------------------------------------------------------------ receiving

    def receive(self, data: bytes, *, now: float) -> tuple[Event, ...]:
        """Takes bytes that have arrived and says what they mean.

        Args:
            data: any piece of the stream; empty when the peer has closed.
            now: the time now.

        Raises:
            DecodeError: the connection is broken; the same error that ``ConnectionBroken`` told.
            LocalProtocolError: the connection is closed.
        """
        if self._error is not None:
            raise self._error
        if self._state is not _OPEN:
            self._require_open()
        if not data:
            return self._peer_closed()
        self._last_active = now
        self._decoder.feed(data)
        events: list[Event] = []
        try:
            while (command := self._decoder.next_command()) is not None:
                events.append(self._event_of(command, now))
        except DecodeError as error:
            self._error = error
            events.append(ConnectionBroken(error=error))
            events += self._end(ConnectionState.BROKEN)
        self._in_frame = self._decoder.frame_started
        return tuple(events)

    def receive_answer(self, data: bytes, opaque: int, *, now: float) -> RemotingCommand | None:
        """Takes bytes that have arrived if they are the answer to this request, whole and nothing else.

        Returns:
            The answer, of which there is no event; None where they are anything else, and ``receive`` has to take them.
        """
        if self._state is not _OPEN:
            return None
        command = self._decoder.only_command(data)
        if command is None or command.opaque != opaque or not command.flag & _RESPONSE:
            return None
        if self._pending.pop(opaque, None) is None:
            return None
        self._last_active = now
        return command

    def close(self) -> tuple[RequestAbandoned, ...]:
        """Ends the connection from this side; closing twice, or after the peer, does nothing."""
        if self._state is not ConnectionState.OPEN:
            return ()
        return self._end(ConnectionState.CLOSED)

    # ------------------------------------------------------------------ time

    def next_deadline(self) -> float | None:
        """When ``handle_deadline`` has something to do unless bytes move before; None for never."""
        if self._state is not ConnectionState.OPEN:
            return None
        self._drop_settled_deadlines()
        times = [self._deadlines[0][0]] if self._deadlines else []
        if self.idle_timeout is not None:
            times.append(self._last_active + self.idle_timeout)
        return min(times, default=None)

    def handle_deadline(self, now: float) -> tuple[Event, ...]:
        """Reports what has timed out by now; may be called at any time.

        After ``ConnectionIdle`` the connection is closed.
        """
        if self._state is not ConnectionState.OPEN:
            return ()
        events: list[Event] = []
        while self._drop_settled_deadlines() and self._deadlines[0][0] <= now:
            opaque = heappop(self._deadlines)[1]
            pending = self._pending.pop(opaque)
            events.append(
                RequestTimedOut(
                    opaque=opaque,
                    request_code=pending.request_code,
                    elapsed=now - pending.made_at,
                )
            )
        if self.idle_timeout is not None and now >= self._last_active + self.idle_timeout:
            events.append(ConnectionIdle(silence=now - self._last_active))
            events += self._end(ConnectionState.CLOSED)
        return tuple(events)

    # ------------------------------------------------------------------ inside

    def _require_open(self) -> None:
        if self._state is not ConnectionState.OPEN:
            raise LocalProtocolError(f"the connection is {self._state.name.lower()}")

    def _free_opaque(self) -> int:
        opaque = self._next_opaque
        while opaque in self._pending:
            opaque = _following(opaque)
        return opaque

    def _encode(self, command: RemotingCommand, opaque: int, kind: int, now: float) -> bytes:
        """The command's frame, with this number and, of the two known flag bits, this one."""
        flag = command.flag & ~_KINDS | kind
        data = encode_as(command, opaque, flag)
        self._sends(data, now)
        return data

    def _sends(self, data: bytes, now: float) -> None:
        if len(data) > self._max_frame_length:
            message = f"a frame of {len(data)} bytes is longer than {self._max_frame_length}"
            raise EncodeError(message, path="length")
        self._last_active = now

    def _event_of(self, command: RemotingCommand, now: float) -> Event:
        if not command.flag & _RESPONSE:
            return RequestReceived(request=command)
        pending = self._pending.pop(command.opaque, None)
        if pending is None:
            return ResponseUnmatched(response=command)
        return _response_received(
            command.opaque, pending.request_code, command, now - pending.made_at
        )

    def _peer_closed(self) -> tuple[Event, ...]:
        closed = PeerClosed(unread=self._decoder.buffered)
        return (closed, *self._end(ConnectionState.CLOSED))

    def _end(self, state: ConnectionState) -> tuple[RequestAbandoned, ...]:
        self._state = state
        abandoned = tuple(
            RequestAbandoned(opaque=opaque, request_code=pending.request_code)
            for opaque, pending in self._pending.items()
        )
        self._pending.clear()
        self._deadlines.clear()
        return abandoned

    def _schedule(self, deadline: float, opaque: int) -> None:
        """Remembers a deadline; those of settled requests never outnumber the others by much."""
        if len(self._deadlines) > 2 * len(self._pending) + _SETTLED_DEADLINES_KEPT:
            waiting = self._pending.items()
            self._deadlines = [(p.deadline, o) for o, p in waiting if p.deadline is not None]
            heapify(self._deadlines)
        else:
            heappush(self._deadlines, (deadline, opaque))

    def _drop_settled_deadlines(self) -> bool:
        """Removes deadlines whose request waits no longer; returns whether any is left."""
        while self._deadlines:
            deadline, opaque = self._deadlines[0]
            pending = self._pending.get(opaque)
            if pending is not None and pending.deadline == deadline:
                return True
            heappop(self._deadlines)
        return False


def _following(opaque: int) -> int:
    """The number after this one; after the largest int32 comes the smallest, as in Java."""
    return _MIN_OPAQUE if opaque == _MAX_OPAQUE else opaque + 1
