"""Base classes of most request headers: the target of a forwarded request."""

from __future__ import annotations

from rocketwire.messages._codec.fields import BOXED_BOOLEAN, STRING, ext
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequestHeader:
    """Fields that every forwarded request may have. Java: ``remoting.rpc.RpcRequestHeader``."""

    ns: str | None = ext(STRING)  #: namespace of the topic or group
    nsd: bool | None = ext(BOXED_BOOLEAN)  #: whether the names already include their namespace
    bname: str | None = ext(STRING)  #: the target broker group
    oway: bool | None = ext(BOXED_BOOLEAN)  #: whether the request is one-way


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRequestHeader(RpcRequestHeader):
    """Fields that every forwarded request about a topic may have.
    Java: ``remoting.rpc.TopicRequestHeader``."""

    #: whether the topic is a logical topic of a static mapping
    lo: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueRequestHeader(TopicRequestHeader):
    """Fields that every forwarded request about a queue may have.
    Java: ``remoting.rpc.TopicQueueRequestHeader``."""
