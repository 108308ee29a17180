"""Queries for messages, consume queues and the progress of groups."""

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
    ext,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.rpc import TopicQueueRequestHeader, TopicRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMessageRequestHeader(TopicRequestHeader):
    """Searches messages by key (code 12)."""

    topic: str | None = ext(STRING, required=True)
    key: str | None = ext(STRING, required=True)
    max_num: int | None = ext(INTEGER, required=True)
    begin_timestamp: int | None = ext(BOXED_LONG, required=True)
    end_timestamp: int | None = ext(BOXED_LONG, required=True)
    index_type: str | None = ext(STRING, since="5.5.0")
    last_key: str | None = ext(STRING, since="5.5.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMessageResponseHeader:
    """Last time and offset of the message index."""

    index_last_update_timestamp: int | None = ext(BOXED_LONG, required=True)
    index_last_update_phyoffset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessageRequestHeader:
    """Reads one message by its commit log offset (code 33)."""

    topic: str | None = ext(STRING)
    offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessageResponseHeader:
    """Response without fields; no request code carries it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsMessagesRequestHeader(TopicQueueRequestHeader):
    """Counts the messages of a period; no request code carries it."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int = ext(INT, required=True)
    from_time: int = ext(LONG)
    to_time: int = ext(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueueRequestHeader(TopicQueueRequestHeader):
    """Reads entries of a consume queue (code 321)."""

    topic: str | None = ext(STRING)
    queue_id: int = ext(INT)
    index: int = ext(LONG)
    count: int = ext(INT)
    consumer_group: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeQueueData:
    """An entry of a consume queue."""

    bit_map: str | None = member(STRING)
    eval: bool = member(BOOLEAN)
    extend_data_json: str | None = member(STRING)
    msg: str | None = member(STRING)
    physic_offset: int = member(LONG)
    physic_size: int = member(INT)
    tags_code: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueueResponseBody:
    """Entries of a consume queue with the result of a group's filter."""

    filter_data: str | None = member(STRING)
    max_queue_index: int = member(LONG)
    min_queue_index: int = member(LONG)
    queue_data: tuple[ConsumeQueueData, ...] | None = member(listing(record(ConsumeQueueData)))
    subscription_data: SubscriptionData | None = member(record(SubscriptionData))


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpanRequestHeader(TopicRequestHeader):
    """Asks for the time of the messages that a group consumes now (code 303)."""

    topic: str | None = ext(STRING, required=True)
    group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTimeSpan:
    """Times of the consumed messages in one queue."""

    consume_time_stamp: int = member(LONG)
    consume_time_stamp_str: str | None = member(
        STRING, default="1970-01-01#00:00:00:000", write_only=True
    )
    delay_time: int = member(LONG)
    max_time_stamp: int = member(LONG)
    max_time_stamp_str: str | None = member(
        STRING, default="1970-01-01#00:00:00:000", write_only=True
    )
    message_queue: MessageQueue | None = member(record(MessageQueue))
    min_time_stamp: int = member(LONG)
    min_time_stamp_str: str | None = member(
        STRING, default="1970-01-01#00:00:00:000", write_only=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpanBody:
    """Times of the consumed messages in all queues."""

    consume_time_span_set: tuple[QueueTimeSpan, ...] | None = member(
        listing(record(QueueTimeSpan)), default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumeStatsRequestHeader(TopicRequestHeader):
    """Asks for the progress of a group (code 208)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING)
    topic_list: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetWrapper:
    """Progress of a group in one queue. Java: ``remoting.protocol.admin.OffsetWrapper``."""

    broker_offset: int = member(LONG)
    consumer_offset: int = member(LONG)
    last_timestamp: int = member(LONG)
    pull_offset: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStats:
    """Progress of a group in all queues. Java: ``remoting.protocol.admin.ConsumeStats``."""

    consume_tps: float = member(DOUBLE)
    offset_table: Mapping[MessageQueue, OffsetWrapper] | None = member(
        mapping(record(MessageQueue), record(OffsetWrapper)), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumeStatsInBrokerHeader:
    """Asks for the progress of all groups (code 317)."""

    is_order: bool = ext(BOOLEAN, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStatsList:
    """Progress of all groups."""

    broker_addr: str | None = member(STRING)
    consume_stats_list: tuple[Mapping[str, tuple[ConsumeStats, ...]], ...] | None = member(
        listing(mapping(STRING, listing(record(ConsumeStats)))), default=()
    )
    total_diff: int = member(LONG)
    total_inflight_diff: int = member(LONG)
