"""Where brokers are: addresses by cluster, by broker group and by topic, asked at the name servers each time.

Java: ``DefaultMQAdminExtImpl``, ``CommandUtil``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import Asking
from rocketwire.client.instance.routes import select_address
from rocketwire.errors import BrokerNotFoundError, ClusterNotFoundError, LocalProtocolError
from rocketwire.policy.resource_names import has_own_route
from rocketwire.policy.routing import MASTER_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.messages.route import BrokerData, ClusterInfo, TopicRouteData


class Clusters(Asking):
    """Calls about clusters and where their brokers are.

    All of them raise what ``NameServers.call`` raises.
    """

    async def info(self) -> ClusterInfo:
        """Every broker group and cluster (code 106; Java: ``examineBrokerClusterInfo``)."""
        return await self.client.name_servers.cluster_info()

    async def route(self, topic: str) -> TopicRouteData:
        """Where a topic lives, asked now (code 105; Java: ``examineTopicRouteInfo``).

        Raises:
            TopicRouteNotFoundError: nobody has it.
        """
        route = await self.client.name_servers.route(topic)
        self.client.set_route(topic, route)
        return route

    async def masters(self, cluster: str | None = None) -> tuple[str, ...]:
        """Addresses of masters, of one cluster or of all (Java: ``CommandUtil.fetchMasterAddrByClusterName``).

        Raises:
            ClusterNotFoundError: there is none of that name, or none with a master.
        """
        groups = _groups(await self.info(), cluster)
        found = tuple(
            one.broker_addrs[MASTER_ID] for one in groups if has_master(one) and one.broker_addrs
        )
        if not found and cluster is not None:
            raise ClusterNotFoundError(cluster)
        return found

    async def replicas(self, cluster: str | None = None) -> tuple[str, ...]:
        """Addresses of masters and slaves, of one cluster or of all (Java: ``fetchMasterAndSlaveAddrByClusterName``).

        Raises:
            ClusterNotFoundError: there is none of that name.
        """
        groups = _groups(await self.info(), cluster)
        found = tuple(address for one in groups for address in (one.broker_addrs or {}).values())
        if not found and cluster is not None:
            raise ClusterNotFoundError(cluster)
        return found

    async def targets(
        self, broker: str | None, cluster: str | None, *, slaves: bool = False
    ) -> tuple[str, ...]:
        """The addresses that a call is for which takes a broker or a cluster, as mqadmin's ``-b`` and ``-c``.

        Args:
            broker: ``host:port`` of one broker.
            cluster: in its place, all masters of a cluster.
            slaves: of a cluster, its slaves too.

        Raises:
            LocalProtocolError: neither is given, or both.
            ClusterNotFoundError: there is no such cluster.
        """
        if (broker is None) == (cluster is None):
            raise LocalProtocolError("either a broker's address or a cluster's name is needed")
        if broker is not None:
            return (broker,)
        return await (self.replicas(cluster) if slaves else self.masters(cluster))

    async def broker_names(self, cluster: str) -> tuple[str, ...]:
        """Names of a cluster's broker groups (Java: ``CommandUtil.fetchBrokerNameByClusterName``).

        Raises:
            ClusterNotFoundError: there is no such cluster.
        """
        table = (await self.info()).cluster_addr_table or {}
        names = tuple(name for name in table.get(cluster, ()) if name is not None)
        if not names:
            raise ClusterNotFoundError(cluster)
        return names

    async def broker_name(self, address: str) -> str:
        """The broker group of an address (Java: ``CommandUtil.fetchBrokerNameByAddr``).

        Raises:
            BrokerNotFoundError: nobody has that address.
        """
        for name, group in ((await self.info()).broker_addr_table or {}).items():
            if address in (group.broker_addrs or {}).values():
                return name
        raise BrokerNotFoundError(address)

    async def master(self, broker_name: str) -> str:
        """The address of a broker group's master.

        Raises:
            BrokerNotFoundError: there is none.
        """
        group = ((await self.info()).broker_addr_table or {}).get(broker_name)
        if group is None or not has_master(group) or not group.broker_addrs:
            raise BrokerNotFoundError(broker_name)
        return group.broker_addrs[MASTER_ID]

    async def of_topic(self, topic: str, *, by: str | None = None) -> dict[str, str]:
        """By broker group, the address to ask about a topic: its master, or a slave where there is none.

        Args:
            topic: which.
            by: the topic whose route counts where ``topic`` has none of its own, as queues of lite topics (``%LMQ%...``) and
                brokers' timers: the parent topic, or the name of a cluster, which is a topic too.  mqadmin's ``-c``.

        Raises:
            TopicRouteNotFoundError: nobody has the topic.
        """
        found: dict[str, str] = {}
        routed = topic if by is None or has_own_route(topic) else by
        for group in (await self.route(routed)).broker_datas or ():
            address = select_address(group)
            if address is not None:
                found[group.broker_name or ""] = address
        return found

    async def of_topics(self, topic: str) -> tuple[str, ...]:
        """Names of the clusters that have a topic (Java: ``getTopicClusterList``, which looks at one broker only).

        Raises:
            TopicRouteNotFoundError: nobody has it.
        """
        names = {group.broker_name for group in (await self.route(topic)).broker_datas or ()}
        table = (await self.info()).cluster_addr_table or {}
        return tuple(cluster for cluster, brokers in table.items() if names.intersection(brokers))


def has_master(group: BrokerData) -> bool:
    """Whether somebody of the group has broker id 0."""
    return MASTER_ID in (group.broker_addrs or {})


def _groups(info: ClusterInfo, cluster: str | None) -> Iterator[BrokerData]:
    """Broker groups of a cluster, in the name server's order."""
    table = info.broker_addr_table or {}
    if cluster is None:
        yield from table.values()
        return
    for name in (info.cluster_addr_table or {}).get(cluster, ()):
        if name is not None and name in table:
            yield table[name]
