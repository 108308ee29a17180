"""Topics on brokers: creation, configuration, deletion and statistics."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import (
    BOXED_BOOLEAN,
    DOUBLE,
    INTEGER,
    LONG,
    STRING,
    check_one_of,
    distinct,
    ext,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.rpc import RpcRequestHeader, TopicRequestHeader
from rocketwire.messages.static_topics import TopicQueueMappingDetail
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicRequestHeader(TopicRequestHeader):
    """Creates or changes a topic or a static topic (codes 17, 513)."""

    topic: str | None = ext(STRING, required=True)
    default_topic: str | None = ext(STRING, required=True)
    read_queue_nums: int | None = ext(INTEGER, required=True)
    write_queue_nums: int | None = ext(INTEGER, required=True)
    perm: int | None = ext(INTEGER, required=True)
    topic_filter_type: str | None = ext(
        STRING, required=True, check=check_one_of("SINGLE_TAG", "MULTI_TAG")
    )
    topic_sys_flag: int | None = ext(INTEGER)
    order: bool | None = ext(BOXED_BOOLEAN, required=True, default=False)
    attributes: str | None = ext(STRING)
    force: bool | None = ext(BOXED_BOOLEAN, default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicListRequestHeader(RpcRequestHeader):
    """Creates or changes several topics (code 18)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicListRequestBody:
    """The topics to create."""

    topic_config_list: tuple[TopicConfig, ...] | None = member(listing(record(TopicConfig)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicRequestHeader(TopicRequestHeader):
    """Removes a topic from a broker (code 215)."""

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicListRequestBody:
    """Topics to remove from a broker (code 5002, since 5.5.1)."""

    topic_list: tuple[str, ...] | None = member(listing(STRING))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicConfigRequestHeader:
    """Asks for a page of all topics, or all of them (code 21)."""

    topic_seq: int | None = ext(INTEGER, required=True)
    data_version: str | None = ext(STRING)
    max_topic_num: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicConfigResponseHeader:
    """Number of topics."""

    total_topic_num: int | None = ext(INTEGER, since="5.5.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicConfigRequestHeader(TopicRequestHeader):
    """Asks for the configuration of one topic (code 351)."""

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigAndQueueMapping(TopicConfig):
    """A topic's configuration with its static mapping.
    Java: ``remoting.protocol.statictopic.TopicConfigAndQueueMapping``."""

    mapping_detail: TopicQueueMappingDetail | None = member(record(TopicQueueMappingDetail))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingSerializeWrapper:
    """A broker's file of static mappings, ``topicQueueMapping.json``."""

    data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    topic_queue_mapping_info_map: Mapping[str, TopicQueueMappingDetail] | None = member(
        mapping(STRING, record(TopicQueueMappingDetail))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRemappingDetailWrapper:
    """Plan of Java's admin tool for moving a static topic.
    Java: ``remoting.protocol.statictopic.TopicRemappingDetailWrapper``."""

    broker_config_map: Mapping[str, TopicConfigAndQueueMapping] | None = member(
        mapping(STRING, record(TopicConfigAndQueueMapping)), default={}
    )
    broker_to_map_in: tuple[str, ...] | None = member(distinct(STRING), default=())
    broker_to_map_out: tuple[str, ...] | None = member(distinct(STRING), default=())
    epoch: int = member(LONG)
    topic: str | None = member(STRING)
    type: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicStatsInfoRequestHeader(TopicRequestHeader):
    """Asks for the offsets of all queues of a topic (code 202)."""

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOffset:
    """First and last offset of a queue. Java: ``remoting.protocol.admin.TopicOffset``."""

    last_update_timestamp: int = member(LONG)
    max_offset: int = member(LONG)
    min_offset: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStatsTable:
    """Offsets of all queues of a topic. Java: ``remoting.protocol.admin.TopicStatsTable``."""

    offset_table: Mapping[MessageQueue, TopicOffset] | None = member(
        mapping(record(MessageQueue), record(TopicOffset)), default={}
    )
    topic_put_tps: float = member(DOUBLE)
