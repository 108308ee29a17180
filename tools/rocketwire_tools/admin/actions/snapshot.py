"""All that one name server tells of clusters, brokers, topics and routes, and what two of them tell differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import RocketWireError, TopicRouteNotFoundError
from rocketwire.messages.route import ClusterInfo

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rocketwire.client.net.nameservers import SingleNameServer
    from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
    from rocketwire_tools.admin.command import Value

AT_ONCE: Final = 16
"""Routes that are asked for at the same time."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a name server told.

    Attributes:
        address: of the server.
        version: of the protocol, that its answers carry.
        clusters: names of broker groups by cluster.
        brokers: broker groups by name.
        routes: by topic; None where a topic is listed and has no route.
    """

    address: str
    version: int
    clusters: Mapping[str, tuple[str, ...]]
    brokers: Mapping[str, BrokerData]
    routes: Mapping[str, TopicRouteData | None]


async def take_snapshot(
    server: SingleNameServer, topics: Collection[str] | None = None
) -> Snapshot:
    """Ask for everything.

    Args:
        server: whom.
        topics: those whose routes are wanted; None for all.

    Raises:
        NameServerError, ChannelError, DecodeError: as of ``NameServerCalls.call``.
    """
    answer = await server.call(RequestCode.GET_BROKER_CLUSTER_INFO)
    told: ClusterInfo = answer.body or ClusterInfo()
    if topics is None:
        topics = {one for one in (await server.all_topics()).topic_list or () if one}
    routes: dict[str, TopicRouteData | None] = {}
    failures: list[RocketWireError] = []
    limit = trio.CapacityLimiter(AT_ONCE)

    async def ask(topic: str) -> None:
        async with limit:
            try:
                routes[topic] = await server.route(topic)
            except TopicRouteNotFoundError:
                routes[topic] = None
            except RocketWireError as error:
                failures.append(error)
                nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for topic in topics:
            nursery.start_soon(ask, topic)
    if failures:
        raise failures[0]
    clusters = told.cluster_addr_table or {}
    return Snapshot(
        address=server.address,
        version=answer.command.version,
        clusters={name: tuple(sorted(filter(None, all_))) for name, all_ in clusters.items()},
        brokers=dict(told.broker_addr_table or {}),
        routes=dict(sorted(routes.items())),
    )


class Difference(NamedTuple):
    """What two name servers answer differently; None where one of them does not know it at all."""

    kind: str
    name: str
    first: Value
    second: Value


def differences(first: Snapshot, second: Snapshot) -> list[Difference]:
    """What they tell differently, in the order of clusters, brokers, topics and routes.

    A topic that only one of them has is one difference, and so is a broker group; what follows from it is not told as well.
    """
    found: list[Difference] = []
    one, other = dict(_facts(first)), dict(_facts(second))
    missing = {key[1] for key in one.keys() ^ other.keys() if key[0] == "topic"}
    for key in sorted(one.keys() | other.keys(), key=_order):
        kind, name = key
        if kind == "route" and name.rpartition("@")[0] in missing:
            continue
        if one.get(key) != other.get(key):
            found.append(Difference(kind, name, one.get(key), other.get(key)))
    return found


_KINDS: Final = ("cluster", "broker", "topic", "route")


def _order(key: tuple[str, str]) -> tuple[int, str]:
    return _KINDS.index(key[0]), key[1]


def _facts(snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], Value]]:
    """By kind and name."""
    for name, brokers in snapshot.clusters.items():
        yield ("cluster", name), list(brokers)
    for name, broker in snapshot.brokers.items():
        yield ("broker", name), _broker(broker)
    for topic, route in snapshot.routes.items():
        if route is None:
            continue
        yield ("topic", topic), "known"
        for queues in route.queue_datas or ():
            yield ("route", f"{topic}@{queues.broker_name}"), _queues(queues)
        if route.order_topic_conf:
            yield ("route", f"{topic}@order"), route.order_topic_conf


def _broker(broker: BrokerData) -> Value:
    addresses = {str(id_): at for id_, at in sorted((broker.broker_addrs or {}).items())}
    told: dict[str, Value] = {"cluster": broker.cluster, "addresses": addresses}
    if broker.enable_acting_master:
        told["enableActingMaster"] = True
    if broker.zone_name:
        told["zoneName"] = broker.zone_name
    return told


def _queues(queues: QueueData) -> Value:
    return {
        "read": queues.read_queue_nums,
        "write": queues.write_queue_nums,
        "perm": queues.perm,
        "sysFlag": queues.topic_sys_flag,
    }
