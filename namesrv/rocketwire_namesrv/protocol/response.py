"""The arguments and the result of a request handler.

Rules of this file: values, and functions that several files of handlers need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import encode_body
from rocketwire.messages.kvconfig import KVTable

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.protocol.state import State

T = TypeVar("T")


class Peer(NamedTuple):
    connection_id: int  #: number of the connection, never reused
    address: str  #: for the log


class Response(NamedTuple):
    code: int = ResponseCode.SUCCESS
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = None
    body: bytes | None = None
    events: tuple[Event, ...] = ()
    persist_kv: bool = False  #: write the key/value file before the response is sent
    persist_config: bool = False  #: write the configuration file before the response is sent


SUCCESS = Response()
DISABLED = Response(ResponseCode.SYSTEM_ERROR, "disable")


def no_route(topic: str | None) -> Response:
    return Response(
        ResponseCode.TOPIC_NOT_EXIST,
        f"No topic route info in name server for the topic: {'null' if topic is None else topic}\n"
        "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.",
    )


def require(value: T | None, name: str) -> T:
    if value is None:
        raise DecodeError("a mandatory field is missing or cannot be read", path=name)
    return value


def kv_table(state: State, namespace: str | None) -> bytes | None:
    """Return a namespace of the key/value configuration as ``KVTable``; None if it does not
    exist."""
    table = state.kv.namespace(namespace)
    return None if table is None else encode_body(KVTable(table=table))
