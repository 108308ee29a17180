"""Assignment of queues to consumers: locks, assignment by the broker, pull or pop."""

from __future__ import annotations

from collections.abc import Mapping

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchMqRequestHeader(RpcRequestHeader):
    """Header of a lock request (code 41)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchRequestBody:
    """Queues that an orderly consumer wants to lock."""

    client_id: str | None = member(STRING)
    consumer_group: str | None = member(STRING)
    mq_set: tuple[MessageQueue, ...] | None = member(distinct(record(MessageQueue)), default=())
    only_this_broker: bool = member(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchResponseBody:
    """Queues that the broker locked."""

    lock_ok_mq_set: tuple[MessageQueue, ...] | None = member(
        distinct(record(MessageQueue)), wire="lockOKMQSet", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlockBatchMqRequestHeader(RpcRequestHeader):
    """Header of an unlock request (code 42)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlockBatchRequestBody:
    """Queues that a consumer unlocks."""

    client_id: str | None = member(STRING)
    consumer_group: str | None = member(STRING)
    mq_set: tuple[MessageQueue, ...] | None = member(distinct(record(MessageQueue)), default=())
    only_this_broker: bool = member(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentRequestBody:
    """Asks which queues a consumer should read (code 400)."""

    client_id: str | None = member(STRING)
    consumer_group: str | None = member(STRING)
    message_model: MessageModel | str | None = member(enumeration(MessageModel))
    strategy_name: str | None = member(STRING)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueAssignment:
    """A queue assigned to a consumer, and whether to pull or pop its messages.
    Java: ``common.message.MessageQueueAssignment``."""

    attachments: Mapping[str, str] | None = member(mapping(STRING, STRING))
    message_queue: MessageQueue | None = member(record(MessageQueue))
    mode: MessageRequestMode | str | None = member(
        enumeration(MessageRequestMode), default=MessageRequestMode.PULL
    )


def _identity(assignment: MessageQueueAssignment) -> object:
    # The values that Java's ``hashCode`` and ``equals`` compare.
    mode = assignment.mode if isinstance(assignment.mode, MessageRequestMode) else None
    return assignment.message_queue, mode, frozenset((assignment.attachments or {}).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentResponseBody:
    """Queues that the consumer should read."""

    message_queue_assignments: tuple[MessageQueueAssignment, ...] | None = member(
        distinct(record(MessageQueueAssignment), identity=_identity)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessageRequestModeRequestBody:
    """Sets whether a group pulls or pops a topic (code 401)."""

    consumer_group: str | None = member(STRING)
    mode: MessageRequestMode | str | None = member(
        enumeration(MessageRequestMode), default=MessageRequestMode.PULL
    )
    pop_share_queue_num: int = member(INT)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRequestModeSerializeWrapper:
    """All settings of code 401, by topic and group (code 402)."""

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
