"""What a handler is told and what it answers.

Rules of this file: values, and what several files of handlers need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import encode_body
from rocketwire.messages.kvconfig import KVTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_namesrv.events import Event
    from rocketwire_namesrv.protocol.state import State

T = TypeVar("T")


class Peer(NamedTuple):
    """Who asks.

    Attributes:
        connection_id: number of the connection, never used again.
        address: for the log.
    """

    connection_id: int
    address: str


class Response(NamedTuple):
    """What is answered, and what else has to be done.

    Attributes:
        persist_kv: the key/value file has to be written before the answer goes out.
        persist_config: likewise the configuration file.
    """

    code: int = ResponseCode.SUCCESS
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = None
    body: bytes | None = None
    events: tuple[Event, ...] = ()
    persist_kv: bool = False
    persist_config: bool = False


SUCCESS = Response()
DISABLED = Response(ResponseCode.SYSTEM_ERROR, "disable")


def no_route(topic: str | None) -> Response:
    """What is said of a topic without a route."""
    return Response(
        ResponseCode.TOPIC_NOT_EXIST,
        f"No topic route info in name server for the topic: {'null' if topic is None else topic}\n"
        "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.",
    )


def required(value: T | None, name: str) -> T:
    """The value of a mandatory field.

    Raises:
        DecodeError: there is none.
    """
    if value is None:
        raise DecodeError("a mandatory field is missing or cannot be read", path=name)
    return value


def kv_table(state: State, namespace: str | None) -> bytes | None:
    """A namespace of the key/value configuration as ``KVTable``; None where it does not exist."""
    table = state.kv.namespace(namespace)
    return None if table is None else encode_body(KVTable(table=table))
