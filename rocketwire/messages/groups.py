"""Consumer groups on brokers: configuration, retry policies, subscriptions."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_BOOLEAN,
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
    record,
)
from rocketwire.messages.enums import GroupRetryPolicyType
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.rpc import RpcRequestHeader, TopicRequestHeader
from rocketwire.messages.topic_config import DataVersion
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomizedRetryPolicy:
    """Delay before each retry, in milliseconds.
    Java: ``remoting.protocol.subscription.CustomizedRetryPolicy``."""

    next: tuple[int, ...] | None = member(
        listing(LONG, "long[]"),
        default=(
            1_000,
            5_000,
            10_000,
            30_000,
            60_000,
            120_000,
            180_000,
            240_000,
            300_000,
            360_000,
            420_000,
            480_000,
            540_000,
            600_000,
            1_200_000,
            1_800_000,
            3_600_000,
            7_200_000,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialRetryPolicy:
    """Delays that grow from retry to retry, in milliseconds.
    Java: ``remoting.protocol.subscription.ExponentialRetryPolicy``."""

    initial: int = member(LONG, default=5000)
    max: int = member(LONG, default=7_200_000)
    multiplier: int = member(LONG, default=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRetryPolicy:
    """The retry policy of a group. Java: ``remoting.protocol.subscription.GroupRetryPolicy``."""

    customized_retry_policy: CustomizedRetryPolicy | None = member(record(CustomizedRetryPolicy))
    exponential_retry_policy: ExponentialRetryPolicy | None = member(record(ExponentialRetryPolicy))
    type: GroupRetryPolicyType | str | None = member(
        enumeration(GroupRetryPolicyType), default=GroupRetryPolicyType.CUSTOMIZED
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleSubscriptionData:
    """A subscription without its parsed tags.
    Java: ``remoting.protocol.subscription.SimpleSubscriptionData``."""

    expression: str | None = member(STRING)
    expression_type: str | None = member(STRING)
    topic: str | None = member(STRING)
    version: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroupConfig:
    """Configuration of a consumer group on a broker (codes 200, 352).
    Java: ``remoting.protocol.subscription.SubscriptionGroupConfig``."""

    attributes: Mapping[str, str] | None = member(mapping(STRING, STRING), default={})
    broker_id: int = member(LONG)
    consume_broadcast_enable: bool = member(BOOLEAN, default=True)
    consume_enable: bool = member(BOOLEAN, default=True)
    consume_from_min_enable: bool = member(BOOLEAN, default=True)
    consume_message_orderly: bool = member(BOOLEAN)
    consume_timeout_minute: int = member(INT, default=15)
    group_name: str | None = member(STRING)
    group_retry_policy: GroupRetryPolicy | None = member(
        record(GroupRetryPolicy), factory=GroupRetryPolicy
    )
    group_sys_flag: int = member(INT)
    notify_consumer_ids_changed_enable: bool = member(BOOLEAN, default=True)
    retry_max_times: int = member(INT, default=16)
    retry_queue_nums: int = member(INT, default=1)
    subscription_data_set: tuple[SimpleSubscriptionData, ...] | None = member(
        distinct(
            record(SimpleSubscriptionData),
            identity=lambda data: (data.topic, data.expression_type, data.expression),
        )
    )
    which_broker_when_consume_slowly: int = member(LONG, default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroupList:
    """Several groups to create or change (code 225)."""

    group_config_list: tuple[SubscriptionGroupConfig, ...] | None = member(
        listing(record(SubscriptionGroupConfig))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionGroupWrapper:
    """All groups of a broker (code 201)."""

    data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    forbidden_table: Mapping[str, Mapping[str, int]] | None = member(
        mapping(STRING, mapping(STRING, INTEGER, concurrent=True), concurrent=True),
        default={},
        since="5.5.0",
    )
    subscription_group_table: Mapping[str, SubscriptionGroupConfig] | None = member(
        mapping(STRING, record(SubscriptionGroupConfig), concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllSubscriptionGroupRequestHeader:
    """Asks for a page of all groups, or all of them (code 201)."""

    group_seq: int | None = ext(INTEGER, required=True)
    data_version: str | None = ext(STRING)
    max_group_num: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllSubscriptionGroupResponseHeader:
    """Number of groups."""

    total_group_num: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSubscriptionGroupConfigRequestHeader(RpcRequestHeader):
    """Asks for the configuration of one group (code 352)."""

    group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSubscriptionGroupRequestHeader(RpcRequestHeader):
    """Removes a group (code 207)."""

    group_name: str | None = ext(STRING, required=True)
    clean_offset: bool = ext(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSubscriptionGroupListRequestBody:
    """Groups to remove from a broker (code 5003, since 5.5.1)."""

    group_name_list: tuple[str, ...] | None = member(listing(STRING))
    clean_offset: bool = member(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateGroupForbiddenRequestHeader(TopicRequestHeader):
    """Allows or forbids a group to read a topic (code 353)."""

    group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    readable: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupForbidden:
    """Whether a group may read a topic. Java: ``remoting.protocol.subscription.GroupForbidden``."""

    group: str | None = member(STRING)
    readable: bool | None = member(BOXED_BOOLEAN)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicConsumeByWhoRequestHeader(TopicRequestHeader):
    """Asks which groups read a topic (code 300)."""

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupList:
    """Names of groups."""

    group_list: tuple[str, ...] | None = member(distinct(STRING), default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeByWho:
    """The groups that consumed a message; no request code carries it."""

    consumed_group: tuple[str, ...] | None = member(distinct(STRING), default=())
    not_consumed_group: tuple[str, ...] | None = member(distinct(STRING), default=())
    offset: int = member(LONG)
    queue_id: int = member(INT)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicsByConsumerRequestHeader(RpcRequestHeader):
    """Asks which topics a group reads (code 343)."""

    group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionByConsumerRequestHeader(TopicRequestHeader):
    """Asks how a group reads a topic (code 345)."""

    group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionResponseBody:
    """How a group reads a topic."""

    group: str | None = member(STRING)
    subscription_data: SubscriptionData | None = member(record(SubscriptionData))
    topic: str | None = member(STRING)
