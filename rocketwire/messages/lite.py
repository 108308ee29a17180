"""Lite topics: many short-lived topics under one parent; new in Java 5.5.0."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    INT,
    INTEGER,
    LONG,
    STRING,
    distinct,
    enumeration,
    ext,
    listing,
    mapping,
    member,
    positive,
    record,
)
from rocketwire.messages.enums import LiteSubscriptionAction, OffsetOptionType
from rocketwire.messages.queries import OffsetWrapper
from rocketwire.messages.rpc import RpcRequestHeader
from rocketwire.messages.topics import TopicOffset
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PopLiteMessageRequestHeader(RpcRequestHeader):
    """Pops messages of the lite topics that a client subscribes to (code 200070).
    Java: ``remoting.protocol.header.PopLiteMessageRequestHeader``, since 5.5.0."""

    client_id: str | None = ext(STRING, required=True)
    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    max_msg_num: int = ext(INT, required=True)
    invisible_time: int = ext(LONG, required=True)
    poll_time: int = ext(LONG, required=True)
    born_time: int = ext(LONG, required=True)
    attempt_id: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopLiteMessageResponseHeader:
    """Popped messages and how long they stay invisible.

    The messages are of several LMQs. Each tells its offset there in the property
    ``INNER_MULTI_QUEUE_OFFSET``, so ``start_offset_info`` and ``msg_offset_info`` are not set.
    ``order_count_info`` has the earlier deliveries: ``0`` for each message, or for those that came
    before ``0 qo0%OFFSET COUNT``. ``revive_qid`` is 999.

    Java: ``remoting.protocol.header.PopLiteMessageResponseHeader``,
    ``PopLiteMessageProcessor.transformOrderCountInfo``, since 5.5.0.
    """

    pop_time: int = ext(LONG, required=True)
    invisible_time: int = ext(LONG, required=True)
    revive_qid: int = ext(INT, required=True)
    start_offset_info: str | None = ext(STRING)
    msg_offset_info: str | None = ext(STRING)
    order_count_info: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteSubscriptionCtlRequestHeader(RpcRequestHeader):
    """Header of a change of lite subscriptions (code 200071).
    Java: ``remoting.protocol.header.LiteSubscriptionCtlRequestHeader``, since 5.5.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetOption:
    """Where a new lite subscription starts.

    ``POLICY``: 0, at the committed offset; 1, at offset 0; 2, at the end. ``OFFSET``: at the value.
    ``TAIL_N``: so many messages before the committed offset. ``TIMESTAMP`` has no effect.

    Java: ``common.lite.OffsetOption``, ``LiteSubscriptionRegistryImpl.resetOffset``, since 5.5.0.
    """

    type: OffsetOptionType | str | None = member(enumeration(OffsetOptionType, "OffsetOption.Type"))
    value: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteSubscriptionDTO:
    """One change of a client's lite subscriptions.

    ``lite_topic_set`` has names without their parent topic. A broker ignores the lite topics of
    other brokers (``LiteShardingImpl``), ``version``, and changes without a client, group or topic.

    Java: ``common.lite.LiteSubscriptionDTO``, ``LiteSubscriptionCtlProcessor``, since 5.5.0.
    """

    action: LiteSubscriptionAction | str | None = member(enumeration(LiteSubscriptionAction))
    client_id: str | None = member(STRING)
    group: str | None = member(STRING)
    lite_topic_set: tuple[str, ...] | None = member(distinct(STRING))
    offset_option: OffsetOption | None = member(record(OffsetOption))
    topic: str | None = member(STRING)
    version: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteSubscriptionCtlRequestBody:
    """Changes of lite subscriptions.
    Java: ``remoting.protocol.body.LiteSubscriptionCtlRequestBody``, since 5.5.0."""

    subscription_set: tuple[LiteSubscriptionDTO, ...] | None = member(
        listing(record(LiteSubscriptionDTO), "Set<{}>")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyUnsubscribeLiteRequestHeader(RpcRequestHeader):
    """Notifies a client that a lite subscription ended (code 200073).
    Java: ``remoting.protocol.header.NotifyUnsubscribeLiteRequestHeader``, since 5.5.0."""

    lite_topic: str | None = ext(STRING, required=True)
    consumer_group: str | None = ext(STRING, required=True)
    client_id: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerLiteInfoResponseBody:
    """Statistics of a broker's lite topics (code 200074).
    Java: ``remoting.protocol.body.GetBrokerLiteInfoResponseBody``, since 5.5.0."""

    cq_table_size: int = member(INT)
    current_lmq_num: int = member(INT)
    event_map_size: int = member(INT)
    group_meta: Mapping[str, tuple[str, ...]] | None = member(mapping(STRING, distinct(STRING)))
    lite_subscription_count: int = member(INT)
    max_lmq_num: int = member(INT)
    offset_table_size: int = member(INT)
    order_info_count: int = member(INT)
    store_type: str | None = member(STRING)
    topic_meta: Mapping[str, int] | None = member(mapping(STRING, INTEGER))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetParentTopicInfoRequestHeader:
    """Asks about a parent topic (code 200075).
    Java: ``remoting.protocol.header.GetParentTopicInfoRequestHeader``, since 5.5.0."""

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetParentTopicInfoResponseBody:
    """Statistics of a parent topic.
    Java: ``remoting.protocol.body.GetParentTopicInfoResponseBody``, since 5.5.0."""

    groups: tuple[str, ...] | None = member(distinct(STRING))
    lite_topic_count: int = member(INT)
    lmq_num: int = member(INT)
    topic: str | None = member(STRING)
    ttl: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLiteTopicInfoRequestHeader:
    """Asks about a lite topic (code 200076).
    Java: ``remoting.protocol.header.GetLiteTopicInfoRequestHeader``, since 5.5.0."""

    parent_topic: str | None = ext(STRING)
    lite_topic: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientGroup:
    """A client in a group. Java: ``common.entity.ClientGroup``, since 5.5.0."""

    client_id: str | None = member(STRING)
    group: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLiteTopicInfoResponseBody:
    """Subscribers of a lite topic.
    Java: ``remoting.protocol.body.GetLiteTopicInfoResponseBody``, since 5.5.0."""

    lite_topic: str | None = member(STRING)
    parent_topic: str | None = member(STRING)
    sharding_to_broker: bool = member(BOOLEAN)
    subscriber: tuple[ClientGroup, ...] | None = member(distinct(record(ClientGroup)))
    topic_offset: TopicOffset | None = member(record(TopicOffset))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLiteClientInfoRequestHeader:
    """Asks about a client's lite subscriptions (code 200077).
    Java: ``remoting.protocol.header.GetLiteClientInfoRequestHeader``, since 5.5.0."""

    parent_topic: str | None = ext(STRING)
    group: str | None = ext(STRING)
    client_id: str | None = ext(STRING)
    max_count: int = ext(INT, default=1000, check=positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLiteClientInfoResponseBody:
    """A client's lite subscriptions; ``lite_topic_set`` has names of LMQs.
    Java: ``remoting.protocol.body.GetLiteClientInfoResponseBody``, since 5.5.0."""

    client_id: str | None = member(STRING)
    group: str | None = member(STRING)
    last_access_time: int = member(LONG)
    last_consume_time: int = member(LONG)
    lite_topic_count: int = member(INT)
    lite_topic_set: tuple[str, ...] | None = member(distinct(STRING))
    parent_topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLiteGroupInfoRequestHeader:
    """Asks for the lag of a group in its lite topics (code 200078).
    Java: ``remoting.protocol.header.GetLiteGroupInfoRequestHeader``, since 5.5.0."""

    group: str | None = ext(STRING, required=True)
    lite_topic: str | None = ext(STRING)
    top_k: int = ext(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLagInfo:
    """Lag of a group in one lite topic. Java: ``common.lite.LiteLagInfo``, since 5.5.0."""

    earliest_unconsumed_timestamp: int = member(LONG, default=-1)
    lag_count: int = member(LONG)
    lite_topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetLiteGroupInfoResponseBody:
    """Lag of a group.
    Java: ``remoting.protocol.body.GetLiteGroupInfoResponseBody``, since 5.5.0."""

    earliest_unconsumed_timestamp: int = member(LONG, default=-1)
    group: str | None = member(STRING)
    lag_count_top_k: tuple[LiteLagInfo, ...] | None = member(listing(record(LiteLagInfo)))
    lag_timestamp_top_k: tuple[LiteLagInfo, ...] | None = member(listing(record(LiteLagInfo)))
    lite_topic: str | None = member(STRING)
    lite_topic_offset_wrapper: OffsetWrapper | None = member(record(OffsetWrapper))
    parent_topic: str | None = member(STRING)
    total_lag_count: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerLiteDispatchRequestHeader:
    """Tells the broker to dispatch lite messages now (code 200079).
    Java: ``remoting.protocol.header.TriggerLiteDispatchRequestHeader``, since 5.5.0."""

    group: str | None = ext(STRING, required=True)
    client_id: str | None = ext(STRING)
