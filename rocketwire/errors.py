"""Every public exception of the library: one tree, so that callers can write one ``except``.

Rules of this file: an error has a side (``LocalProtocolError``: you asked for something that cannot be said;
``RemoteProtocolError``: they sent something that cannot be read), no builtin name is reused, and whoever
translates a foreign exception keeps it as ``__cause__``.
"""

from __future__ import annotations

from rocketwire.codes import RequestCode, ResponseCode

__all__ = [
    "BrokerError",
    "BrokerNotFoundError",
    "ChannelBrokenError",
    "ChannelClosedError",
    "ChannelError",
    "ClientError",
    "ClusterNotFoundError",
    "CodecError",
    "ConnectFailedError",
    "DecodeError",
    "EncodeError",
    "FrameTooLargeError",
    "IllegalAddressError",
    "IllegalHandlerError",
    "IllegalMessageError",
    "IllegalMessageTypeError",
    "IllegalNameError",
    "IllegalTypeError",
    "IllegalValueError",
    "LimitExceededError",
    "LocalProtocolError",
    "MissingPackageError",
    "NameServerError",
    "NoNameServerError",
    "NotInTrioError",
    "ProtocolError",
    "RemoteProtocolError",
    "ReplyTimeoutError",
    "RequestTimeoutError",
    "ResponseError",
    "RocketWireError",
    "SendFailedError",
    "TopicRouteNotFoundError",
    "TruncatedError",
    "UnknownHeaderTypeError",
]


class RocketWireError(Exception):
    """Root of everything that rocketwire raises on purpose."""


class ProtocolError(RocketWireError):
    """The protocol was violated; by whom, the subclass says.  Never raised itself."""


class LocalProtocolError(ProtocolError):
    """This side asked for something that the protocol cannot express."""


class IllegalNameError(LocalProtocolError):
    """A topic or a group cannot be called that, or not be used for this."""


class IllegalMessageError(LocalProtocolError):
    """A message cannot be sent as it is: no body, too large, or properties that mean something else."""


class IllegalTypeError(LocalProtocolError, TypeError):
    """An argument or a setting has the wrong type; the text names it, the expected type and the value that was given."""


class IllegalValueError(LocalProtocolError, ValueError):
    """An argument or a setting has the right type and an invalid value; the text says which values are valid."""


class IllegalMessageTypeError(IllegalMessageError, IllegalTypeError):
    """A part of a message has the wrong type, as a body that is a text."""


class IllegalHandlerError(IllegalTypeError):
    """A function that the library is to call cannot be used: it is not async, or its arguments do not fit."""


class NotInTrioError(LocalProtocolError, RuntimeError):
    """The clients were called outside of trio: by asyncio, or by a thread without an event loop."""

    def __init__(self) -> None:
        super().__init__("rocketwire.client needs trio: call it from trio.run(...)")


class RemoteProtocolError(ProtocolError):
    """The other side sent something that the protocol does not allow."""


class CodecError(RocketWireError):
    """Bytes and values could not be converted into each other.

    Attributes:
        message: what is wrong, without the place.
        path: the field concerned, as ``header.remark``; None where no field can be named.
        offset: position of the first byte concerned, from the start of the data given; None if unknown.
        excerpt: up to 16 bytes at that position, for the message.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        offset: int | None = None,
        excerpt: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.offset = offset
        self.excerpt = bytes(excerpt[:16])

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
    """A value has no form on the wire: a code beyond int16 in a binary header, a text that is too long."""


class DecodeError(CodecError, RemoteProtocolError):
    """The bytes are not what they should be: not a frame, not a header, not a body of that class."""


class TruncatedError(DecodeError):
    """One-shot decoding met the end of the data too early.  A stream would wait; ``FrameDecoder`` does."""


class LimitExceededError(DecodeError):
    """The data asks for more than a limit allows (inflated size, depth, number of values).

    Attributes:
        declared: what was asked for or met, in the limit's unit.
        limit: the limit, in bytes, levels or values as the message says.
    """

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
        self.declared = declared
        self.limit = limit


class MissingPackageError(DecodeError):
    """A body is compressed by a package that is not installed; the text names the extra to install.

    The bytes may be right.  A consumer ends with this error instead of skipping the message.
    """


class FrameTooLargeError(LimitExceededError):
    """A frame declares more bytes than the limit; raised on its first four bytes (``declared``, ``limit``: bytes)."""


class HeaderTooLargeError(LimitExceededError):
    """A frame's header declares more bytes than the limit; raised on its first eight bytes."""


class UnknownHeaderTypeError(DecodeError):
    """The type byte of a frame is neither 0 (JSON) nor 1 (ROCKETMQ).

    Attributes:
        header_type: the byte.
    """

    def __init__(self, header_type: int, *, offset: int | None = None) -> None:
        super().__init__(f"unknown header type {header_type}", path="header_type", offset=offset)
        self.header_type = header_type


