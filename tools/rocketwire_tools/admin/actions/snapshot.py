"""The clusters, brokers, topics and routes of a name server, and the differences of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import NameServerError, RocketWireError, TopicRouteNotFoundError
from rocketwire.messages.route import BrokerData, ClusterInfo, QueueData, TopicRouteData
from rocketwire.policy.routing import DEFAULT_TOPIC

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rocketwire.client.net.nameservers import SingleNameServer
    from rocketwire_tools.cli.command import Value

MAX_CONCURRENT_REQUESTS: Final = 16
"""Requests to one name server, or to all brokers, at the same time."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    address: str
    version: int  # version in its responses (a value of ``MQVersion``)
    clusters: Mapping[str, tuple[str, ...]]  # names of broker groups by cluster
    brokers: Mapping[str, BrokerData]  # broker groups by name
    # routes by topic; None if a topic is listed but has no route
    routes: Mapping[str, TopicRouteData | None]
    is_waiting: bool = False  # whether it has no brokers because it returns no routes yet


async def take_snapshot(
    server: SingleNameServer, topics: Collection[str] | None = None
) -> Snapshot:
    response = await server.call(RequestCode.GET_BROKER_CLUSTER_INFO)
    cluster_info: ClusterInfo = response.body or ClusterInfo()
    if topics is None:
        topics = set(filter(None, (await server.all_topics()).topic_list or ()))
    routes: dict[str, TopicRouteData | None] = {}
    failures: list[RocketWireError] = []
    limit = trio.CapacityLimiter(MAX_CONCURRENT_REQUESTS)

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
    clusters = cluster_info.cluster_addr_table or {}
    return Snapshot(
        address=server.address,
        version=response.command.version,
        clusters={name: tuple(sorted(filter(None, all_))) for name, all_ in clusters.items()},
        brokers=dict(cluster_info.broker_addr_table or {}),
        routes=dict(sorted(routes.items())),
        is_waiting=not cluster_info.broker_addr_table and await _returns_no_routes(server),
    )


async def _returns_no_routes(server: SingleNameServer) -> bool:
    # Whether a name server waits for brokers after its start, and so has no route of any topic
    try:
        await server.route(DEFAULT_TOPIC)
    except NameServerError as error:
        return error.code == ResponseCode.SYSTEM_ERROR and "not ready" in error.remark
    except TopicRouteNotFoundError:
        return False
    return False


class Difference(NamedTuple):
    """A fact on which two name servers differ; None if one of them does not have it."""

    subject: str
    name: str
    first: Value
    second: Value


def differences(first: Snapshot, second: Snapshot) -> list[Difference]:
    """The differences of two snapshots, sorted by clusters, brokers, topics and routes.

    A topic that only one of them has is one difference; its routes are not reported in addition.
    """
    result: list[Difference] = []
    first_facts, second_facts = dict(_facts(first)), dict(_facts(second))
    missing = {key[1] for key in first_facts.keys() ^ second_facts.keys() if key[0] == "topic"}
    keys = first_facts.keys() | second_facts.keys()
    for key in sorted(keys, key=lambda key: (_SUBJECTS.index(key[0]), key[1])):
        subject, name = key
        if subject == "route" and name.rpartition("@")[0] in missing:
            continue
        if first_facts.get(key) != second_facts.get(key):
            result.append(Difference(subject, name, first_facts.get(key), second_facts.get(key)))
    return result


_SUBJECTS: Final = ("cluster", "broker", "topic", "route")


def _facts(snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], Value]]:
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
    addresses = {str(id_): address for id_, address in sorted((broker.broker_addrs or {}).items())}
    facts: dict[str, Value] = {"cluster": broker.cluster, "addresses": addresses}
    if broker.enable_acting_master:
        facts["enableActingMaster"] = True
    if broker.zone_name:
        facts["zoneName"] = broker.zone_name
    return facts


def _queues(queues: QueueData) -> Value:
    return {
        "read": queues.read_queue_nums,
        "write": queues.write_queue_nums,
        "perm": queues.perm,
        "sysFlag": queues.topic_sys_flag,
    }
