"""Requests that a broker sends to its clients, or forwards to them."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_LONG,
    DOUBLE,
    INT,
    INTEGER,
    LONG,
    STRING,
    distinct,
    enumeration,
    ext,
    mapping,
    member,
    record,
)
from rocketwire.messages.enums import CMResult
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.rpc import RpcRequestHeader, TopicRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyConsumerIdsChangedRequestHeader(RpcRequestHeader):
    """Notifies a consumer that its group changed (code 40)."""

    consumer_group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusRequestHeader(TopicRequestHeader):
    """Asks for a consumer's offsets (codes 221, 223)."""

    topic: str | None = ext(STRING, required=True)
    group: str | None = ext(STRING, required=True)
    client_addr: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusBody:
    """Offsets of one consumer, or of all members of a group."""

    consumer_table: Mapping[str, Mapping[MessageQueue, int]] | None = member(
        mapping(STRING, mapping(record(MessageQueue), BOXED_LONG)), default={}
    )
    message_queue_table: Mapping[MessageQueue, int] | None = member(
        mapping(record(MessageQueue), BOXED_LONG), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerRunningInfoRequestHeader(RpcRequestHeader):
    """Asks for the running state of a consumer (code 307)."""

    consumer_group: str | None = ext(STRING, required=True)
    client_id: str | None = ext(STRING, required=True)
    jstack_enable: bool = ext(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessQueueInfo:
    """State of a queue that the consumer pulls."""

    cached_msg_count: int = member(INT)
    cached_msg_max_offset: int = member(LONG)
    cached_msg_min_offset: int = member(LONG)
    cached_msg_size_in_mi_b: int = member(INT)
    commit_offset: int = member(LONG)
    droped: bool = member(BOOLEAN)
    last_consume_timestamp: int = member(LONG)
    last_lock_timestamp: int = member(LONG)
    last_pull_timestamp: int = member(LONG)
    locked: bool = member(BOOLEAN)
    transaction_msg_count: int = member(INT)
    transaction_msg_max_offset: int = member(LONG)
    transaction_msg_min_offset: int = member(LONG)
    try_unlock_times: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopProcessQueueInfo:
    """State of a queue that the consumer pops."""

    droped: bool = member(BOOLEAN)
    last_pop_timestamp: int = member(LONG)
    wait_ack_count: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStatus:
    """Rates of a consumer for one topic."""

    consume_failed_msgs: int = member(LONG)
    consume_failed_tps: float = member(DOUBLE, wire="consumeFailedTPS")
    consume_oktps: float = member(DOUBLE, wire="consumeOKTPS")
    consume_rt: float = member(DOUBLE, wire="consumeRT")
    pull_rt: float = member(DOUBLE, wire="pullRT")
    pull_tps: float = member(DOUBLE, wire="pullTPS")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRunningInfo:
    """The running state of a consumer."""

    jstack: str | None = member(STRING)
    mq_pop_table: Mapping[MessageQueue, PopProcessQueueInfo] | None = member(
        mapping(record(MessageQueue), record(PopProcessQueueInfo)), default={}
    )
    mq_table: Mapping[MessageQueue, ProcessQueueInfo] | None = member(
        mapping(record(MessageQueue), record(ProcessQueueInfo)), default={}
    )
    properties: Mapping[str, str] | None = member(
        mapping(STRING, STRING, properties=True), default={}
    )
    status_table: Mapping[str, ConsumeStatus] | None = member(
        mapping(STRING, record(ConsumeStatus)), default={}
    )
    subscription_set: tuple[SubscriptionData, ...] | None = member(
        distinct(record(SubscriptionData)), default=()
    )
    user_consumer_info: Mapping[str, str] | None = member(mapping(STRING, STRING), default={})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectlyResultRequestHeader(TopicRequestHeader):
    """Tells a consumer to consume one message now (code 309)."""

    consumer_group: str | None = ext(STRING, required=True)
    client_id: str | None = ext(STRING)
    msg_id: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    topic: str | None = ext(STRING)
    topic_sys_flag: int | None = ext(INTEGER)
    group_sys_flag: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectlyResult:
    """Result of consuming one message directly."""

    auto_commit: bool = member(BOOLEAN, default=True)
    consume_result: CMResult | str | None = member(enumeration(CMResult))
    order: bool = member(BOOLEAN)
    remark: str | None = member(STRING)
    spent_time_mills: int = member(LONG)
