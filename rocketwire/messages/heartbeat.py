"""Heartbeats of clients with their subscriptions, and unregistration."""

from __future__ import annotations

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    CLOCKED_LONG,
    INT,
    INTEGER,
    STRING,
    distinct,
    enumeration,
    ext,
    listing,
    member,
    record,
)
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.rpc import RpcRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionData:
    """Subscription of a consumer to a topic.
    Java: ``remoting.protocol.heartbeat.SubscriptionData``."""

    class_filter_mode: bool = member(BOOLEAN)
    code_set: tuple[int, ...] | None = member(distinct(INTEGER), default=())
    expression_type: str | None = member(STRING, default="TAG")
    sub_string: str | None = member(STRING)
    sub_version: int | None = member(CLOCKED_LONG, clock=True)
    tags_set: tuple[str, ...] | None = member(distinct(STRING), default=())
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerData:
    """A consumer group of a client. Java: ``remoting.protocol.heartbeat.ConsumerData``."""

    consume_from_where: ConsumeFromWhere | str | None = member(enumeration(ConsumeFromWhere))
    consume_type: ConsumeType | str | None = member(enumeration(ConsumeType))
    group_name: str | None = member(STRING)
    message_model: MessageModel | str | None = member(enumeration(MessageModel))
    subscription_data_set: tuple[SubscriptionData, ...] | None = member(
        distinct(record(SubscriptionData)), default=()
    )
    unit_mode: bool = member(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerData:
    """A producer group of a client. Java: ``remoting.protocol.heartbeat.ProducerData``."""

    group_name: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatRequestHeader(RpcRequestHeader):
    """Header of a heartbeat (code 34)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatData:
    """All groups of a client; body of a heartbeat.
    Java: ``remoting.protocol.heartbeat.HeartbeatData``."""

    client_id: str | None = member(STRING, wire="clientID")
    consumer_data_set: tuple[ConsumerData, ...] | None = member(
        listing(record(ConsumerData), "Set<{}>"), default=()
    )
    heartbeat_fingerprint: int = member(INT)
    producer_data_set: tuple[ProducerData, ...] | None = member(
        listing(record(ProducerData), "Set<{}>"), default=()
    )
    is_without_sub: bool = member(BOOLEAN, wire="withoutSub")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterClientRequestHeader(RpcRequestHeader):
    """A client leaves a group (code 35)."""

    client_id: str | None = ext(STRING, wire="clientID", required=True)
    producer_group: str | None = ext(STRING)
    consumer_group: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterClientResponseHeader:
    """Response without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckClientRequestBody:
    """Asks whether a subscription's expression compiles (code 46)."""

    client_id: str | None = member(STRING)
    group: str | None = member(STRING)
    namespace: str | None = member(STRING)
    subscription_data: SubscriptionData | None = member(record(SubscriptionData))
