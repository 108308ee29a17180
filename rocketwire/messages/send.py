"""Requests to send, send back, reply to and recall messages."""

from __future__ import annotations

from typing import ClassVar

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    INTEGER,
    LONG,
    STRING,
    ext,
)
from rocketwire.messages.rpc import RpcRequestHeader, TopicQueueRequestHeader, TopicRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageRequestHeader(TopicQueueRequestHeader):
    """Sends a message, with long field names (codes 10, 324)."""

    producer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    default_topic: str | None = ext(STRING, required=True)
    default_topic_queue_nums: int | None = ext(INTEGER, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    sys_flag: int | None = ext(INTEGER, required=True)
    born_timestamp: int | None = ext(BOXED_LONG, required=True)
    flag: int | None = ext(INTEGER, required=True)
    properties: str | None = ext(STRING)
    reconsume_times: int | None = ext(INTEGER)
    unit_mode: bool | None = ext(BOXED_BOOLEAN)
    batch: bool | None = ext(BOXED_BOOLEAN)
    max_reconsume_times: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageRequestHeaderV2(TopicQueueRequestHeader):
    """Sends a message or a batch, with one-letter field names (codes 310, 320, 325).
    Java: ``remoting.protocol.header.SendMessageRequestHeaderV2``."""

    fast_codec: ClassVar[tuple[str, ...]] = (
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
        "g",
        "h",
        "i",
        "j",
        "k",
        "l",
        "m",
        "n",
    )

    producer_group: str | None = ext(STRING, wire="a", required=True)
    topic: str | None = ext(STRING, wire="b", required=True)
    default_topic: str | None = ext(STRING, wire="c", required=True)
    default_topic_queue_nums: int | None = ext(INTEGER, wire="d", required=True)
    queue_id: int | None = ext(INTEGER, wire="e", required=True)
    sys_flag: int | None = ext(INTEGER, wire="f", required=True)
    born_timestamp: int | None = ext(BOXED_LONG, wire="g", required=True)
    flag: int | None = ext(INTEGER, wire="h", required=True)
    properties: str | None = ext(STRING, wire="i")
    reconsume_times: int | None = ext(INTEGER, wire="j")
    unit_mode: bool | None = ext(BOXED_BOOLEAN, wire="k")
    max_reconsume_times: int | None = ext(INTEGER, wire="l")
    batch: bool | None = ext(BOXED_BOOLEAN, wire="m")
    broker_name: str | None = ext(STRING, wire="n")


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageResponseHeader:
    """Location of the stored message."""

    fast_codec: ClassVar[tuple[str, ...]] = (
        "msgId",
        "queueId",
        "queueOffset",
        "transactionId",
        "batchUniqId",
        "recallHandle",
    )

    msg_id: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    queue_offset: int | None = ext(BOXED_LONG, required=True)
    transaction_id: str | None = ext(STRING)
    batch_uniq_id: str | None = ext(STRING)
    recall_handle: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSendMsgBackRequestHeader(RpcRequestHeader):
    """Sends a message back to the broker for a later retry (code 36)."""

    offset: int | None = ext(BOXED_LONG, required=True)
    group: str | None = ext(STRING, required=True)
    delay_level: int | None = ext(INTEGER, required=True)
    origin_msg_id: str | None = ext(STRING)
    origin_topic: str | None = ext(STRING)
    unit_mode: bool = ext(BOOLEAN)
    max_reconsume_times: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMessageRequestHeader(TopicQueueRequestHeader):
    """Forwards the reply of a request-reply call to the waiting client (code 326)."""

    producer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    default_topic: str | None = ext(STRING, required=True)
    default_topic_queue_nums: int | None = ext(INTEGER, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    sys_flag: int | None = ext(INTEGER, required=True)
    born_timestamp: int | None = ext(BOXED_LONG, required=True)
    flag: int | None = ext(INTEGER, required=True)
    properties: str | None = ext(STRING)
    reconsume_times: int | None = ext(INTEGER)
    unit_mode: bool = ext(BOOLEAN)
    born_host: str | None = ext(STRING, required=True)
    store_host: str | None = ext(STRING, required=True)
    store_timestamp: int = ext(LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessageRequestHeader(TopicRequestHeader):
    """Recalls a delayed message before its delivery (code 370)."""

    producer_group: str | None = ext(STRING)
    topic: str | None = ext(STRING, required=True)
    recall_handle: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessageResponseHeader:
    """Id of the recalled message."""

    msg_id: str | None = ext(STRING, required=True)
