"""Topics: create, change, delete, list, their statistics and their order.

Java: ``DefaultMQAdminExtImpl``, ``UpdateTopicSubCommand``, ``DeleteTopicSubCommand``,
``UpdateOrderConfCommand``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import call_each, read_from_each
from rocketwire.client.admin.paging import PAGE_SIZE, Page, all_pages
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
from rocketwire.policy.order_conf import merge_order_conf
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.policy.topic_attributes import attribute_changes

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.topic_config import TopicConfig


class Topics(ClusterCalls):
    """Requests for topics; for errors see ``AdminCalls.ask`` and ``NameServers.call``.

    Methods with ``broker`` and ``cluster`` need exactly one of them: the address of a broker,
    or the name of a cluster, for all its masters; ``LocalProtocolError`` otherwise,
    ``ClusterNotFoundError`` for an unknown cluster.
    """

    # ------------------------------------------------------------------ changes

    async def create_or_update(
        self,
        config: TopicConfig,
        *,
        broker: str | None = None,
        cluster: str | None = None,
        default_topic: str = DEFAULT_TOPIC,
    ) -> tuple[str, ...]:
        """Create or update a topic (code 17).

        Returns the addresses of the brokers. The brokers register it at the name servers soon.
        Attributes are added or changed; ``-name`` removes one.
        Java: ``DefaultMQAdminExt.createAndUpdateTopicConfig``.

        Raises:
            BrokerError: 29, the name is invalid or reserved; 1, an attribute is invalid.
        """
        header = create_header(config, default_topic)
        return await self.change(broker, cluster, Code.UPDATE_AND_CREATE_TOPIC, header)

    async def create_or_update_all(
        self,
        configs: Sequence[TopicConfig],
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Create or change several topics in one request (code 18); returns the addresses.

        Java: ``createAndUpdateTopicConfigList``.  Brokers before 5.3.0 respond 3.
        """
        changes = tuple(
            replace(config, attributes=attribute_changes(config.attributes)) for config in configs
        )
        body = CreateTopicListRequestBody(topic_config_list=changes)
        header = CreateTopicListRequestHeader()
        return await self.change(broker, cluster, Code.UPDATE_AND_CREATE_TOPIC_LIST, header, body)

    async def update_perm(
        self, topic: str, perm: int, *, broker: str | None = None, cluster: str | None = None
    ) -> dict[str, int]:
        """Change only the permission of a topic, bits of ``rocketwire.flags.Perm``.

        Returns the previous permissions by address.

        With ``cluster``, all its masters must have the topic.
        Java: ``UpdateTopicPermSubCommand``.

        Raises:
            BrokerError: 17, a broker does not have the topic.
        """
        addresses = await self._clusters.targets(broker, cluster)
        configs = await call_each(addresses, lambda address: self.config(address, topic))
        for address, config in configs.items():
            changed = replace(config, perm=perm, attributes={}, mapping_detail=None)
            await self.create_or_update(changed, broker=address)
        return {address: config.perm for address, config in configs.items()}

    async def delete(self, topic: str, cluster: str) -> None:
        """Delete a topic and its order in a cluster and all name servers (codes 215, 216, 102).

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
        """Delete a topic from a broker (code 215; Java: ``deleteTopicInBroker``).

        Its route stays.
        """
        await self.ask(address, Code.DELETE_TOPIC_IN_BROKER, DeleteTopicRequestHeader(topic=topic))

    async def delete_in_name_servers(self, topic: str, cluster: str | None = None) -> None:
        """Delete a topic's route at every name server (code 216).

        A broker that has the topic registers it again.

        Without ``cluster``, the routes of all clusters are deleted.
        Java: ``deleteTopicInNameServer``.
        """
        for server in self.client.name_servers.each():
            await server.delete_topic(topic, cluster)

    # ------------------------------------------------------------------ queries

    async def config(self, address: str, topic: str) -> TopicConfigAndQueueMapping:
        """Fetch the configuration of a topic from a broker, with its static mapping (code 351).

        Java: ``examineTopicConfig``.

        Raises:
            BrokerError: 17, the broker does not have it.
        """
        header = GetTopicConfigRequestHeader(topic=topic, lo=True)  # or the mapping is left out
        return await self.fetch(TopicConfigAndQueueMapping, address, Code.GET_TOPIC_CONFIG, header)

    async def configs(
        self, address: str, *, page_size: int = PAGE_SIZE
    ) -> Mapping[str, TopicConfig]:
        """Fetch all topics of a broker, by name, in pages (code 21).

        Java: ``getAllTopicConfig``.
        """

        async def ask(start: int, version: str) -> Page[TopicConfig]:
            header = GetAllTopicConfigRequestHeader(
                topic_seq=start, max_topic_num=page_size, data_version=version
            )
            answer = await self.ask(address, Code.GET_ALL_TOPIC_CONFIG, header)
            body = answer.require_body()
            return Page(
                body.topic_config_table or {}, answer.header.total_topic_num, body.data_version
            )

        return (await all_pages(ask)).entries

    async def names(self, cluster: str | None = None) -> tuple[str, ...]:
        """Fetch the names of all topics, or of a cluster's (codes 206, 224).

        Java: ``fetchAllTopicList``, ``fetchTopicsByCLuster``.
        """
        servers = self.client.name_servers
        topic_list = await (
            servers.all_topics() if cluster is None else servers.topics_of_cluster(cluster)
        )
        return tuple(name for name in topic_list.topic_list or () if name is not None)

    async def system_names(self, address: str) -> tuple[str, ...]:
        """Fetch the system topics of a broker (code 305).

        Java: ``getSystemTopicListFromBroker``.
        """
        topics = await self.fetch(TopicList, address, Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return tuple(name for name in topics.topic_list or () if name is not None)

    async def stats(self, topic: str, *, by: str | None = None) -> TopicStatsTable:
        """Fetch the offsets of all queues of a topic, from all its brokers (code 202).

        The queues are those of the brokers; for a static topic see ``StaticTopics.stats``.
        Java: ``examineTopicStats``.

        Args:
            by: see ``Clusters.of_topic``.

        Raises:
            TopicRouteNotFoundError: no broker has the topic.
        """
        places = await self._clusters.of_topic(topic, by=by)
        stats_by_address = await read_from_each(
            places.values(), lambda address: self.stats_of(address, topic)
        )
        return TopicStatsTable(
            offset_table={
                q: o
                for stats in stats_by_address.values()
                for q, o in (stats.offset_table or {}).items()
            },
            topic_put_tps=sum(stats.topic_put_tps for stats in stats_by_address.values()),
        )

    async def stats_of(self, address: str, topic: str) -> TopicStatsTable:
        """Fetch the offsets of a broker's queues of a topic (code 202).

        Raises:
            BrokerError: 17, the broker does not have the topic.
        """
        header = GetTopicStatsInfoRequestHeader(topic=topic)
        return await self.fetch(TopicStatsTable, address, Code.GET_TOPIC_STATS_INFO, header)

    async def consumer_groups(self, topic: str) -> tuple[str, ...]:
        """Fetch the groups of a topic, from all its brokers (code 300).

        Java: ``queryTopicConsumeByWho``, which asks one.

        Raises:
            TopicRouteNotFoundError: no broker has the topic.
        """
        header = QueryTopicConsumeByWhoRequestHeader(topic=topic)
        places = await self._clusters.of_topic(topic)
        group_lists = await read_from_each(
            places.values(),
            lambda address: self.fetch(GroupList, address, Code.QUERY_TOPIC_CONSUME_BY_WHO, header),
        )
        groups = (group for groups in group_lists.values() for group in groups.group_list or ())
        return tuple(dict.fromkeys(groups))

    # ------------------------------------------------------------------ ordered topics

    async def order_conf(self, topic: str) -> str | None:
        """``broker:queues;...`` of an ordered topic (code 101); None if it is not ordered."""
        return await self.client.name_servers.kv_value(ORDER_TOPIC_CONFIG, topic)

    async def put_order_conf(self, topic: str, text: str, *, whole: bool = True) -> str:
        """Set the queues of an ordered topic at every name server (code 100).

        Returns the new value. Java: ``createOrUpdateOrderConf``.

        Args:
            text: ``broker:queues``, separated by ``;``.
            whole: replace the whole value; if False, only the brokers in ``text``.

        Raises:
            LocalProtocolError: the text is invalid.
        """
        current = None if whole else await self.order_conf(topic)
        value = merge_order_conf(current, text)
        for server in self.client.name_servers.each():
            await server.put_kv(ORDER_TOPIC_CONFIG, topic, value)
        return value

    async def delete_order_conf(self, topic: str) -> None:
        """Delete the order of a topic (code 102)."""
        for server in self.client.name_servers.each():
            await server.delete_kv(ORDER_TOPIC_CONFIG, topic)


class TopicCalls(ClusterCalls):
    """Requests that need those for topics."""

    def __init__(self, client: ClientInstance, within: float) -> None:
        """Send nothing yet."""
        super().__init__(client, within)
        self._topics = Topics(client, within)


def create_header(
    config: TopicConfig, default_topic: str = DEFAULT_TOPIC, *, force: bool | None = None
) -> CreateTopicRequestHeader:
    """Build the header to create or change a topic (codes 17, 513).

    Raises:
        LocalProtocolError: the topic has no name.
    """
    if not config.topic_name:
        raise LocalProtocolError("the topic has no name")
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
