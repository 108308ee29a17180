"""``Session``: the brain of one connection; bytes in, bytes and effects out.

Rules of this file: no I/O, no clock.  Requests are handled in the order of their arrival, and
answered in it.  Frames behind one that cannot be read are not executed (Java executes them).
Whatever a handler raises becomes an answer.

Java: ``NettyRemotingAbstract``, ``NettyDecoder``.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import LanguageCode, ResponseCode, SerializeType
from rocketwire.errors import DecodeError
from rocketwire.flags import CommandFlag
from rocketwire.versions import MQVersion
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire_namesrv.handlers import HANDLERS, Answer, Peer
from rocketwire_namesrv.occurrences import Occurrence, RequestFailed, ResponseDropped

if TYPE_CHECKING:
    from rocketwire_namesrv.state import Notification, State

# plain numbers: every request is looked at with these, and an enum's operators are slow
_RESPONSE: Final = int(CommandFlag.RESPONSE)
_ONEWAY: Final = int(CommandFlag.ONEWAY)
_GO_AWAY_ABOVE: Final = int(MQVersion.V5_3_1)

_HEAD = Struct(">II")
_OPAQUE = Struct(">i")
_MARK = 0x41424344
"""Stands for the opaque in the pattern of an answer; nothing else in a header looks like it."""


class Outcome(NamedTuple):
    """What came of the bytes received.

    Attributes:
        send: answers, in the order of the requests.
        occurrences: what happened, for the log.
        notify: commands to send to other addresses, one attempt each, unanswered.
        persist_kv: the key/value file has to be written before ``send`` goes out.
        persist_config: likewise the configuration file.
        close: why the connection has to be closed after ``send``; None to go on.
        close_connections: ids of other connections to close.
    """

    send: bytes = b""
    occurrences: tuple[Occurrence, ...] = ()
    notify: tuple[Notification, ...] = ()
    persist_kv: bool = False
    persist_config: bool = False
    close: DecodeError | None = None
    close_connections: tuple[int, ...] = ()


class Session:
    """One connection.

    Args:
        state: shared by all sessions of a server.
        peer: who is on the other side.
    """

    def __init__(self, state: State, peer: Peer) -> None:
        self._state = state
        self._peer = peer
        self._decoder = CommandDecoder(max_frame_length=state.config.frame_max_length)
        self._plain = PlainAnswer(state.config.serialize_type)

    @property
    def frame_started(self) -> bool:
        """Whether part of a frame has been received and the rest is awaited."""
        return self._decoder.frame_started

    def receive(self, data: bytes, now: float) -> Outcome:
        """Handles every complete command.

        Args:
            data: bytes as they came; an end in the middle of a frame is waited for.
            now: monotonic seconds.
        """
        self._decoder.feed(data)
        send: list[bytes] = []
        happened: list[Occurrence] = []
        persist_kv = persist_config = False
        close: DecodeError | None = None
        while True:
            try:
                command = self._decoder.next_command()
            except DecodeError as error:
                close = error
                break
            if command is None:
                break
            if command.flag & _RESPONSE:
                happened.append(ResponseDropped(client=self._peer.address, opaque=command.opaque))
                continue
            answer = self._handle(command, now)
            happened += answer.occurrences
            persist_kv |= answer.persist_kv
            persist_config |= answer.persist_config
            if not command.flag & _ONEWAY:
                send.append(self._encoded(answer, command.opaque))
        return Outcome(
            send=b"".join(send),
            occurrences=tuple(happened),
            notify=self._state.notifications(happened) if happened else (),
            persist_kv=persist_kv,
            persist_config=persist_config,
            close=close,
        )

    def lost(self, now: float, reason: str) -> tuple[Occurrence, ...]:
        """Unregisters the brokers of this connection, which is no more.

        Args:
            now: monotonic seconds.
            reason: ``closed`` or ``idle`` (``occurrences.Reason``).
        """
        return tuple(
            self._state.table.connection_lost(
                self._peer.connection_id,
                reason,
                notify=self._state.config.notify_min_broker_id_changed,
            )
        )

    def _handle(self, request: RemotingCommand, now: float) -> Answer:
        if self._state.shutting_down and request.version > _GO_AWAY_ABOVE:
            return Answer(ResponseCode.GO_AWAY, "please go away")
        handler = HANDLERS.get(request.code)
        if handler is None:
            remark = f" request type {int(request.code)} not supported"
            return Answer(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
        try:
            return handler(self._state, request, self._peer, now)
        except DecodeError as error:
            return self._failed(request, str(error), str(error))
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            text = f"{type(error).__name__}: {error}"
            return self._failed(request, "system error", text)

    def _failed(self, request: RemotingCommand, remark: str, error: str) -> Answer:
        happened = RequestFailed(code=request.code, client=self._peer.address, error=error)
        return Answer(ResponseCode.SYSTEM_ERROR, remark, occurrences=(happened,))

    def _encoded(self, answer: Answer, opaque: int) -> bytes:
        plain = not answer.code and answer.remark is None
        if plain and answer.ext_fields is None:
            frame = self._plain.frame(opaque, answer.body or b"")
            if len(frame) <= MAX_FRAME_LENGTH:
                return frame
            remark = f"the answer has {len(frame)} bytes, no frame may have so many"
            answer = Answer(ResponseCode.SYSTEM_ERROR, remark)
        return encode(_response(answer, opaque, self._state.config.serialize_type))


class PlainAnswer:
    """Frames of the ordinary answer, a success with neither remark nor fields: only opaque and body
    differ.

    Args:
        serialize_type: form of the header.
    """

    def __init__(self, serialize_type: SerializeType) -> None:
        frame = encode(_response(Answer(), _MARK, serialize_type))
        self._json = serialize_type != SerializeType.ROCKETMQ
        mark = str(_MARK).encode() if self._json else _OPAQUE.pack(_MARK)
        self._type = serialize_type << 24
        self._before, _, self._after = frame[_HEAD.size :].partition(mark)
        self._rest = len(self._before) + len(self._after)

    def frame(self, opaque: int, body: bytes) -> bytes:
        """One frame."""
        number = b"%d" % opaque if self._json else _OPAQUE.pack(opaque)
        header = self._rest + len(number)
        head = _HEAD.pack(4 + header + len(body), self._type | header)
        return b"".join((head, self._before, number, self._after, body))


def _response(answer: Answer, opaque: int, serialize_type: SerializeType) -> RemotingCommand:
    return RemotingCommand(
        code=answer.code,
        language=LanguageCode.JAVA,
        opaque=opaque,
        flag=CommandFlag.RESPONSE,
        remark=answer.remark,
        ext_fields=answer.ext_fields,
        body=answer.body,
        serialize_type=serialize_type,
    )
