"""Topics: creating, changing, deleting and listing them, and their numbers.

Java: ``DefaultMQAdminExtImpl``, ``UpdateTopicSubCommand``, ``DeleteTopicSubCommand``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import of_each, told_by_each
from rocketwire.client.admin.paging import PAGE_SIZE, Page, all_pages
from rocketwire.client.admin.topic_orders import TopicOrders
from rocketwire.client.net.nameserver_api import ORDER_TOPIC_CONFIG
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import LocalProtocolError
from rocketwire.messages.enums import TopicFilterType
from rocketwire.messages.groups import GroupList, QueryTopicConsumeByWhoRequestHeader
from rocketwire.messages.route import TopicList
from rocketwire.messages.topics import (
    CreateTopicListRequestBody,
    CreateTopicListRequestHeader,
    CreateTopicRequestHeader,
    DeleteTopicRequestHeader,
    GetAllTopicConfigRequestHeader,
    GetTopicConfigRequestHeader,
    GetTopicStatsInfoRequestHeader,
    TopicConfigAndQueueMapping,
    TopicStatsTable,
)
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.policy.topic_attributes import attribute_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.topic_config import TopicConfig


class Topics(TopicOrders):
    """Calls about topics; all of them raise what ``Asking.ask`` and ``NameServers.call`` raise.

    Calls that take ``broker`` or ``cluster`` want exactly one of them: the address of one broker,
    or the name of a cluster whose masters are all told; ``LocalProtocolError`` without,
    ``ClusterNotFoundError`` where nobody knows the cluster.
    """

    def __init__(self, client: ClientInstance, clusters: Clusters, within: float) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters

    # ------------------------------------------------------------------ changing

    async def create_or_update(
        self,
        config: TopicConfig,
        *,
        broker: str | None = None,
        cluster: str | None = None,
        default_topic: str = DEFAULT_TOPIC,
    ) -> tuple[str, ...]:
        """Create a topic, or make it what ``config`` says (code 17).

        Returns the addresses of the brokers that did.

        Name servers are told by the brokers, within a moment.  Attributes are added or changed;
        ``-name`` removes one. Java: ``DefaultMQAdminExt.createAndUpdateTopicConfig``.

        Raises:
            BrokerError: 29 for a name that is the system's or not allowed, 1 for attributes that a
                broker does not take.
        """
        header = create_header(config, default_topic)
        addresses = await self._clusters.targets(broker, cluster)
        await of_each(
            addresses, lambda address: self.ask(address, Code.UPDATE_AND_CREATE_TOPIC, header)
        )
        return addresses

    async def create_or_update_all(
        self,
        configs: Sequence[TopicConfig],
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Create or change several topics in one request (code 18); returns the addresses.

        Java: ``createAndUpdateTopicConfigList``.  Brokers before 5.3.0 answer 3.
        """
        changes = tuple(
            replace(one, attributes=attribute_changes(one.attributes)) for one in configs
        )
        body = CreateTopicListRequestBody(topic_config_list=changes)
        header = CreateTopicListRequestHeader()
        addresses = await self._clusters.targets(broker, cluster)
        await of_each(
            addresses,
            lambda address: self.ask(address, Code.UPDATE_AND_CREATE_TOPIC_LIST, header, body),
        )
        return addresses

    async def update_perm(
        self, topic: str, perm: int, *, broker: str | None = None, cluster: str | None = None
    ) -> dict[str, int]:
        """Change only the permission of a topic, bits of ``rocketwire.flags.Perm``.

        By address, what it was before.

        With ``cluster`` all its masters have to have the topic.  Java:
        ``UpdateTopicPermSubCommand``.

        Raises:
            BrokerError: 17, a broker does not have the topic.
        """
        addresses = await self._clusters.targets(broker, cluster)
        before = await of_each(addresses, lambda address: self.config(address, topic))
        for address, config in before.items():
            changed = replace(config, perm=perm, attributes={}, mapping_detail=None)
            await self.create_or_update(changed, broker=address)
        return {address: config.perm for address, config in before.items()}

    async def delete(self, topic: str, cluster: str) -> None:
        """Delete a topic from all brokers of a cluster, slaves too, from every name server, and its order (215, 216, 102).

        Java: ``DefaultMQAdminExt.deleteTopic``.

        Raises:
            ClusterNotFoundError: there is no such cluster.
        """
        for address in await self._clusters.replicas(cluster):
            await self.delete_in_broker(address, topic)
        await self.delete_in_name_servers(topic, cluster)
        for server in self.client.name_servers.each():
            await server.delete_kv(ORDER_TOPIC_CONFIG, topic)

    async def delete_in_broker(self, address: str, topic: str) -> None:
        """Delete a topic from one broker (code 215), whose route stays until name servers are told (``deleteTopicInBroker``)."""
        await self.ask(address, Code.DELETE_TOPIC_IN_BROKER, DeleteTopicRequestHeader(topic=topic))

    async def delete_in_name_servers(self, topic: str, cluster: str | None = None) -> None:
        """Drop a topic's route at every name server (code 216).

        A broker that has the topic brings it back.

        Without ``cluster`` the routes of all clusters go.  Java: ``deleteTopicInNameServer``.
        """
        for server in self.client.name_servers.each():
            await server.delete_topic(topic, cluster)

    # ------------------------------------------------------------------ looking

    async def config(self, address: str, topic: str) -> TopicConfigAndQueueMapping:
        """A topic as one broker has it, with its part of a static one (code 351.

        Java: ``examineTopicConfig``).

        Raises:
            BrokerError: 17, the broker does not have it.
        """
        header = GetTopicConfigRequestHeader(topic=topic, lo=True)  # or the mapping is left out
        found: TopicConfigAndQueueMapping
        found = await self.body_of(address, Code.GET_TOPIC_CONFIG, header)
        return found

    async def configs(
        self, address: str, *, page_size: int = PAGE_SIZE
    ) -> Mapping[str, TopicConfig]:
        """Every topic of a broker, by name, in pages (code 21; Java: ``getAllTopicConfig``)."""

        async def ask(start: int, version: str) -> Page[TopicConfig]:
            header = GetAllTopicConfigRequestHeader(
                topic_seq=start, max_topic_num=page_size, data_version=version
            )
            answer = await self.ask(address, Code.GET_ALL_TOPIC_CONFIG, header)
            body = answer.body
            return Page(
                body.topic_config_table or {}, answer.header.total_topic_num, body.data_version
            )

        return (await all_pages(ask)).entries

    async def names(self, cluster: str | None = None) -> tuple[str, ...]:
        """Names of all topics, or of one cluster's (codes 206, 224.

        Java: ``fetchAllTopicList``, ``fetchTopicsByCLuster``).
        """
        servers = self.client.name_servers
        found = await (
            servers.all_topics() if cluster is None else servers.topics_of_cluster(cluster)
        )
        return tuple(name for name in found.topic_list or () if name is not None)

    async def system_names(self, address: str) -> tuple[str, ...]:
        """Names of a broker's own topics (code 305; Java: ``getSystemTopicListFromBroker``)."""
        body: TopicList | None
        body = await self.body_of(address, Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return tuple(name for name in (body or TopicList()).topic_list or () if name is not None)

    async def stats(self, topic: str, *, by: str | None = None) -> TopicStatsTable:
        """Offsets of every queue of a topic, from all its brokers (code 202.

        Java: ``examineTopicStats``).

        Queues are those of the brokers; what a static topic makes of them is
        ``StaticTopics.stats``.

        Args:
            topic: which.
            by: as of ``Clusters.of_topic``.

        Raises:
            TopicRouteNotFoundError: nobody has the topic.
        """
        places = await self._clusters.of_topic(topic, by=by)
        each = await told_by_each(places.values(), lambda address: self.stats_of(address, topic))
        return TopicStatsTable(
            offset_table={
                q: o for one in each.values() for q, o in (one.offset_table or {}).items()
            },
            topic_put_tps=sum(one.topic_put_tps for one in each.values()),
        )

    async def stats_of(self, address: str, topic: str) -> TopicStatsTable:
        """Offsets of the queues that one broker has of a topic (code 202).

        Raises:
            BrokerError: 17, it has none.
        """
        header = GetTopicStatsInfoRequestHeader(topic=topic)
        return await self.body_of(address, Code.GET_TOPIC_STATS_INFO, header) or TopicStatsTable()

    async def consumer_groups(self, topic: str) -> tuple[str, ...]:
        """Groups that read a topic, as any of its brokers knows (code 300.

        Java: ``queryTopicConsumeByWho``, which asks one).

        Raises:
            TopicRouteNotFoundError: nobody has the topic.
        """
        header = QueryTopicConsumeByWhoRequestHeader(topic=topic)
        places = await self._clusters.of_topic(topic)
        each: dict[str, GroupList | None] = await told_by_each(
            places.values(),
            lambda address: self.body_of(address, Code.QUERY_TOPIC_CONSUME_BY_WHO, header),
        )
        found = (
            group for one in each.values() if one is not None for group in one.group_list or ()
        )
        return tuple(dict.fromkeys(found))


def create_header(
    config: TopicConfig, default_topic: str = DEFAULT_TOPIC, *, force: bool | None = None
) -> CreateTopicRequestHeader:
    """The header that has a broker create or change a topic (codes 17, 513).

    Raises:
        LocalProtocolError: the topic has no name.
    """
    if not config.topic_name:
        raise LocalProtocolError("a topic without a name")
    changes = attribute_changes(config.attributes)
    return CreateTopicRequestHeader(
        topic=config.topic_name,
        default_topic=default_topic,
        read_queue_nums=config.read_queue_nums,
        write_queue_nums=config.write_queue_nums,
        perm=config.perm,
        topic_filter_type=str(config.topic_filter_type or TopicFilterType.SINGLE_TAG),
        topic_sys_flag=config.topic_sys_flag,
        order=config.order,
        attributes=",".join(f"{k}={v}" if v else k for k, v in changes.items()),
        force=force,
    )
