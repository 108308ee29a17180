"""Views: responses that are read from the tables, encoded.

Rules of this file: nothing here changes a table.  A route response is encoded once per queue layout
and dialect and kept there; lists are kept until the table's revision changes. Responses that depend
on the request or the topic (zones, ordered topics, static mappings) are encoded each time.

Java: the reading methods of ``RouteInfoManager``, ``ClientRequestProcessor``, ``ZoneRouteRPCHook``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from rocketwire.flags import Perm, TopicSysFlag
from rocketwire.messages import encode_body
from rocketwire.messages.route import (
    BrokerData,
    BrokerMemberGroup,
    ClusterInfo,
    GetBrokerMemberGroupResponseBody,
    TopicList,
    TopicRouteData,
)
from rocketwire_namesrv.routes.brokers import MASTER_ID, BrokerGroup
from rocketwire_namesrv.routes.java_hashmap import (
    HashMap,
    concurrent_order,
    hash_order,
    set_copy_capacity,
)
from rocketwire_namesrv.routes.queue_layouts import EncodedRoute, QueueLayout

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.route_table import RouteTable

SYNC_BROKER_MEMBER_TOPIC_PREFIX = "rmq_sys_SYNC_BROKER_MEMBER_"
"""Brokers look up their own group under topics of this prefix, without an acting master."""

K = TypeVar("K", bound="str | int")
V = TypeVar("V")


class Views:
    def __init__(self, table: RouteTable, *, support_acting_master: bool = False) -> None:
        self._table = table
        #: show the smallest slave of a group without a master as its master (supportActingMaster).
        #: Call ``table.topics.layouts.forget_all`` after a change.
        self.support_acting_master = support_acting_master
        self._kept: dict[str, tuple[int, bytes]] = {}

    # ---------------------------------------- the route of one topic

    def route(
        self, topic: str, *, standard: bool, order_topic_conf: str | None = None
    ) -> bytes | None:
        """Return the route of a topic as ``TopicRouteData``; None if the topic is unknown."""
        layout = self._table.topics.entries.get(topic)
        if layout is None:
            return None
        if order_topic_conf is not None or self._has_own_answer(topic):
            route = self._build_route(topic, layout, order_topic_conf)
            return encode_body(route, standard=standard)
        kept = layout.standard if standard else layout.dialect
        if kept is None:
            route = self._route(layout, self.support_acting_master)
            kept = EncodedRoute(encode_body(route, standard=standard))
            if standard:
                layout.standard = kept
            else:
                layout.dialect = kept
        return kept.body

    def route_in_zone(
        self, topic: str, zone: str, order_topic_conf: str | None = None, *, standard: bool
    ) -> bytes | None:
        """Return the part of a route that a zone sees: groups of the zone or without a master.

        It is always in the dialect. ``standard`` is the form of the whole route: Java writes the
        whole, reads it again and filters it, which determines the order of the maps.
        """
        layout = self._table.topics.entries.get(topic)
        if layout is None:
            return None
        route = self._build_route(topic, layout, order_topic_conf)
        dropped = {
            data.broker_name: data for data in route.broker_datas or () if not _in_zone(data, zone)
        }
        addresses = {
            address for data in dropped.values() for address in (data.broker_addrs or {}).values()
        }
        filtered = replace(
            route,
            broker_datas=tuple(
                replace(data, broker_addrs=_read_again(data.broker_addrs or {}, standard))
                for data in route.broker_datas or ()
                if data.broker_name not in dropped
            ),
            queue_datas=tuple(
                queue for queue in route.queue_datas or () if queue.broker_name not in dropped
            ),
            filter_server_table={
                address: servers
                for address, servers in _read_again(
                    route.filter_server_table or {}, standard
                ).items()
                if address not in addresses
            },
            topic_queue_mapping_by_broker=(
                None
                if route.topic_queue_mapping_by_broker is None
                else _read_again(route.topic_queue_mapping_by_broker, standard)
            ),
        )
        return encode_body(filtered)

    def _has_own_answer(self, topic: str) -> bool:
        return topic in self._table.topics.mappings or (
            self.support_acting_master and topic.startswith(SYNC_BROKER_MEMBER_TOPIC_PREFIX)
        )

    def _build_route(
        self, topic: str, layout: QueueLayout, order_topic_conf: str | None
    ) -> TopicRouteData:
        acting = self.support_acting_master and not topic.startswith(
            SYNC_BROKER_MEMBER_TOPIC_PREFIX
        )
        mapping = self._table.topics.mappings.get(topic)
        return replace(
            self._route(layout, acting),
            order_topic_conf=order_topic_conf,
            topic_queue_mapping_by_broker=(
                None
                if mapping is None
                else {name: mapping[name] for name in mapping.in_java_order()}
            ),
        )

    def _route(self, layout: QueueLayout, acting: bool) -> TopicRouteData:
        names = [queue.broker_name or "" for queue in layout.queues]
        groups = [
            self._table.groups[name] for name in hash_order(names, set_copy_capacity(len(names)))
        ]
        return TopicRouteData(
            queue_datas=layout.queues,
            broker_datas=tuple(
                _broker_data(
                    group,
                    _acting_addresses(group, layout) if acting else group.addresses.copy_as_java(),
                )
                for group in groups
            ),
            filter_server_table=self._filter_servers(groups),
        )

    def _filter_servers(self, groups: Iterable[BrokerGroup]) -> dict[str, tuple[str, ...]]:
        by_address: HashMap[str, tuple[str, ...] | None] = HashMap()
        if self._table.filter_servers:
            for group in groups:
                addresses = group.addresses.copy_as_java()
                for number in addresses.in_java_order():
                    address = addresses[number]
                    by_address[address] = self._table.filter_servers.get((group.cluster, address))
        return {
            address: servers
            for address in by_address.in_java_order()
            if (servers := by_address[address]) is not None
        }

    # ---------------------------------------- brokers

    def cluster_info(self) -> bytes:
        return self._keep("cluster info", self._table.revision, self._cluster_info)

    def _cluster_info(self) -> bytes:
        groups, clusters = self._table.groups, self._table.clusters
        return encode_body(
            ClusterInfo(
                broker_addr_table={
                    name: _broker_data(groups[name], groups[name].addresses)
                    for name in groups.in_java_order()
                },
                cluster_addr_table={
                    cluster: tuple(clusters[cluster].in_java_order())
                    for cluster in clusters.in_java_order()
                },
            )
        )

    def member_group(self, cluster: str | None, broker_name: str | None) -> bytes:
        """Return the members of a group, whatever the cluster, as
        ``GetBrokerMemberGroupResponseBody``."""
        group = None if broker_name is None else self._table.groups.get(broker_name)
        addresses = {} if group is None else _sort_map(group.addresses.copy_as_java())
        return encode_body(
            GetBrokerMemberGroupResponseBody(
                broker_member_group=BrokerMemberGroup(
                    cluster=cluster, broker_name=broker_name, broker_addrs=addresses
                )
            )
        )

    # ---------------------------------------- lists of topics

    def all_topics(self) -> bytes:
        topics = self._table.topics
        return self._keep(
            "all topics", topics.revision, lambda: _topic_list(topics.entries.in_java_order())
        )

    def topics_of_cluster(self, cluster: str | None) -> bytes:
        """Return the topics with queues at any broker of a cluster, as ``TopicList``."""
        names = None if cluster is None else self._table.clusters.get(cluster)
        if names is None:
            return _topic_list(())
        topics = self._table.topics.entries
        ordered = topics.in_java_order()
        return _topic_list(
            topic
            for name in names.in_java_order()
            for topic in ordered
            if topics[topic].queue_of(name) is not None
        )

    def system_topics(self) -> bytes:
        """Return the names of clusters and brokers, which are topics of every broker, as
        ``TopicList``."""
        clusters, groups = self._table.clusters, self._table.groups
        names = [
            name
            for cluster in clusters.in_java_order()
            for name in (cluster, *clusters[cluster].in_java_order())
        ]
        addresses = (
            groups[name].addresses[number]
            for name in groups.in_java_order()
            for number in groups[name].addresses.in_java_order()
        )
        return _topic_list(names, next(addresses, None))

    def unit_topics(self) -> bytes:
        return self._topics_with_flag(lambda flag: bool(flag & TopicSysFlag.UNIT))

    def unit_sub_topics(self) -> bytes:
        return self._topics_with_flag(lambda flag: bool(flag & TopicSysFlag.UNIT_SUB))

    def unit_sub_ununit_topics(self) -> bytes:
        """Return topics with subscriptions of a unit that do not belong to a unit themselves
        (313), as ``TopicList``."""
        return self._topics_with_flag(
            lambda flag: bool(flag & TopicSysFlag.UNIT_SUB) and not flag & TopicSysFlag.UNIT
        )

    def _topics_with_flag(self, matches: Callable[[int], bool]) -> bytes:
        # as Java, looks at the first queue only
        topics = self._table.topics.entries
        return _topic_list(
            topic
            for topic in topics.in_java_order()
            if matches(topics[topic].queues[0].topic_sys_flag)
        )

    def _keep(self, name: str, revision: int, encode: Callable[[], bytes]) -> bytes:
        kept, body = self._kept.get(name, (-1, b""))
        if kept != revision:
            body = encode()
            self._kept[name] = (revision, body)
        return body


def _broker_data(group: BrokerGroup, addresses: HashMap[int, str]) -> BrokerData:
    return BrokerData(
        cluster=group.cluster,
        broker_name=group.name,
        broker_addrs=_sort_map(addresses),
        zone_name=group.zone_name,
        enable_acting_master=group.enable_acting_master,
    )


def _acting_addresses(group: BrokerGroup, layout: QueueLayout) -> HashMap[int, str]:
    # the smallest slave replaces a missing master
    addresses = group.addresses.copy_as_java()
    if not addresses or MASTER_ID in addresses or not group.enable_acting_master:
        return addresses
    queue = layout.queue_of(group.name)
    if queue is None or not queue.perm & Perm.WRITE:
        addresses[MASTER_ID] = addresses.pop(min(addresses))
    return addresses


def _in_zone(data: BrokerData, zone: str) -> bool:
    if MASTER_ID not in (data.broker_addrs or {}):
        return True
    return data.zone_name is not None and data.zone_name.lower() == zone.lower()


def _sort_map(entries: HashMap[K, V]) -> dict[K, V]:
    return {key: entries[key] for key in entries.in_java_order()}


def _read_again(entries: Mapping[K, V], standard: bool) -> dict[K, V]:
    """Return the entries in the order that they have after Java has written them, as standard JSON
    with sorted keys or in the dialect, and has read them again."""
    keys = sorted(entries, key=_natural) if standard else list(entries)
    result: HashMap[K, V] = HashMap()
    for key in keys:
        result[key] = entries[key]
    return _sort_map(result)


def _natural(key: str | int) -> bytes | int:
    # Java compares numbers, or UTF-16 units
    return key if isinstance(key, int) else key.encode("utf-16-be", "surrogatepass")


def _topic_list(topics: Iterable[str], broker_addr: str | None = None) -> bytes:
    ordered = concurrent_order(dict.fromkeys(topics))
    return encode_body(TopicList(topic_list=tuple(ordered), broker_addr=broker_addr))
