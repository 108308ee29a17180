"""Every public exception of the library, with ``RocketWireError`` as the common base.

``LocalProtocolError``: your arguments cannot be encoded or are invalid.  ``RemoteProtocolError``:
the peer sent bytes that cannot be decoded.  Causes are kept as ``__cause__``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.controls import escape_controls
from rocketwire.nearest import did_you_mean


class RocketWireError(Exception):
    """Base of every error that rocketwire raises deliberately."""

    def __reduce__(self) -> tuple[object, ...]:
        # Other processes get the error with its attributes, and a cause of this package.
        cause = self.__cause__ if isinstance(self.__cause__, RocketWireError) else None
        return _restore_error, (type(self), self.args, self.__dict__, cause)


def _restore_error(
    error_class: type[RocketWireError],
    arguments: tuple[object, ...],
    attributes: Mapping[str, object],
    cause: RocketWireError | None,
) -> RocketWireError:
    # ``__init__`` may take other arguments.
    error = error_class.__new__(error_class, *arguments)
    error.__dict__.update(attributes)
    error.__cause__ = cause
    return error


class ProtocolError(RocketWireError):
    """A violation of the protocol, by either side.  Only subclasses are raised."""


class LocalProtocolError(ProtocolError):
    """The caller asked for something that the protocol cannot express."""


class IllegalNameError(LocalProtocolError):
    """The name of a topic or a group is invalid, or reserved for another purpose."""


class IllegalMessageError(LocalProtocolError):
    """A message cannot be sent: no body, too large, or reserved properties."""


class IllegalTypeError(LocalProtocolError, TypeError):
    """An argument or a setting has the wrong type; the text names the valid type."""


class IllegalValueError(LocalProtocolError, ValueError):
    """An argument or a setting has an invalid value; the text describes the valid ones."""


class IllegalMessageTypeError(IllegalMessageError, IllegalTypeError):
    """A part of a message has the wrong type, for example a body of type ``str``."""


class IllegalHandlerError(IllegalTypeError):
    """A handler cannot be called: it is not async, or its arguments do not fit."""


class NotInTrioError(LocalProtocolError, RuntimeError):
    """A client was used outside of trio: in asyncio, or in a thread without an event loop."""

    def __init__(self) -> None:
        super().__init__("rocketwire.client needs trio: call it from trio.run(...)")


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol does not allow."""


class CodecError(RocketWireError):
    """Bytes could not be decoded, or values could not be encoded."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        offset: int | None = None,
        excerpt: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.message = message  #: description of the error, without path and offset
        self.path = path  #: the field concerned, such as ``header.remark``, or None
        self.offset = offset  #: position of the first byte concerned in the data given, or None
        self.excerpt: Final = bytes(excerpt[:16])  #: up to 16 bytes at that position

    def __str__(self) -> str:
        text = self.message
        if self.path is not None:
            text = f"{self.path}: {text}"
        if self.offset is not None:
            text = f"{text} (at byte {self.offset})"
        if self.excerpt:
            text = f"{text} [{self.excerpt.hex(' ')}]"
        return text


class EncodeError(CodecError, LocalProtocolError):
    """A value cannot be encoded: a code beyond int16 in a binary header, or too long a text."""


class DecodeError(CodecError, RemoteProtocolError):
    """The bytes are not a valid frame, header or body of the requested class."""


class TruncatedError(DecodeError):
    """The data ends too early.  Streams of data are for ``FrameDecoder``, which waits for more."""


class LimitExceededError(DecodeError):
    """The data exceeds a limit (inflated size, depth, number of values)."""

    def __init__(
        self,
        message: str,
        *,
        declared: int,
        limit: int,
        path: str | None = None,
        offset: int | None = None,
        excerpt: bytes = b"",
    ) -> None:
        super().__init__(message, path=path, offset=offset, excerpt=excerpt)
        self.declared = declared  #: the declared or counted amount, in the limit's unit
        #: the limit, in the unit that the message names: bytes, levels or values
        self.limit = limit


class MissingPackageError(DecodeError):
    """A body cannot be decompressed: a package is not installed.  The text names the extra.

    The bytes may be valid.  A consumer ends with this error instead of skipping the message.
    """


class FrameTooLargeError(LimitExceededError):
    """A frame declares more bytes than the limit; raised on its first four bytes."""


class HeaderTooLargeError(LimitExceededError):
    """A frame's header declares more bytes than the limit; raised on its first eight bytes."""


