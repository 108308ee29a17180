"""Routes of topics: requests to a name server and its responses."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    INT,
    INTEGER,
    LONG,
    NULLABLE_STRING,
    STRING,
    distinct,
    ext,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.rpc import TopicRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouteInfoRequestHeader(TopicRequestHeader):
    """Asks for the route of a topic (code 105).
    Java: ``remoting.protocol.header.namesrv.GetRouteInfoRequestHeader``."""

    topic: str | None = ext(STRING, required=True)
    accept_standard_json_only: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTopicRequestHeader(TopicRequestHeader):
    """Registers the route of a topic without a broker's registration (code 217).
    Java: ``remoting.protocol.header.namesrv.RegisterTopicRequestHeader``."""

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicFromNamesrvRequestHeader(TopicRequestHeader):
    """Removes a topic, everywhere or in one cluster (code 216).
    Java: ``remoting.protocol.header.namesrv.DeleteTopicFromNamesrvRequestHeader``."""

    topic: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicsByClusterRequestHeader:
    """Asks for the topics of one cluster (code 224)."""

    cluster: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerRequestHeader:
    """Removes the write permission of all topics of a broker (code 205).
    Java: ``remoting.protocol.header.namesrv.WipeWritePermOfBrokerRequestHeader``."""

    broker_name: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerResponseHeader:
    """Number of changed topics.
    Java: ``remoting.protocol.header.namesrv.WipeWritePermOfBrokerResponseHeader``."""

    wipe_topic_count: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerRequestHeader:
    """Restores the write permission of all topics of a broker (code 327).
    Java: ``remoting.protocol.header.namesrv.AddWritePermOfBrokerRequestHeader``."""

    broker_name: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerResponseHeader:
    """Number of changed topics.
    Java: ``remoting.protocol.header.namesrv.AddWritePermOfBrokerResponseHeader``."""

    add_topic_count: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerMemberGroupRequestHeader:
    """Asks for the addresses of a broker group (code 901)."""

    cluster_name: str | None = ext(STRING, required=True)
    broker_name: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterOrderTopicRequestHeader:
    """Order configuration of a topic; no request code carries it.
    Java: ``remoting.protocol.header.namesrv.RegisterOrderTopicRequestHeader``."""

    topic: str | None = ext(STRING, required=True)
    order_topic_string: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueData:
    """The queues of a topic in a broker group. Java: ``remoting.protocol.route.QueueData``."""

    broker_name: str | None = member(STRING)
    perm: int = member(INT)  #: bits of ``Perm``
    read_queue_nums: int = member(INT)
    topic_sys_flag: int = member(INT)  #: bits of ``TopicSysFlag``
    write_queue_nums: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerData:
    """A broker group: its addresses by broker id. Java: ``remoting.protocol.route.BrokerData``."""

    #: address by broker id; 0 is the master
    broker_addrs: Mapping[int, str] | None = member(mapping(BOXED_LONG, STRING))
    broker_name: str | None = member(STRING)
    cluster: str | None = member(STRING)
    enable_acting_master: bool = member(BOOLEAN)  #: whether a slave may act as master
    zone_name: str | None = member(STRING)  #: zone of the group, for routing by zone


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingInfo:
    """Mapping of a static topic's logical queues to the queues of a broker.
    Java: ``remoting.protocol.statictopic.TopicQueueMappingInfo``."""

    bname: str | None = member(STRING)  #: the broker group
    #: the broker's queue id by logical queue id
    curr_id_map: Mapping[int, int] | None = member(
        mapping(INTEGER, INTEGER, concurrent=True), default={}
    )
    dirty: bool = member(BOOLEAN)
    epoch: int = member(LONG)  #: increases with each remapping
    #: name of the set of brokers that share the topic
    scope: str | None = member(STRING, default="__global__")
    topic: str | None = member(STRING)
    total_queues: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRouteData:
    """Route of a topic: queues, brokers, filter servers.
    Java: ``remoting.protocol.route.TopicRouteData``."""

    broker_datas: tuple[BrokerData, ...] | None = member(listing(record(BrokerData)), default=())
    #: filter servers by broker address
    filter_server_table: Mapping[str, tuple[str, ...]] | None = member(
        mapping(STRING, listing(STRING, of_map=True)), default={}
    )
    order_topic_conf: str | None = member(STRING)  #: ``broker:queues;...`` of an ordered topic
    queue_datas: tuple[QueueData, ...] | None = member(listing(record(QueueData)), default=())
    #: static mapping by broker name; None for ordinary topics
    topic_queue_mapping_by_broker: Mapping[str, TopicQueueMappingInfo] | None = member(
        mapping(STRING, record(TopicQueueMappingInfo))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInfo:
    """All broker groups and clusters."""

    broker_addr_table: Mapping[str, BrokerData] | None = member(mapping(STRING, record(BrokerData)))
    cluster_addr_table: Mapping[str, tuple[str | None, ...]] | None = member(
        mapping(STRING, distinct(NULLABLE_STRING))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList:
    """Names of topics."""

    #: a broker's address; only in the response to code 304
    broker_addr: str | None = member(STRING)
    topic_list: tuple[str | None, ...] | None = member(distinct(NULLABLE_STRING), default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerMemberGroup:
    """The addresses of a broker group by broker id."""

    broker_addrs: Mapping[int, str] | None = member(mapping(BOXED_LONG, STRING), default={})
    broker_name: str | None = member(STRING)
    cluster: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerMemberGroupResponseBody:
    """Response to code 901."""

    broker_member_group: BrokerMemberGroup | None = member(record(BrokerMemberGroup))
