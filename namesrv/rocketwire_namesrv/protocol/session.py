"""``Session``: the protocol of one connection; bytes in, bytes and effects out.

Rules of this file: no I/O, no clock.  Requests are handled and answered in the order of their
arrival. Frames after an invalid one are not executed (Java executes them). Every exception of a
handler becomes a response.

Work pauses where a driver may serve other connections: after a limit of response bytes or requests,
after a request that looks at the whole table, and inside a large registration. ``busy`` is then
true: the driver calls ``proceed`` before it passes further bytes.

Java: ``NettyRemotingAbstract``, ``NettyDecoder``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Final

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.connection.guards import Guard, exceeds
from rocketwire.errors import DecodeError
from rocketwire.flags import CommandFlag
from rocketwire.serving.events import Event, FrameRefused, LimitExceeded, format_value
from rocketwire.versions import MQVersion
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire_namesrv.config.access_control import AccessRefused, Role
from rocketwire_namesrv.config.limits import Limit, LimitReachedError
from rocketwire_namesrv.events import RequestFailed, ResponseDropped
from rocketwire_namesrv.protocol.cluster_test import get_route_in_cluster_test
from rocketwire_namesrv.protocol.counters import ONEWAY, UNKNOWN, RequestKind
from rocketwire_namesrv.protocol.effects import NOTHING as NOTHING
from rocketwire_namesrv.protocol.effects import Effects as Effects
from rocketwire_namesrv.protocol.effects import EffectsBuilder
from rocketwire_namesrv.protocol.handlers import HANDLERS, SCANS, STEPWISE, Peer, Response
from rocketwire_namesrv.registration.reader import MANY_BYTES
from rocketwire_namesrv.routes.steps import run_steps

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.state import State

_UNLIMITED: Final = 1 << 62

NOT_SAVED: Final = Response(
    ResponseCode.SYSTEM_ERROR, "in effect, but not saved: the file cannot be written"
)
"""The response to a change that could not be written to disk."""

# plain numbers: these are used for every request, and an enum's operators are slow
_RESPONSE: Final = int(CommandFlag.RESPONSE)
_ONEWAY: Final = int(CommandFlag.ONEWAY)
_GO_AWAY_ABOVE: Final = int(MQVersion.V5_3_1)
_KNOWN: Final = frozenset({*HANDLERS, *STEPWISE})


class Session:
    """One connection."""

    __slots__ = (
        "_began",
        "_begun",
        "_decoder",
        "_denied",
        "_held",
        "_in_flight",
        "_limit",
        "_most_unsent",
        "_paused",
        "_peer",
        "_request",
        "_short",
        "_state",
        "_steps",
        "_waited",
    )

    def __init__(self, state: State, peer: Peer) -> None:
        self._state = state
        self._peer = peer
        config = state.config
        self._limit = config.frame_max_length
        self._denied = state.access.missing_roles(peer.address)
        # peers that may not read must not use the fast path: no frame is short enough
        may_read = self._denied is None or Role.READ not in self._denied.roles
        self._short = self._limit if may_read else 0
        self._most_unsent = _limit_or_infinity(config.max_unsent_bytes)
        self._in_flight = _limit_or_infinity(config.max_requests_in_flight)
        self._held = 0  # bytes, as ``State.holdings`` has them
        self._decoder: CommandDecoder | None = None
        self._paused = False
        self._waited = False  # whether the log has a line about one of its limits
        self._request: RemotingCommand | None = None  # the one that takes several steps
        self._steps: Generator[None, None, Response] | None = None
        self._begun = False
        self._began = 0.0  # start of the current request

    @property
    def frame_started(self) -> bool:
        """Whether an incomplete frame has been received."""
        return self._decoder is not None and self._decoder.frame_started

    @property
    def busy(self) -> bool:
        """Whether the driver has to call ``proceed`` after it has sent the responses so far."""
        return self._paused or self._steps is not None

    @property
    def stepping(self) -> bool:
        """Whether ``proceed`` continues a request that takes several steps. Only one session at a
        time does so: the others wait."""
        return self._steps is not None

    def answer_routes(self, data: bytes, now: float) -> bytes | None:
        """Return the responses to bytes that are ordinary route requests only; None for any other
        bytes, which are then not handled.
        """
        if self._decoder is not None or not self._state.can_use_fast_path(now):
            return None
        parts, end, commands = self._state.route_fast_path.answer(
            data, max_frame_length=self._short, max_size=self._most_unsent
        )
        if end != len(data):
            return None
        answers = b"".join(parts)
        counters = self._state.counters
        counters.routes += commands
        counters.route_bytes += len(answers)
        return answers

    def answer_one_route(self, data: bytes, now: float) -> tuple[int, tuple[bytes, ...]] | None:
        """Return the response (its size, and its parts) to bytes that are one route request like
        an earlier one; None for any other bytes, which are then not handled.
        """
        state = self._state
        if self._decoder is not None or not state.can_use_fast_path(now):
            return None
        answered = state.route_fast_path.answer_one(data, max_frame_length=self._short)
        if answered is not None:
            counters = state.counters
            counters.routes += 1
            counters.route_bytes += answered[0]
        return answered

    def receive(self, data: bytes, now: float) -> Effects:
        """Handle every complete command."""
        work = EffectsBuilder()
        if self._decoder is None:
            if self._state.can_use_fast_path(now):
                answered = self._state.route_fast_path.answer(
                    data, max_frame_length=self._short, max_size=self._most_unsent
                )
                work.send, end, work.commands = answered
                answers = b"".join(work.send)
                counters = self._state.counters
                counters.routes += work.commands
                counters.route_bytes += len(answers)
                if end == len(data):
                    return Effects(send=answers, commands=work.commands)
                work.send, work.size = [answers], len(answers)
                if work.size >= self._most_unsent:
                    work.pause, work.met = True, Guard.UNSENT_BYTES
                data = data[end:]
            self._decoder = CommandDecoder(
                max_frame_length=self._limit,
                max_header_length=_limit_or_infinity(self._state.config.header_max_length),
                space=self._state.body_space,
            )
        self._decoder.feed(data)
        return self._handle_all(work, now)

    @property
    def filling(self) -> bool:
        """Whether the next bytes belong to a large body, which has its own buffer."""
        return self._decoder is not None and self._decoder.filling

    def room(self) -> memoryview:
        """Return the buffer for the next bytes while it is ``filling``; the driver releases it and
        calls ``received`` before any other method."""
        return memoryview(bytearray()) if self._decoder is None else self._decoder.room()

    def receive_filled(self, count: int, now: float) -> Effects:
        """Continue like ``receive``, with bytes in the buffer of ``room``."""
        if self._decoder is not None:
            self._decoder.filled(count)
        return self._handle_all(EffectsBuilder(), now)

    def proceed(self, now: float) -> Effects:
        """Continue where ``receive`` or ``proceed`` paused; by one step inside a request."""
        work = EffectsBuilder()
        if self._steps is not None and self._request is not None:
            if not self._begun and self._state.stepping:
                return NOTHING
            self._begun = True
            try:
                next(self._steps)
            except StopIteration as end:
                request, response = self._request, end.value
                self._steps = self._request = None
                self._begun = False
                self._add_response(work, request, response)
            else:
                return NOTHING
        return self._handle_all(work, now)

    def connection_lost(self, now: float, reason: str) -> tuple[Event, ...]:
        """Unregister the brokers of this connection after it has ended."""
        self.abandon()
        self._state.parts.connection_lost(self._peer.connection_id)
        return tuple(
            self._state.table.connection_lost(
                self._peer.connection_id,
                reason,
                notify=self._state.config.notify_min_broker_id_changed,
            )
        )

    def abandon(self) -> None:
        if self._steps is not None:
            self._steps.close()
        self._steps = self._request = None
        self._paused = False
        self._state.holdings.note(self._peer.connection_id, 0)

    def _handle_all(self, work: EffectsBuilder, now: float) -> Effects:
        close: DecodeError | None = None
        self._paused = False
        while self._decoder is not None and self._steps is None:
            if work.pause and self._decoder.frame_started:
                self._paused = True
                self._note_pause(work)
                break
            try:
                command = self._decoder.next_command()
            except DecodeError as error:
                close = _without_frames(error)
                work.events += FrameRefused.of(error)
                break
            if command is None:
                if not self._decoder.frame_started:
                    self._decoder = None
                break
            if command.flag & _RESPONSE:
                work.commands += 1
                work.events.append(
                    ResponseDropped(client=self._peer.address, opaque=command.opaque)
                )
                continue
            self._handle(work, command, now)
        self._note_held(work)
        events = work.events
        return Effects(
            send=b"".join(work.send),
            events=tuple(events),
            notify=self._state.notifications(events) if events else (),
            persist_kv=work.persist_kv,
            persist_config=work.persist_config,
            send_unsaved=work.frames_if_unsaved(),
            close=close,
            close_connections=work.close_connections,
            commands=work.commands,
        )

    def _note_held(self, work: EffectsBuilder) -> None:
        size = 0 if self._decoder is None else self._decoder.buffered
        if self._request is not None:
            size += len(self._request.body or b"")
        if size == self._held:
            return
        self._held = size
        holdings = self._state.holdings
        holdings.note(self._peer.connection_id, size)
        limit = self._state.config.max_buffered_bytes
        for number, buffered in holdings.remove_largest(limit):
            work.close_connections += (number,)
            what = f"incomplete requests; connection {number} with {buffered} bytes is closed"
            work.events.append(LimitExceeded(limit=Guard.BUFFERED_BYTES, allowed=limit, what=what))

    def _handle(self, work: EffectsBuilder, request: RemotingCommand, now: float) -> None:
        denied = self._denied is not None and self._denied.role_of(request.code) is not None
        is_immediate = denied or self._state.cluster_test or self._sent_away(request)
        stepwise = None if is_immediate else STEPWISE.get(request.code)
        self._began = self._state.counters.begin()
        if stepwise is None:
            self._add_response(work, request, self._answer(request, now))
            return
        steps = self._run_guarded(stepwise, request, now)
        if self._state.stepping or len(request.body or b"") >= MANY_BYTES:
            self._request, self._steps, self._begun = request, steps, False
        else:
            self._add_response(work, request, run_steps(steps))

    def _add_response(
        self, work: EffectsBuilder, request: RemotingCommand, response: Response
    ) -> None:
        work.commands += 1
        work.events += response.events
        work.persist_kv |= response.persist_kv
        work.persist_config |= response.persist_config
        size, code = 0, ONEWAY
        if not request.flag & _ONEWAY:
            frame = self._encode(response, request.opaque)
            if response.persist_kv or response.persist_config:
                work.unsaved[len(work.send)] = self._encode(NOT_SAVED, request.opaque)
            work.send.append(frame)
            size, code = len(frame), int(response.code)
            work.size += size
        request_kind = RequestKind(int(request.code) if request.code in _KNOWN else UNKNOWN, code)
        self._state.counters.count_answer(request_kind, len(request.body or b""), size, self._began)
        if request.code in SCANS:
            work.pause = True
        self._note_size(work)

    def _note_size(self, work: EffectsBuilder) -> None:
        if work.size >= self._most_unsent:
            work.pause, work.met = True, Guard.UNSENT_BYTES
        elif work.commands >= self._in_flight:
            work.pause, work.met = True, Limit.REQUESTS_IN_FLIGHT

    def _note_pause(self, work: EffectsBuilder) -> None:
        # only the first event of a connection is logged
        config = self._state.config
        unsent = work.met is Guard.UNSENT_BYTES
        work.note_pause(
            config.max_unsent_bytes if unsent else config.max_requests_in_flight,
            is_logged=self._waited,
        )
        self._waited |= work.met is not None

    def _sent_away(self, request: RemotingCommand) -> bool:
        return self._state.sends_away and request.version > _GO_AWAY_ABOVE

    def _answer(self, request: RemotingCommand, now: float) -> Response:
        if self._sent_away(request):
            return Response(ResponseCode.GO_AWAY, "please go away")
        if self._denied is not None and (role := self._denied.role_of(request.code)) is not None:
            return self._refuse(request, role)
        handler = HANDLERS.get(request.code)
        if self._state.cluster_test:
            handler = get_route_in_cluster_test
        if handler is None:
            remark = f" request type {int(request.code)} not supported"
            return Response(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
        try:
            limit = self._state.config.body_max_length
            if exceeds(len(request.body or b""), limit):
                code = format_value(RequestCode(request.code))
                what = f"a body of {len(request.body or b'')} bytes for {code}"
                raise LimitReachedError(Limit.BODY_LENGTH, limit, what)
            return handler(self._state, request, self._peer, now)
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            return self._describe_failure(request, error)

    def _refuse(self, request: RemotingCommand, role: Role) -> Response:
        code = RequestCode(request.code)
        event = AccessRefused(client=self._peer.address, code=code, setting=role.value)
        remark = f"this name server does not take {format_value(code)} from your address"
        return Response(ResponseCode.NO_PERMISSION, remark, events=(event,))

    def _run_guarded(
        self,
        handler: Callable[[State, RemotingCommand, Peer, float], Generator[None, None, Response]],
        request: RemotingCommand,
        now: float,
    ) -> Generator[None, None, Response]:
        # only one handler at a time takes steps: fast paths look at this flag
        self._state.stepping = True
        try:
            return (yield from handler(self._state, request, self._peer, now))
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            return self._describe_failure(request, error)
        finally:
            self._state.stepping = False

    def _describe_failure(self, request: RemotingCommand, error: Exception) -> Response:
        if isinstance(error, LimitReachedError):
            return Response(ResponseCode.SYSTEM_ERROR, str(error), events=(error.event,))
        if isinstance(error, DecodeError):
            remark = text = str(error)
        else:
            remark, text = "system error", f"{type(error).__name__}: {error}"
        code = RequestCode(request.code)
        event = RequestFailed(code=code, client=self._peer.address, error=text)
        return Response(ResponseCode.SYSTEM_ERROR, remark, events=(event,))

    def _encode(self, response: Response, opaque: int) -> bytes:
        is_plain = not response.code and response.remark is None
        if is_plain and response.ext_fields is None:
            frame = self._state.response_template.frame(opaque, response.body or b"")
            if len(frame) <= MAX_FRAME_LENGTH:
                return frame
            remark = f"the response has {len(frame)} bytes, more than the maximum of a frame"
            response = Response(ResponseCode.SYSTEM_ERROR, remark)
        return encode(_command(response, opaque, self._state.config.serialize_type))


def _command(response: Response, opaque: int, serialize_type: SerializeType) -> RemotingCommand:
    return RemotingCommand(
        code=response.code,
        language=LanguageCode.JAVA,
        opaque=opaque,
        flag=CommandFlag.RESPONSE,
        remark=response.remark,
        ext_fields=response.ext_fields,
        body=response.body,
        serialize_type=serialize_type,
    )


def _without_frames(error: DecodeError) -> DecodeError:
    """Return the error without its stack frames.

    The frames refer to all received bytes, and in a cycle to the error, so that the garbage
    collector, which runs seldom here, would keep them for long.
    """
    cause: BaseException | None = error
    while cause is not None:
        cause.__traceback__ = None
        cause = cause.__cause__ or cause.__context__
    return error


def _limit_or_infinity(limit: int) -> int:
    return limit if limit > 0 else _UNLIMITED