class UnknownHeaderTypeError(DecodeError):
    """The type byte of a frame is neither 0 (JSON) nor 1 (ROCKETMQ)."""

    def __init__(self, header_type: int, *, offset: int | None = None) -> None:
        super().__init__(f"unknown header type {header_type}", path="header_type", offset=offset)
        self.header_type = header_type  #: the byte


class ChannelError(RocketWireError):
    """A connection failed.  Only subclasses are raised."""


class ConnectFailedError(ChannelError):
    """The connection could not be opened: refused, no route, no TLS handshake (``__cause__``)."""


class IllegalAddressError(ConnectFailedError, LocalProtocolError):
    """An address is not ``host:port`` (Java: ``RemotingConnectException``).

    Brokers can advertise invalid addresses, so this is also a ``ConnectFailedError``: code that
    handles unreachable brokers handles these too.
    """


class ChannelClosedError(ChannelError):
    """This side has closed the channel."""


class ChannelBrokenError(ChannelError):
    """The connection ended unexpectedly.

    The peer closed or reset it, was silent too long or sent undecodable bytes.
    """


class RequestTimeoutError(ChannelError):
    """No response came in time (Java: ``RemotingTimeoutException``).

    The peer may have executed the request.
    """

    def __init__(self, address: str, request_code: int, seconds: float) -> None:
        super().__init__(address, request_code, seconds)
        self.address = address  #: address of the peer
        self.request_code = request_code
        self.seconds = seconds  #: time waited, connecting included

    def __str__(self) -> str:
        code = RequestCode(self.request_code).text
        return f"{self.address}: no answer to request {code} within {round(self.seconds, 2):g} s"


class ClientError(RocketWireError):
    """An operation of a client failed although its connections work.  Only subclasses are raised.

    Java: ``MQClientException``, ``MQBrokerException``.
    """


class ClientForkedError(ClientError):
    """A client was used in a fork of the process that opened it.

    Open it in the child, or set ``ClientConfig.reopen_after_fork``.
    """

    def __init__(self) -> None:
        super().__init__(
            "the client was opened before this process was forked: open it in this process,"
            " or set reopen_after_fork"
        )


class NoNameServerError(ClientError):
    """No name server is configured, or the address server listed none (Java: code 10004)."""


class TopicRouteNotFoundError(ClientError):
    """The name servers have no route of the topic (Java: code 10005)."""

    def __init__(self, topic: str, brokers: Sequence[str] = ()) -> None:
        super().__init__(topic, brokers)
        self.topic = topic
        #: names of the brokers that its last route had; empty if the client has had none
        self.brokers = brokers

    def __str__(self) -> str:
        text = f"no route of topic {self.topic}"
        if not self.brokers:
            return text
        who = "its broker" if len(self.brokers) == 1 else "its brokers"
        have = "has" if len(self.brokers) == 1 else "have"
        return f"{text} any more: {who} {', '.join(self.brokers)} {have} left the name server"


class BrokerNotFoundError(ClientError):
    """No route contains an address of the broker (Java: code 10003)."""

    def __init__(self, broker_name: str) -> None:
        super().__init__(broker_name)
        self.broker_name = broker_name  #: name of the broker group

    def __str__(self) -> str:
        return f"no address of broker {self.broker_name}"


class ClusterNotFoundError(ClientError):
    """The name servers have no cluster of that name, or the cluster has no master."""

    def __init__(self, cluster: str) -> None:
        super().__init__(cluster)
        self.cluster = cluster  #: name of the cluster

    def __str__(self) -> str:
        return f"no master of cluster {self.cluster} is known"


