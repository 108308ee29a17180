"""Addresses of brokers by cluster, broker group and topic, fetched from the name servers each time.

Java: ``DefaultMQAdminExtImpl``, ``CommandUtil``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from rocketwire.client.admin.changes import Change, change_each
from rocketwire.client.admin.fanout import AdminCalls, call_each
from rocketwire.client.instance.routes import select_address
from rocketwire.errors import BrokerNotFoundError, ClusterNotFoundError, LocalProtocolError
from rocketwire.policy.resource_names import has_own_route
from rocketwire.policy.routing import MASTER_ID

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.route import BrokerData, ClusterInfo, TopicRouteData

T = TypeVar("T")


class Clusters(AdminCalls):
    """Requests for clusters and the addresses of their brokers.

    ``ClusterNotFoundError``: the cluster does not exist. For other errors see ``NameServers.call``.
    """

    async def info(self) -> ClusterInfo:
        """Fetch all broker groups and clusters (code 106; Java: ``examineBrokerClusterInfo``)."""
        return await self.client.name_servers.cluster_info()

    async def route(self, topic: str) -> TopicRouteData:
        """Fetch the route of a topic (code 105; Java: ``examineTopicRouteInfo``)."""
        route = await self.client.name_servers.route(topic)
        self.client.set_route(topic, route)
        return route

    async def masters(self, cluster: str | None = None) -> tuple[str, ...]:
        """Return the masters of a cluster, or of all (Java: ``fetchMasterAddrByClusterName``)."""
        groups = _groups(await self.info(), cluster)
        addresses = tuple(
            group.broker_addrs[MASTER_ID]
            for group in groups
            if has_master(group) and group.broker_addrs
        )
        if not addresses and cluster is not None:
            raise ClusterNotFoundError(cluster)
        return addresses

    async def replicas(self, cluster: str | None = None) -> tuple[str, ...]:
        """Return masters and slaves of a cluster, or of all.

        Java: ``fetchMasterAndSlaveAddrByClusterName``.
        """
        groups = _groups(await self.info(), cluster)
        addresses = tuple(
            address for group in groups for address in (group.broker_addrs or {}).values()
        )
        if not addresses and cluster is not None:
            raise ClusterNotFoundError(cluster)
        return addresses

    async def targets(
        self, broker: str | None, cluster: str | None, *, slaves: bool = False
    ) -> tuple[str, ...]:
        """Return the addresses for ``broker`` or ``cluster``, mqadmin's ``-b`` and ``-c``.

        The masters of the cluster, and with ``slaves`` its slaves too; ``LocalProtocolError``
        unless one of both is given.
        """
        if (broker is None) == (cluster is None):
            raise LocalProtocolError("give either broker or cluster")
        if broker is not None:
            return (broker,)
        return await (self.replicas(cluster) if slaves else self.masters(cluster))

    async def broker_names(self, cluster: str) -> tuple[str, ...]:
        """Return a cluster's broker groups (Java: ``CommandUtil.fetchBrokerNameByClusterName``)."""
        table = (await self.info()).cluster_addr_table or {}
        names = tuple(name for name in table.get(cluster, ()) if name is not None)
        if not names:
            raise ClusterNotFoundError(cluster)
        return names

    async def broker_name(self, address: str) -> str:
        """Return the broker group of an address (Java: ``CommandUtil.fetchBrokerNameByAddr``).

        Raises:
            BrokerNotFoundError: no broker has that address.
        """
        for name, group in ((await self.info()).broker_addr_table or {}).items():
            if address in (group.broker_addrs or {}).values():
                return name
        raise BrokerNotFoundError(address)

    async def master(self, broker_name: str) -> str:
        """Return the address of a broker group's master; ``BrokerNotFoundError`` without one."""
        group = ((await self.info()).broker_addr_table or {}).get(broker_name)
        if group is None or not has_master(group) or not group.broker_addrs:
            raise BrokerNotFoundError(broker_name)
        return group.broker_addrs[MASTER_ID]

    async def of_topic(self, topic: str, *, by: str | None = None) -> dict[str, str]:
        """Return an address of each broker group of a topic: its master, or a slave without master.

        Args:
            by: topic whose route is used if ``topic`` has none, as queues of lite topics
                (``%LMQ%...``) and timers of brokers: the parent topic, or a cluster name, which is
                a topic too (mqadmin's ``-c``).

        Raises:
            TopicRouteNotFoundError: no broker has the topic.
        """
        addresses: dict[str, str] = {}
        routed = topic if by is None or has_own_route(topic) else by
        for group in (await self.route(routed)).broker_datas or ():
            address = select_address(group)
            if address is not None:
                addresses[group.broker_name or ""] = address
        return addresses

    async def of_topics(self, topic: str) -> tuple[str, ...]:
        """Return a topic's clusters (Java: ``getTopicClusterList``, which uses one broker only)."""
        names = {group.broker_name for group in (await self.route(topic)).broker_datas or ()}
        table = (await self.info()).cluster_addr_table or {}
        return tuple(cluster for cluster, brokers in table.items() if names.intersection(brokers))


class ClusterCalls(AdminCalls):
    """Requests to the brokers of a cluster or topic."""

    def __init__(self, client: ClientInstance, within: float) -> None:
        super().__init__(client, within)
        self._clusters = Clusters(client, within)

    async def change(
        self,
        broker: str | None,
        cluster: str | None,
        code: int,
        header: object | None = None,
        body: object | None = None,
    ) -> tuple[str, ...]:
        """Send a request to ``broker`` or all masters of ``cluster``; returns their addresses."""
        addresses = await self._clusters.targets(broker, cluster)
        await call_each(addresses, lambda address: self.ask(address, code, header, body))
        return addresses

    async def _change_each(
        self,
        read: Callable[[str], Awaitable[Mapping[str, T]]],
        edits: Mapping[str, Callable[[T | None], T | None]],
        write: Callable[[str, Sequence[Change[T]]], Awaitable[object]],
        *,
        broker: str | None = None,
        cluster: str | None = None,
        check: Callable[[Sequence[Change[T]]], Awaitable[None]] | None = None,
        dry_run: bool = False,
    ) -> list[Change[T]]:
        addresses = await self._clusters.targets(broker, cluster)
        return await change_each(addresses, read, edits, write, check=check, dry_run=dry_run)


def has_master(group: BrokerData) -> bool:
    return MASTER_ID in (group.broker_addrs or {})


def _groups(info: ClusterInfo, cluster: str | None) -> Iterator[BrokerData]:
    table = info.broker_addr_table or {}
    if cluster is None:
        yield from table.values()
        return
    for name in (info.cluster_addr_table or {}).get(cluster, ()):
        if name is not None and name in table:
            yield table[name]
