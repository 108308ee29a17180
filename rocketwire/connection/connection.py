"""``Connection``: pairs requests and responses of one connection, without I/O.

Both sides may send requests.  ``receive`` takes received bytes; ``send_request``, ``send_oneway``
and ``send_response`` return bytes to send.  ``now`` is the time in seconds of any monotonic clock.
``next_deadline`` returns the time at which ``handle_deadline`` has to be called.

* The response bit alone decides whether a command is a response.  The numbers (``opaque``) of
  this side's requests are independent of the peer's.
* Two pending requests never have the same number.
* Undecodable bytes break the connection permanently.  Complete commands before them are still
  reported, every pending request is abandoned, and ``receive`` raises the same error from then on.
* However the connection ends, each pending request is reported exactly once.

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

    from rocketwire.wire.request_template import RequestTemplate

# Maximum pending requests; Java's default for asynchronous requests (``NettySystemConfig``)
DEFAULT_MAX_IN_FLIGHT: Final = 65_535
DEFAULT_IDLE_TIMEOUT: Final = 120.0  # seconds of silence after which both Java ends close

_RESPONSE: Final = int(CommandFlag.RESPONSE)
_ONEWAY: Final = int(CommandFlag.ONEWAY)
_COMMAND_FLAGS: Final = _RESPONSE | _ONEWAY

_response_received: Final = build_constructor(ResponseReceived)
# Creates named tuples without their constructor, in a third of its time
_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]

_SETTLED_DEADLINES_KEPT: Final = 64
_MIN_OPAQUE: Final = -(2**31)
_MAX_OPAQUE: Final = 2**31 - 1


class ConnectionState(Enum):
    """State of a connection."""

    OPEN = auto()
    CLOSED = auto()
    BROKEN = auto()


_OPEN: Final = ConnectionState.OPEN


class SentRequest(NamedTuple):
    opaque: int  #: its number, which its events carry
    data: bytes  #: its bytes


class _Pending(NamedTuple):
    request_code: int
    sent_at: float
    deadline: float | None


class Connection:
    """The protocol's state of one connection."""

    def __init__(
        self,
        *,
        now: float,
        first_opaque: int = 0,
        max_frame_length: int = MAX_FRAME_LENGTH,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> None:
        """Create the state of a newly opened connection.

        Args:
            now: the time.
            first_opaque: number of the first request, int32.
            max_frame_length: maximum number of bytes of a whole frame, received or sent.
            max_in_flight: maximum number of pending requests.
            idle_timeout: as the attribute.

        Raises:
            LocalProtocolError: ``first_opaque`` is not an int32.
        """
        if not _MIN_OPAQUE <= first_opaque <= _MAX_OPAQUE:
            raise LocalProtocolError(f"opaque {first_opaque} is not an int32")
        self.max_in_flight = max_in_flight  #: maximum number of pending requests
        #: seconds without bytes in either direction that end the connection, or None
        self.idle_timeout = idle_timeout
        self._max_frame_length = max_frame_length
        self._decoder = CommandDecoder(max_frame_length=max_frame_length)
        self._state = ConnectionState.OPEN
        self._error: DecodeError | None = None
        self._next_opaque = first_opaque
        self._pending: dict[int, _Pending] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._last_active = now
        self._in_frame = False  # whether the received bytes end inside a frame

    @property
    def state(self) -> ConnectionState:
        return self._state

    @property
    def is_open(self) -> bool:
        return self._state is _OPEN

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    @property
    def missing(self) -> int:
        return self._decoder.missing

    # ------------------------------------------------------------------ sending

    def send_request(
        self,
        request: RemotingCommand | PreparedRequest,
        *,
        now: float,
        deadline: float | None = None,
    ) -> SentRequest:
        """Encode a request and add it to the pending ones.

        Args:
            request: the request; its number is replaced and both command flags are cleared.
            now: the time.
            deadline: the time at which the request times out, or None.

        Raises:
            LocalProtocolError: not open, or ``max_in_flight`` requests are pending.
            EncodeError: the command cannot be encoded; it is not pending then.
        """
        if self._state is not _OPEN:
            self._require_open()
        pending, opaque = self._pending, self._next_opaque
        if len(pending) >= self.max_in_flight:
            raise LocalProtocolError(f"{len(pending)} requests are pending already")
        if opaque in pending:
            opaque = self._free_opaque()
        if isinstance(request, PreparedRequest):
            data = request.frame(opaque)
            self._note_sent(data, now)
        else:
            data = self._encode(request, opaque, 0, now)
        self._next_opaque = opaque + 1 if opaque != _MAX_OPAQUE else _MIN_OPAQUE
        self.expect(opaque, request.code, now=now, deadline=deadline)
        sent: SentRequest = _new(SentRequest, (opaque, data))
        return sent

    def send_alone(
        self, form: RequestTemplate, values: tuple[object, ...], body: bytes, now: float
    ) -> tuple[int, bytes] | None:
        """Encode a request that does not become pending; the caller reads the response itself.

        If it cannot, it calls ``expect``. None if another request is pending, part of a frame has
        been received, or if the connection is not open.
        """
        if self._pending or self._in_frame or self._state is not _OPEN:
            return None
        opaque = self._next_opaque
        data = form.frame(values, body, opaque)
        if len(data) > self._max_frame_length:
            self._note_sent(data, now)  # raises
        self._last_active = now
        self._next_opaque = opaque + 1 if opaque != _MAX_OPAQUE else _MIN_OPAQUE
        return opaque, data

    def expect(
        self, opaque: int, request_code: int, *, now: float, deadline: float | None = None
    ) -> None:
        """Add a request of ``send_alone`` to the pending ones, before anything else is received."""
        self._pending[opaque] = _new(_Pending, (request_code, now, deadline))
        if deadline is not None:
            self._schedule(deadline, opaque)

    def send_oneway(self, request: RemotingCommand, *, now: float) -> bytes:
        """Encode a request that wants no response, and return its bytes.

        Raises:
            LocalProtocolError: not open.
            EncodeError: the command cannot be encoded.
        """
        self._require_open()
        opaque = self._free_opaque()
        data = self._encode(request, opaque, _ONEWAY, now)
        self._next_opaque = _following(opaque)
        return data

    def send_response(
        self, request: RemotingCommand, response: RemotingCommand, *, now: float
    ) -> bytes:
        """Encode the response to a request of the peer, and return its bytes.

        Args:
            request: the request as received; the response gets its number.
            response: the response; its ``serialize_type`` selects the form of its header.
            now: the time.

        Raises:
            LocalProtocolError: not open, or ``request`` is one-way or itself a response.
            EncodeError: the command cannot be encoded.
        """
        self._require_open()
        if request.is_response or request.is_oneway:
            raise LocalProtocolError("a response or a one-way request cannot be answered")
        return self._encode(response, request.opaque, _RESPONSE, now)

    def forget(self, opaque: int) -> bool:
        """Remove a pending request, for a cancelled caller; return whether it was pending.

        No event follows for the request, and a later response is unmatched.
        """
        return self._pending.pop(opaque, None) is not None

    # ------------------------------------------------------------------ receiving

    def receive(self, data: bytes, *, now: float) -> tuple[Event, ...]:
        """Decode received bytes into events.

        Args:
            data: the next bytes of the stream; empty if the peer has closed.
            now: the time.

        Raises:
            DecodeError: the connection is broken; the error of ``ConnectionBroken``.
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
                events.append(self._classify(command, now))
        except DecodeError as error:
            self._error = error
            events.append(ConnectionBroken(error=error))
            events += self._end(ConnectionState.BROKEN)
        self._in_frame = self._decoder.frame_started
        return tuple(events)

    def receive_answer(self, data: bytes, opaque: int, *, now: float) -> RemotingCommand | None:
        """Return the response if the bytes are exactly that of a pending request, or None."""
        if self._state is not _OPEN:
            return None
        command = self._decoder.decode_only_command(data)
        if command is None or command.opaque != opaque or not command.flag & _RESPONSE:
            return None
        if self._pending.pop(opaque, None) is None:
            return None
        self._last_active = now
        return command

    def close(self) -> tuple[RequestAbandoned, ...]:
        """Close the connection; does nothing if it is closed or broken."""
        if self._state is not ConnectionState.OPEN:
            return ()
        return self._end(ConnectionState.CLOSED)

    # ------------------------------------------------------------------ time

    def next_deadline(self) -> float | None:
        """The time at which ``handle_deadline`` has to be called next, or None."""
        if self._state is not ConnectionState.OPEN:
            return None
        self._drop_settled_deadlines()
        times = [self._deadlines[0][0]] if self._deadlines else []
        if self.idle_timeout is not None:
            times.append(self._last_active + self.idle_timeout)
        return min(times, default=None)

    def handle_deadline(self, now: float) -> tuple[Event, ...]:
        """Return an event for each timeout that has passed; callable at any time.

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
                    elapsed=now - pending.sent_at,
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

    def _encode(self, command: RemotingCommand, opaque: int, flags: int, now: float) -> bytes:
        data = encode_as(command, opaque, command.flag & ~_COMMAND_FLAGS | flags)
        self._note_sent(data, now)
        return data

    def _note_sent(self, data: bytes, now: float) -> None:
        if len(data) > self._max_frame_length:
            message = f"a frame of {len(data)} bytes is longer than {self._max_frame_length}"
            raise EncodeError(message, path="length")
        self._last_active = now

    def _classify(self, command: RemotingCommand, now: float) -> Event:
        if not command.flag & _RESPONSE:
            return RequestReceived(request=command)
        pending = self._pending.pop(command.opaque, None)
        if pending is None:
            return ResponseUnmatched(response=command)
        return _response_received(
            command.opaque, pending.request_code, command, now - pending.sent_at
        )

    def _peer_closed(self) -> tuple[Event, ...]:
        event = PeerClosed(unread=self._decoder.buffered)
        return (event, *self._end(ConnectionState.CLOSED))

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
        # Deadlines of settled requests are discarded once they are the majority.
        if len(self._deadlines) > 2 * len(self._pending) + _SETTLED_DEADLINES_KEPT:
            pending = self._pending.items()
            self._deadlines = [(p.deadline, o) for o, p in pending if p.deadline is not None]
            heapify(self._deadlines)
        else:
            heappush(self._deadlines, (deadline, opaque))

    def _drop_settled_deadlines(self) -> bool:
        while self._deadlines:
            deadline, opaque = self._deadlines[0]
            pending = self._pending.get(opaque)
            if pending is not None and pending.deadline == deadline:
                return True
            heappop(self._deadlines)
        return False


def _following(opaque: int) -> int:
    # The largest int32 is followed by the smallest, as in Java.
    return _MIN_OPAQUE if opaque == _MAX_OPAQUE else opaque + 1