class SettingNotFoundError(ClientError):
    """A server has no setting of that name, or did not accept its new value.

    Servers ignore both without an error.
    """

    def __init__(
        self, address: str, setting: str, kept: str | None, known: Sequence[str] = ()
    ) -> None:
        super().__init__(address, setting, kept, known)
        self.address = address  #: address of the server
        self.setting = setting  #: name of the setting
        self.kept = kept  #: the value that the server keeps; None if it does not have the setting
        self.known = known  #: names of its settings

    def __str__(self) -> str:
        if self.kept is not None:
            return f"{self.address} did not accept the value of {self.setting}: it is {self.kept}"
        return f"{self.address} has no setting {self.setting}" + did_you_mean(
            self.setting, self.known
        )


class UnreadableMessagesError(ClientError):
    """Fewer queues than hold messages: no consumer would read those messages any more."""

    def __init__(
        self, address: str, topic: str, read_queue_nums: int, messages: Mapping[int, int]
    ) -> None:
        super().__init__(address, topic, read_queue_nums, messages)
        self.address = address  #: address of the broker
        self.topic = topic
        self.read_queue_nums = read_queue_nums  #: the new number of queues to read from
        #: number of messages in each queue that would leave the route, by queue id
        self.messages: dict[int, int] = {
            queue_id: count for queue_id, count in sorted(messages.items()) if count
        }

    def __str__(self) -> str:
        queues = ", ".join(map(str, self.messages))
        return (
            f"{sum(self.messages.values())} messages of topic {self.topic} at {self.address} are"
            f" unreadable with {self.read_queue_nums} queues: those in queues {queues}"
        )


class SendFailedError(ClientError):
    """Every attempt to send a message failed; the last error is the cause.

    An attempt that ended without a response may have stored the message.
    """

    def __init__(self, topic: str, brokers: tuple[str, ...]) -> None:
        super().__init__(topic, brokers)
        self.topic = topic
        self.brokers = brokers  #: names of the brokers tried, in order

    def __str__(self) -> str:
        brokers = ", ".join(dict.fromkeys(self.brokers))
        text = f"a message to {self.topic} was not sent by {len(self.brokers)} tries: {brokers}"
        return text if self.__cause__ is None else f"{text}; the last error: {self.__cause__}"


class SendManyError(ClientError):
    """Messages of ``Producer.send_many`` failed; the first error is the cause."""

    def __init__(self, results: Sequence[object]) -> None:
        errors = [result for result in results if isinstance(result, RocketWireError)]
        super().__init__(f"{len(errors)} of {len(results)} messages failed")
        #: for each message its ``SendResult``, or its error
        self.results: tuple[object, ...] = tuple(results)
        self.__cause__: BaseException | None = errors[0] if errors else None


class ReplyTimeoutError(ClientError):
    """A request was sent, but no consumer replied in time (Java: code 10006)."""

    def __init__(self, correlation_id: str) -> None:
        super().__init__(correlation_id)
        self.correlation_id = correlation_id  #: identifies the request

    def __str__(self) -> str:
        return f"no reply to request {self.correlation_id} in time"


class ResponseError(ClientError):
    """The peer answered with an error code."""

    def __init__(self, code: int, remark: str | None, request_code: int, address: str) -> None:
        super().__init__(code, remark, request_code, address)
        #: code of the response, also if ``ResponseCode`` does not list it
        self.code: Final = ResponseCode(code)
        #: error text of the peer, possibly of several lines, or empty
        self.remark: str = remark or ""
        self.request_code: Final = RequestCode(request_code)
        self.address = address  #: address of the peer

    def __str__(self) -> str:
        request, answer = self.request_code.text, self.code.text
        # Java adds lines of advice
        remark = escape_controls(" ".join(map(str.strip, self.remark.splitlines())))
        return f"{self.address}: request {request}: {answer} {remark}".rstrip()


class BrokerError(ResponseError):
    """A broker answered with an error (Java: ``MQBrokerException``)."""


class NameServerError(ResponseError):
    """A name server answered with an error."""
