"""What most request headers inherit: for whom a request is meant that is passed on."""

from __future__ import annotations

from rocketwire.messages._codec.fields import BOXED_BOOLEAN, STRING, ext
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequestHeader:
    """Fields that every forwarded request may carry.

    Java: ``remoting.rpc.RpcRequestHeader``.

    Attributes:
        ns: namespace of the topic or group.
        nsd: whether the names carry their namespace already.
        bname: the broker group that is meant.
        oway: whether no answer is wanted.
    """

    ns: str | None = ext(STRING)
    nsd: bool | None = ext(BOXED_BOOLEAN)
    bname: str | None = ext(STRING)
    oway: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRequestHeader(RpcRequestHeader):
    """Fields that every forwarded request about a topic may carry.

    Java: ``remoting.rpc.TopicRequestHeader``.

    Attributes:
        lo: whether the topic is a logical one, of a static mapping.
    """

    lo: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueRequestHeader(TopicRequestHeader):
    """Fields that every forwarded request about a queue may carry.

    Java: ``remoting.rpc.TopicQueueRequestHeader``.
    """
