"""Topics: create, change, delete, list, their statistics and their order.

Java: ``DefaultMQAdminExtImpl``, ``UpdateTopicSubCommand``, ``DeleteTopicSubCommand``,
``UpdateOrderConfCommand``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.changes import (
    Change,
    Edit,
    Target,
    change_each,
    delete_value,
    name_target,
    replace_config,
    start_from,
    with_attribute_changes,
)
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import (
    PAGE_SIZE,
    Page,
    all_pages,
    call_each,
    merge_tables,
    read_from_each,
)
from rocketwire.client.admin.name_servers import NameServerUpkeep
from rocketwire.client.net.nameserver_api import ORDER_TOPIC_CONFIG
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    LocalProtocolError,
    TopicRouteNotFoundError,
    UnreadableMessagesError,
)
from rocketwire.messages.enums import TopicFilterType
from rocketwire.messages.groups import GroupList, QueryTopicConsumeByWhoRequestHeader
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import TopicList
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.messages.topics import (
    CreateTopicListRequestBody,
    CreateTopicListRequestHeader,
    CreateTopicRequestHeader,
    DeleteTopicRequestHeader,
    GetAllTopicConfigRequestHeader,
    GetTopicConfigRequestHeader,
    GetTopicStatsInfoRequestHeader,
    TopicConfigAndQueueMapping,
    TopicOffset,
    TopicStatsTable,
)
from rocketwire.policy.order_conf import merge_order_conf
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.policy.topic_attributes import attribute_changes

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.net.broker_api import BrokerCalls

_LOG: Final = logging.getLogger("rocketwire.admin")

MAX_UNROUTED: Final = 1_024  # queue ids outside of a route that are looked at
_FIELDS: Final = fields(TopicConfig)


class Topics(ClusterCalls):
    """Requests for topics; ``TopicRouteNotFoundError``: no broker has the topic.

    Methods with ``broker`` and ``cluster`` need exactly one of them: the address of a broker,
    or the name of a cluster, for all its masters; ``LocalProtocolError`` otherwise,
    ``ClusterNotFoundError`` for an unknown cluster.
    """

    def __init__(self, client: ClientInstance, within: float) -> None:
        super().__init__(client, within)
        self._name_servers = NameServerUpkeep(client, within)

    # ------------------------------------------------------------------ changes

    async def create_or_update(
        self,
        config: TopicConfig,
        *,
        broker: str | None = None,
        cluster: str | None = None,
        force: bool = False,
    ) -> tuple[str, ...]:
        """Create a topic, or replace its whole configuration (code 17); returns the addresses.

        Values that you leave out become the defaults of ``TopicConfig``: to change a topic use
        ``update``. Only attributes are changed one by one; ``-name`` removes one. The brokers
        register the topic at the name servers soon. For ``force`` see ``update``.
        Java: ``DefaultMQAdminExt.createAndUpdateTopicConfig``.

        Raises:
            BrokerError: 29, the name is invalid or reserved; 1, an attribute is invalid.
            UnreadableMessagesError: see ``update``.
        """
        edits = {config.topic_name or "": partial(replace_config, config)}
        changes = await self.update(
            edits, new=TopicConfig(), broker=broker, cluster=cluster, force=force
        )
        return tuple(change.address for change in changes)

    @name_target
    async def update(
        self,
        edits: Mapping[str, Edit[TopicConfig]],
        *,
        new: TopicConfig | None = None,
        force: bool = False,
        **target: Unpack[Target],
    ) -> list[Change[TopicConfig]]:
        """Change topics and keep all values that ``edits`` keep (codes 351, 17; 18 for several).

        For example ``update({"orders": lambda topic: replace(topic, perm=4)}, cluster="c")``.
        Brokers before 5.3.0 respond 3 to code 18. Returns the configuration of each broker and
        topic before and after.

        Args:
            edits: by topic, what returns the new configuration for that of a broker.
            new: what an edit gets of a broker without the topic; None: each must have it.
            force: also give a topic fewer queues than hold messages.

        Raises:
            BrokerError: 17, a broker does not have the topic; 29, the name is invalid or reserved.
            UnreadableMessagesError: messages would be in queues that consumers no longer read.
        """
        if not all(edits):
            raise LocalProtocolError("the topic has no name")

        async def read(address: str) -> dict[str, TopicConfig]:
            found = {name: await self._find(address, name, new is None) for name in edits}
            return {name: config for name, config in found.items() if config is not None}

        return await self._change_each(
            read,
            start_from(edits, lambda name: replace(new or TopicConfig(), topic_name=name)),
            self._write,
            check=partial(self._check_queues, force=force),
            **target,
        )

    async def _find(self, address: str, topic: str, is_required: bool) -> TopicConfig | None:
        try:
            config = await self.config(address, topic)
            return TopicConfig(**{each.name: getattr(config, each.name) for each in _FIELDS})
        except BrokerError as error:
            if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:  # before 5.0
                found = (await self.configs(address)).get(topic)
            elif error.code == ResponseCode.TOPIC_NOT_EXIST:
                found = None
            else:
                raise
            if found is None and is_required:
                raise
            return found

    async def _write(self, address: str, changes: Sequence[Change[TopicConfig]]) -> None:
        configs = with_attribute_changes(changes)
        if len(configs) == 1:
            await self.ask(address, Code.UPDATE_AND_CREATE_TOPIC, create_header(configs[0]))
            return
        # A broker changes none of them if one is equal to its own.
        body = CreateTopicListRequestBody(topic_config_list=configs)
        header = CreateTopicListRequestHeader()
        await self.ask(address, Code.UPDATE_AND_CREATE_TOPIC_LIST, header, body)

    async def _check_queues(self, changes: Sequence[Change[TopicConfig]], *, force: bool) -> None:
        # raise, or with force log, if messages are in queues that leave the route
        for address, topic, before, after in changes:
            if before is None or after is None or after.read_queue_nums >= before.read_queue_nums:
                continue
            stats = (await self.stats_of(address, topic)).offset_table or {}
            counts = {
                queue.queue_id: offsets.max_offset - offsets.min_offset
                for queue, offsets in stats.items()
                if queue.queue_id >= after.read_queue_nums
            }
            error = UnreadableMessagesError(address, topic, after.read_queue_nums, counts)
            if error.messages and not force:
                raise error
            if error.messages:
                _LOG.warning("%s", error)

    async def unrouted_queues(self, topic: str) -> dict[MessageQueue, TopicOffset]:
        """Return the queues of a topic that hold messages and are not in its route (codes 30, 31).

        A topic has such queues after its number of queues was reduced: no consumer reads them.
        See ``find_unrouted_queues``.
        """
        names = {a: name for name, a in (await self._clusters.of_topic(topic)).items()}
        sizes = {
            queues.broker_name or "": queues.read_queue_nums
            for queues in (await self._clusters.route(topic)).queue_datas or ()
        }
        found = await read_from_each(
            [address for address, name in names.items() if name in sizes],
            lambda address: find_unrouted_queues(
                self.client.brokers, address, topic, names[address], sizes[names[address]]
            ),
        )
        return merge_tables(found.values())

    async def delete(
        self, topic: str, cluster: str, *, dry_run: bool = False
    ) -> list[Change[TopicConfig]]:
        """Delete a topic and its order in a cluster and all name servers (codes 215, 216, 102).

        Returns the configuration of each broker that had it. Java: ``deleteTopic``.

        Raises:
            ClusterNotFoundError: there is no such cluster.
            TopicRouteNotFoundError: neither a broker nor a name server has the topic.
        """

        async def read(address: str) -> dict[str, TopicConfig]:
            found = await self._find(address, topic, is_required=False)
            return {} if found is None else {topic: found}

        async def write(address: str, _: object) -> None:
            await self.delete_in_broker(address, topic)

        brokers = await self._clusters.replicas(cluster)
        changes = await change_each(brokers, read, {topic: delete_value}, write, dry_run=dry_run)
        if all(change.before is None for change in changes) and topic not in await self.names():
            raise TopicRouteNotFoundError(topic)
        if not dry_run:
            await self.delete_in_name_servers(topic, cluster)
            await self.delete_order_conf(topic)
        return changes

    async def delete_in_broker(self, address: str, topic: str) -> None:
        """Delete a topic, but not its route, from a broker (215; Java: ``deleteTopicInBroker``)."""
        await self.ask(address, Code.DELETE_TOPIC_IN_BROKER, DeleteTopicRequestHeader(topic=topic))

    async def delete_in_name_servers(self, topic: str, cluster: str | None = None) -> None:
        """Delete a topic's route, of one cluster or all, at every name server (code 216).

        A broker that has the topic registers it again. Java: ``deleteTopicInNameServer``.
        """
        for server in self.client.name_servers.each():
            await server.delete_topic(topic, cluster)

    # ------------------------------------------------------------------ queries

    async def config(self, address: str, topic: str) -> TopicConfigAndQueueMapping:
        """Fetch the configuration of a topic from a broker, with its static mapping (code 351).

        ``BrokerError`` 17: the broker does not have it. Java: ``examineTopicConfig``.
        """
        header = GetTopicConfigRequestHeader(topic=topic, lo=True)  # or the mapping is left out
        return await self.fetch(TopicConfigAndQueueMapping, address, Code.GET_TOPIC_CONFIG, header)

    async def configs(
        self, address: str, *, page_size: int = PAGE_SIZE
    ) -> Mapping[str, TopicConfig]:
        """Fetch a broker's topics by name, in pages (code 21; Java: ``getAllTopicConfig``)."""

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
        """Fetch a broker's system topics (code 305; Java: ``getSystemTopicListFromBroker``)."""
        topics = await self.fetch(TopicList, address, Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return tuple(name for name in topics.topic_list or () if name is not None)

    async def stats(self, topic: str, *, by: str | None = None) -> TopicStatsTable:
        """Fetch the offsets of all queues of a topic, from all its brokers (code 202).

        The queues are those of the brokers; for a static topic see ``StaticTopics.stats``.
        Java: ``examineTopicStats``.
        """
        addresses = await self._clusters.of_topic(topic, by=by)
        stats_by_address = await read_from_each(
            addresses.values(), lambda address: self.stats_of(address, topic)
        )
        return TopicStatsTable(
            offset_table=merge_tables(stats.offset_table for stats in stats_by_address.values()),
            topic_put_tps=sum(stats.topic_put_tps for stats in stats_by_address.values()),
        )

    async def stats_of(self, address: str, topic: str) -> TopicStatsTable:
        """Fetch the offsets of a broker's queues of a topic (code 202).

        ``BrokerError`` 17: the broker does not have the topic.
        """
        header = GetTopicStatsInfoRequestHeader(topic=topic)
        return await self.fetch(TopicStatsTable, address, Code.GET_TOPIC_STATS_INFO, header)

    async def consumer_groups(self, topic: str) -> tuple[str, ...]:
        """Fetch the groups of a topic, from all its brokers (code 300).

        Java: ``queryTopicConsumeByWho``, which asks one.
        """
        header = QueryTopicConsumeByWhoRequestHeader(topic=topic)
        addresses = await self._clusters.of_topic(topic)
        group_lists = await read_from_each(
            addresses.values(),
            lambda address: self.fetch(GroupList, address, Code.QUERY_TOPIC_CONSUME_BY_WHO, header),
        )
        groups = (group for groups in group_lists.values() for group in groups.group_list or ())
        return tuple(dict.fromkeys(groups))

    # ------------------------------------------------------------------ ordered topics

    async def order_conf(self, topic: str) -> str | None:
        """``broker:queues;...`` of an ordered topic (code 101); None if it is not ordered."""
        return await self.client.name_servers.kv_value(ORDER_TOPIC_CONFIG, topic)

    async def put_order_conf(
        self, topic: str, text: str, *, whole: bool = True, dry_run: bool = False
    ) -> list[Change[str]]:
        """Set the queues of an ordered topic at every name server (codes 101, 100).

        ``text`` is ``broker:queues``, separated by ``;``; unless ``whole``, only its brokers
        change. ``LocalProtocolError``: the text is invalid. Java: ``createOrUpdateOrderConf``.
        """
        return await self._name_servers.change_kv(
            ORDER_TOPIC_CONFIG,
            topic,
            lambda present: merge_order_conf(None if whole else present, text),
            dry_run=dry_run,
        )

    async def delete_order_conf(self, topic: str, *, dry_run: bool = False) -> list[Change[str]]:
        """Delete the order of a topic (codes 101, 102)."""
        return await self._name_servers.change_kv(
            ORDER_TOPIC_CONFIG, topic, delete_value, dry_run=dry_run
        )


class TopicCalls(ClusterCalls):
    def __init__(self, client: ClientInstance, within: float) -> None:
        super().__init__(client, within)
        self._topics = Topics(client, within)


async def find_unrouted_queues(
    brokers: BrokerCalls, address: str, topic: str, broker_name: str, read_queue_nums: int
) -> dict[MessageQueue, TopicOffset]:
    # No request lists queues with ids outside of the route. This asks for as many ids as the route
    # has, and for twice as many again while one of them holds messages (codes 30, 31).
    found: dict[MessageQueue, TopicOffset] = {}
    first, count = read_queue_nums, max(read_queue_nums, 1)
    last = first + MAX_UNROUTED
    while first < last:
        queues = [
            MessageQueue(topic=topic, broker_name=broker_name, queue_id=queue_id)
            for queue_id in range(first, min(first + count, last))
        ]
        ends = await call_each(queues, lambda queue: brokers.max_offset(address, queue))
        used = [queue for queue in queues if ends[queue]]
        starts = await call_each(used, lambda queue: brokers.min_offset(address, queue))
        found |= {
            queue: TopicOffset(min_offset=starts[queue], max_offset=ends[queue])
            for queue in used
            if starts[queue] < ends[queue]
        }
        first, count = first + count, 2 * count
        if not used:
            break
    return found


def create_header(config: TopicConfig, *, force: bool = False) -> CreateTopicRequestHeader:
    changes = attribute_changes(config.attributes)
    return CreateTopicRequestHeader(
        topic=config.topic_name,
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=config.read_queue_nums,
        write_queue_nums=config.write_queue_nums,
        perm=config.perm,
        topic_filter_type=str(config.topic_filter_type or TopicFilterType.SINGLE_TAG),
        topic_sys_flag=config.topic_sys_flag,
        order=config.order,
        attributes=",".join(f"{k}={v}" if v else k for k, v in changes.items()),
        force=force,
    )
