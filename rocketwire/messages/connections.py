"""Connected clients: members of groups and their connections."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.codes import LanguageCode
from rocketwire.messages._codec.fields import (
    INT,
    LONG,
    STRING,
    enumeration,
    ext,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.rpc import RpcRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupRequestHeader(RpcRequestHeader):
    """Asks for the client ids of a group (code 38)."""

    consumer_group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupResponseHeader:
    """Response without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupResponseBody:
    """Client ids of a group.
    Java: ``remoting.protocol.header.GetConsumerListByGroupResponseBody``."""

    consumer_id_list: tuple[str, ...] | None = member(listing(STRING))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerConnectionListRequestHeader(RpcRequestHeader):
    """Asks for the connections of a consumer group (code 203)."""

    consumer_group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProducerConnectionListRequestHeader(RpcRequestHeader):
    """Asks for the connections of a producer group (code 204)."""

    producer_group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllProducerInfoRequestHeader:
    """Asks for every producer (code 328)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A connection of a client."""

    client_addr: str | None = member(STRING)
    client_id: str | None = member(STRING)
    language: LanguageCode | str | None = member(enumeration(LanguageCode))
    version: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConnection:
    """A consumer group: connections and subscriptions."""

    connection_set: tuple[Connection, ...] | None = member(
        listing(record(Connection), "Set<{}>"), default=()
    )
    consume_from_where: ConsumeFromWhere | str | None = member(enumeration(ConsumeFromWhere))
    consume_type: ConsumeType | str | None = member(enumeration(ConsumeType))
    message_model: MessageModel | str | None = member(enumeration(MessageModel))
    subscription_table: Mapping[str, SubscriptionData] | None = member(
        mapping(STRING, record(SubscriptionData), concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConnection:
    """A producer group: connections."""

    connection_set: tuple[Connection, ...] | None = member(
        listing(record(Connection), "Set<{}>"), default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerInfo:
    """A producer."""

    client_id: str | None = member(STRING)
    language: LanguageCode | str | None = member(enumeration(LanguageCode))
    last_update_timestamp: int = member(LONG)
    remote_ip: str | None = member(STRING, wire="remoteIP")
    version: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerTableInfo:
    """Every producer, by group."""

    data: Mapping[str, tuple[ProducerInfo, ...]] | None = member(
        mapping(STRING, listing(record(ProducerInfo)))
    )
