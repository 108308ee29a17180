"""Where topics live: what is asked of a name server about them, and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouteInfoRequestHeader(TopicRequestHeader):
    """Asks where a topic lives (code 105).

    Java: ``remoting.protocol.header.namesrv.GetRouteInfoRequestHeader``.
    """

    topic: str | None = ext(STRING, required=True)
    accept_standard_json_only: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTopicRequestHeader(TopicRequestHeader):
    """Announces where a topic lives, without a broker's registration (code 217).

    Java: ``remoting.protocol.header.namesrv.RegisterTopicRequestHeader``.
    """

    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicFromNamesrvRequestHeader(TopicRequestHeader):
    """Forgets a topic, everywhere or in one cluster (code 216).

    Java: ``remoting.protocol.header.namesrv.DeleteTopicFromNamesrvRequestHeader``.
    """

    topic: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicsByClusterRequestHeader:
    """Asks for the topics of one cluster (code 224).

    Java: ``remoting.protocol.header.GetTopicsByClusterRequestHeader``.
    """

    cluster: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerRequestHeader:
    """Takes the write permission from every topic of a broker (code 205).

    Java: ``remoting.protocol.header.namesrv.WipeWritePermOfBrokerRequestHeader``.
    """

    broker_name: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerResponseHeader:
    """How many topics that concerned.

    Java: ``remoting.protocol.header.namesrv.WipeWritePermOfBrokerResponseHeader``.
    """

    wipe_topic_count: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerRequestHeader:
    """Gives the write permission back to every topic of a broker (code 327).

    Java: ``remoting.protocol.header.namesrv.AddWritePermOfBrokerRequestHeader``.
    """

    broker_name: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerResponseHeader:
    """How many topics that concerned.

    Java: ``remoting.protocol.header.namesrv.AddWritePermOfBrokerResponseHeader``.
    """

    add_topic_count: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerMemberGroupRequestHeader:
    """Asks for the addresses of one broker group (code 901).

    Java: ``remoting.protocol.header.GetBrokerMemberGroupRequestHeader``.
    """

    cluster_name: str | None = ext(STRING, required=True)
    broker_name: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterOrderTopicRequestHeader:
    """Order configuration of a topic; no code carries it.

    Java: ``remoting.protocol.header.namesrv.RegisterOrderTopicRequestHeader``.
    """

    topic: str | None = ext(STRING, required=True)
    order_topic_string: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueData:
    """The queues that one broker group has of a topic.

    Java: ``remoting.protocol.route.QueueData``.

    Attributes:
        perm: bits of ``Perm``.
        topic_sys_flag: bits of ``TopicSysFlag``.
    """

    broker_name: str | None = member(STRING)
    perm: int = member(INT)
    read_queue_nums: int = member(INT)
    topic_sys_flag: int = member(INT)
    write_queue_nums: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerData:
    """A broker group: its addresses by broker id.

    Java: ``remoting.protocol.route.BrokerData``.

    Attributes:
        broker_addrs: address by broker id; 0 is the master.
        enable_acting_master: whether a slave may stand in for the master.
        zone_name: where the group stands, for routing by zone.
    """

    broker_addrs: Mapping[int, str] | None = member(mapping(BOXED_LONG, STRING))
    broker_name: str | None = member(STRING)
    cluster: str | None = member(STRING)
    enable_acting_master: bool = member(BOOLEAN)
    zone_name: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingInfo:
    """How the queues of a static topic map to one broker's own.

    Java: ``remoting.protocol.statictopic.TopicQueueMappingInfo``.

    Attributes:
        bname: the broker group.
        curr_id_map: the broker's queue id by logical queue id.
        epoch: grows with each remapping.
        scope: name of the set of brokers that shares the topic.
    """

    bname: str | None = member(STRING)
    curr_id_map: Mapping[int, int] | None = member(
        mapping(INTEGER, INTEGER, concurrent=True), default={}
    )
    dirty: bool = member(BOOLEAN)
    epoch: int = member(LONG)
    scope: str | None = member(STRING, default="__global__")
    topic: str | None = member(STRING)
    total_queues: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRouteData:
    """Where a topic lives: queues, brokers, filter servers.

    Java: ``remoting.protocol.route.TopicRouteData``.

    Attributes:
        filter_server_table: filter servers by broker address.
        order_topic_conf: ``broker:queues;...`` of an ordered topic.
        topic_queue_mapping_by_broker: static mapping by broker name; None for ordinary topics.
    """

    broker_datas: tuple[BrokerData, ...] | None = member(listing(record(BrokerData)), default=())
    filter_server_table: Mapping[str, tuple[str, ...]] | None = member(
        mapping(STRING, listing(STRING, of_map=True)), default={}
    )
    order_topic_conf: str | None = member(STRING)
    queue_datas: tuple[QueueData, ...] | None = member(listing(record(QueueData)), default=())
    topic_queue_mapping_by_broker: Mapping[str, TopicQueueMappingInfo] | None = member(
        mapping(STRING, record(TopicQueueMappingInfo))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInfo:
    """Every broker group, and which cluster each belongs to.

    Java: ``remoting.protocol.body.ClusterInfo``.
    """

    broker_addr_table: Mapping[str, BrokerData] | None = member(mapping(STRING, record(BrokerData)))
    cluster_addr_table: Mapping[str, tuple[str | None, ...]] | None = member(
        mapping(STRING, distinct(NULLABLE_STRING))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList:
    """Names of topics.

    Java: ``remoting.protocol.body.TopicList``.

    Attributes:
        broker_addr: one broker's address; answer of code 304 only.
    """

    broker_addr: str | None = member(STRING)
    topic_list: tuple[str | None, ...] | None = member(distinct(NULLABLE_STRING), default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerMemberGroup:
    """The addresses of one broker group by broker id.

    Java: ``remoting.protocol.body.BrokerMemberGroup``.
    """

    broker_addrs: Mapping[int, str] | None = member(mapping(BOXED_LONG, STRING), default={})
    broker_name: str | None = member(STRING)
    cluster: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerMemberGroupResponseBody:
    """Answer of code 901.

    Java: ``remoting.protocol.body.GetBrokerMemberGroupResponseBody``.
    """

    broker_member_group: BrokerMemberGroup | None = member(record(BrokerMemberGroup))
