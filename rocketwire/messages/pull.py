"""Pull consumption."""

from __future__ import annotations

from typing import ClassVar

from rocketwire.messages._codec.fields import BOXED_LONG, INTEGER, STRING, ext
from rocketwire.messages.rpc import TopicQueueRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessageRequestHeader(TopicQueueRequestHeader):
    """Asks for the messages of a queue from an offset on (codes 11, 361)."""

    fast_codec: ClassVar[tuple[str, ...]] = (
        "consumerGroup",
        "topic",
        "liteTopic",
        "queueId",
        "queueOffset",
        "maxMsgNums",
        "sysFlag",
        "commitOffset",
        "suspendTimeoutMillis",
        "subscription",
        "subVersion",
        "expressionType",
        "maxMsgBytes",
        "requestSource",
        "proxyFrowardClientId",
        "lo",
        "ns",
        "nsd",
        "bname",
        "oway",
    )

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    lite_topic: str | None = ext(STRING, since="5.5.0")
    queue_id: int | None = ext(INTEGER, required=True)
    queue_offset: int | None = ext(BOXED_LONG, required=True)
    max_msg_nums: int | None = ext(INTEGER, required=True)
    sys_flag: int | None = ext(INTEGER, required=True)
    commit_offset: int | None = ext(BOXED_LONG, required=True)
    suspend_timeout_millis: int | None = ext(BOXED_LONG, required=True)
    subscription: str | None = ext(STRING)
    sub_version: int | None = ext(BOXED_LONG, required=True)
    expression_type: str | None = ext(STRING)
    max_msg_bytes: int | None = ext(INTEGER)
    request_source: int | None = ext(INTEGER)
    proxy_froward_client_id: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessageResponseHeader:
    """The next offset and the limits of the queue."""

    fast_codec: ClassVar[tuple[str, ...]] = (
        "suggestWhichBrokerId",
        "nextBeginOffset",
        "minOffset",
        "maxOffset",
        "offsetDelta",
        "topicSysFlag",
        "groupSysFlag",
        "forbiddenType",
    )

    suggest_which_broker_id: int | None = ext(BOXED_LONG, required=True)
    next_begin_offset: int | None = ext(BOXED_LONG, required=True)
    min_offset: int | None = ext(BOXED_LONG, required=True)
    max_offset: int | None = ext(BOXED_LONG, required=True)
    offset_delta: int | None = ext(BOXED_LONG)
    topic_sys_flag: int | None = ext(INTEGER)
    group_sys_flag: int | None = ext(INTEGER)
    forbidden_type: int | None = ext(INTEGER)
