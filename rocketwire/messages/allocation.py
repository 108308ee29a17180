"""Which consumer has which queue: locks, assignment by the broker, mode of request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    INT,
    STRING,
    distinct,
    enumeration,
    mapping,
    member,
    record,
)
from rocketwire.messages.enums import MessageModel, MessageRequestMode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.rpc import RpcRequestHeader
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchMqRequestHeader(RpcRequestHeader):
    """Header of a lock request (code 41).

    Java: ``remoting.protocol.header.LockBatchMqRequestHeader``.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchRequestBody:
    """Queues that an orderly consumer wants to lock.

    Java: ``remoting.protocol.body.LockBatchRequestBody``.
    """

    client_id: str | None = member(STRING)
    consumer_group: str | None = member(STRING)
    mq_set: tuple[MessageQueue, ...] | None = member(distinct(record(MessageQueue)), default=())
    only_this_broker: bool = member(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchResponseBody:
    """Queues that it got.

    Java: ``remoting.protocol.body.LockBatchResponseBody``.
    """

    lock_ok_mq_set: tuple[MessageQueue, ...] | None = member(
        distinct(record(MessageQueue)), wire="lockOKMQSet", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlockBatchMqRequestHeader(RpcRequestHeader):
    """Header of an unlock request (code 42).

    Java: ``remoting.protocol.header.UnlockBatchMqRequestHeader``.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlockBatchRequestBody:
    """Queues that it gives back.

    Java: ``remoting.protocol.body.UnlockBatchRequestBody``.
    """

    client_id: str | None = member(STRING)
    consumer_group: str | None = member(STRING)
    mq_set: tuple[MessageQueue, ...] | None = member(distinct(record(MessageQueue)), default=())
    only_this_broker: bool = member(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentRequestBody:
    """Asks which queues a consumer is to read (code 400).

    Java: ``remoting.protocol.body.QueryAssignmentRequestBody``.
    """

    client_id: str | None = member(STRING)
    consumer_group: str | None = member(STRING)
    message_model: MessageModel | str | None = member(enumeration(MessageModel))
    strategy_name: str | None = member(STRING)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueAssignment:
    """A queue that a consumer got, and how it is to ask for its messages.

    Java: ``common.message.MessageQueueAssignment``.
    """

    attachments: Mapping[str, str] | None = member(mapping(STRING, STRING))
    message_queue: MessageQueue | None = member(record(MessageQueue))
    mode: MessageRequestMode | str | None = member(
        enumeration(MessageRequestMode), default=MessageRequestMode.PULL
    )


def _assigned(one: MessageQueueAssignment) -> object:
    """What has to agree for two assignments to be one in Java's set, by their hash codes and ``equals``."""
    mode = one.mode if isinstance(one.mode, MessageRequestMode) else None
    return one.message_queue, mode, frozenset((one.attachments or {}).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentResponseBody:
    """Queues that it is to read.

    Java: ``remoting.protocol.body.QueryAssignmentResponseBody``.
    """

    message_queue_assignments: tuple[MessageQueueAssignment, ...] | None = member(
        distinct(record(MessageQueueAssignment), identity=_assigned)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessageRequestModeRequestBody:
    """Sets whether a group pulls or pops a topic (code 401).

    Java: ``remoting.protocol.body.SetMessageRequestModeRequestBody``.
    """

    consumer_group: str | None = member(STRING)
    mode: MessageRequestMode | str | None = member(
        enumeration(MessageRequestMode), default=MessageRequestMode.PULL
    )
    pop_share_queue_num: int = member(INT)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRequestModeSerializeWrapper:
    """All such settings, by topic and group (code 402).

    Java: ``remoting.protocol.body.MessageRequestModeSerializeWrapper``.
    """

    message_request_mode_map: (
        Mapping[str, Mapping[str, SetMessageRequestModeRequestBody]] | None
    ) = member(
        mapping(
            STRING,
            mapping(STRING, record(SetMessageRequestModeRequestBody), concurrent=True),
            concurrent=True,
        ),
        default={},
    )
