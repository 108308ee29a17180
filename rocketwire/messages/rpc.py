"""Base classes of most request headers: the target of a forwarded request."""

from __future__ import annotations

from rocketwire.messages._codec.fields import BOXED_BOOLEAN, STRING, ext
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequestHeader:
    """Fields that every forwarded request may have. Java: ``remoting.rpc.RpcRequestHeader``.

    Attributes:
        ns: namespace of the topic or group.
        nsd: whether the names already include their namespace.
        bname: the target broker group.
        oway: whether the request is one-way.
    """

    ns: str | None = ext(STRING)
    nsd: bool | None = ext(BOXED_BOOLEAN)
    bname: str | None = ext(STRING)
    oway: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRequestHeader(RpcRequestHeader):
    """Fields that every forwarded request about a topic may have.

    Java: ``remoting.rpc.TopicRequestHeader``.

    Attributes:
        lo: whether the topic is a logical topic of a static mapping.
    """

    lo: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueRequestHeader(TopicRequestHeader):
    """Fields that every forwarded request about a queue may have.

    Java: ``remoting.rpc.TopicQueueRequestHeader``.
    """