class ChannelError(RocketWireError):
    """A connection could not carry what it was asked to.  Never raised itself."""


class ConnectFailedError(ChannelError):
    """The connection was not made: nobody listens, no route, or the TLS handshake failed (``__cause__``)."""


class IllegalAddressError(ConnectFailedError, LocalProtocolError):
    """An address is not ``host:port``.  Brokers advertise what they like, so whoever deals with those that cannot be reached deals
    with these too; whose mistake it is knows who has the address from somewhere (Java: ``RemotingConnectException`` as well).
    """


class ChannelClosedError(ChannelError):
    """This side has closed the channel."""


class ChannelBrokenError(ChannelError):
    """The connection ended without this side wanting it: the peer closed or reset it, was silent too long or sent
    what cannot be read, or a send was cancelled half-way."""


class RequestTimeoutError(ChannelError):
    """No answer came in time; whether the peer has acted is unknown (Java: ``RemotingTimeoutException``).

    Attributes:
        address: who was asked.
        request_code: what for.
        seconds: how long was waited, connecting included.
    """

    def __init__(self, address: str, request_code: int, seconds: float) -> None:
        super().__init__(address, request_code, seconds)
        self.address = address
        self.request_code = request_code
        self.seconds = seconds

    def __str__(self) -> str:
        seconds = round(self.seconds, 2)  # what is left of a limit is seldom a round number
        return f"{self.address}: no answer to request {RequestCode(self.request_code).text} within {seconds:g} s"


class ClientError(RocketWireError):
    """What a client was asked for cannot be done, although its connections work.  Never raised itself.

    Java: ``MQClientException``, ``MQBrokerException``.
    """


class NoNameServerError(ClientError):
    """No name server is configured, or the address server told none (Java: code 10004)."""


class TopicRouteNotFoundError(ClientError):
    """The name servers know no route of the topic (Java: code 10005).

    Attributes:
        topic: the topic.
    """

    def __init__(self, topic: str) -> None:
        super().__init__(topic)
        self.topic = topic

    def __str__(self) -> str:
        return f"no route of topic {self.topic}"


class BrokerNotFoundError(ClientError):
    """No route tells an address of the broker (Java: code 10003).

    Attributes:
        broker_name: the broker group.
    """

    def __init__(self, broker_name: str) -> None:
        super().__init__(broker_name)
        self.broker_name = broker_name

    def __str__(self) -> str:
        return f"no address of broker {self.broker_name}"


class ClusterNotFoundError(ClientError):
    """No name server knows a cluster of that name, or it has no master.

    Attributes:
        cluster: which.
    """

    def __init__(self, cluster: str) -> None:
        super().__init__(cluster)
        self.cluster = cluster

    def __str__(self) -> str:
        return f"no master of cluster {self.cluster} is known"


class SendFailedError(ClientError):
    """A message could not be sent although several brokers were asked; the last one's error is the cause.

    A try that ended without an answer may have been executed, so the message may be there.

    Attributes:
        topic: the topic.
        brokers: whom it was tried to send to, in order.
    """

    def __init__(self, topic: str, brokers: tuple[str, ...]) -> None:
        super().__init__(topic, brokers)
        self.topic = topic
        self.brokers = brokers

    def __str__(self) -> str:
        text = f"a message to {self.topic} was not sent by {len(self.brokers)} tries: {', '.join(self.brokers)}"
        return text if self.__cause__ is None else f"{text}; the last error: {self.__cause__}"


class ReplyTimeoutError(ClientError):
    """A request was sent and nobody replied in time (Java: code 10006).

    Attributes:
        correlation_id: names the request.
    """

    def __init__(self, correlation_id: str) -> None:
        super().__init__(correlation_id)
        self.correlation_id = correlation_id

    def __str__(self) -> str:
        return f"no reply to request {self.correlation_id} in time"


class ResponseError(ClientError):
    """The peer answered with another code than one of success.

    Attributes:
        code: the answer's ``ResponseCode``; also a number that it does not list.
        remark: what the peer said about it, which may have several lines; empty where it said nothing.
        request_code: what was asked for.
        address: who answered.
    """

    def __init__(self, code: int, remark: str | None, request_code: int, address: str) -> None:
        super().__init__(code, remark, request_code, address)
        self.code = ResponseCode(code)
        self.remark = remark or ""
        self.request_code = RequestCode(request_code)
        self.address = address

    def __str__(self) -> str:
        request, answer = self.request_code.text, self.code.text
        remark = " ".join(map(str.strip, self.remark.splitlines()))  # Java adds lines of advice
        return f"{self.address}: request {request}: {answer} {remark}".rstrip()


class BrokerError(ResponseError):
    """A broker said no (Java: ``MQBrokerException``)."""


class NameServerError(ResponseError):
    """A name server said no."""
