"""Kinds of stored messages, by their topic."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from rocketwire.policy.resource_names import (
    DLQ_PREFIX,
    HALF_TOPICS,
    OP_TOPICS,
    REPLY_TOPIC_POSTFIX,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    is_system_topic,
)


class Kind(StrEnum):
    MESSAGE = "message"
    INNER = "inner"
    COMMITTED = "committed"
    RETRY = "retry"
    DLQ = "dlq"
    HALF = "half"
    OP = "op"
    DELAYED = "delayed"
    TIMER = "timer"
    REVIVE = "revive"
    REPLY = "reply"
    TRACE = "trace"
    SYSTEM = "system"


USERS_KINDS: Final = frozenset({Kind.MESSAGE, Kind.INNER, Kind.COMMITTED, Kind.RETRY, Kind.DLQ})
"""Kinds that are shown without a question."""

_REVIVE_PREFIX: Final = "rmq_sys_REVIVE_LOG_"
_BY_NAME: Final = {
    SCHEDULE_TOPIC: Kind.DELAYED,
    TIMER_TOPIC: Kind.TIMER,
    "RMQ_SYS_TRACE_TOPIC": Kind.TRACE,
    **dict.fromkeys(HALF_TOPICS, Kind.HALF),
    **dict.fromkeys(OP_TOPICS, Kind.OP),
}


def kind_of_topic(topic: str) -> Kind:
    kind = _BY_NAME.get(topic)
    if kind is not None:
        return kind
    if topic.startswith(RETRY_PREFIX):
        return Kind.RETRY
    if topic.startswith(DLQ_PREFIX):
        return Kind.DLQ
    if topic.startswith(_REVIVE_PREFIX):
        return Kind.REVIVE
    if topic.endswith(REPLY_TOPIC_POSTFIX):
        return Kind.REPLY
    return Kind.SYSTEM if is_system_topic(topic) else Kind.MESSAGE
