"""The content of the status page, as values, built for each request.

Rules of this file: it only reads the state, and only what it shows, except for one pass over the
topics to count them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from rocketwire.flags import Perm
from rocketwire.policy.resource_names import is_system_topic
from rocketwire.versions import MQVersion
from rocketwire_namesrv.routes.brokers import MASTER_ID, BrokerGroup, LiveEntry, LiveKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.messages.route import QueueData
    from rocketwire_namesrv.protocol.state import State
    from rocketwire_namesrv.routes.peer_views import PeerView
    from rocketwire_namesrv.routes.queue_layouts import QueueLayout
    from rocketwire_namesrv.routes.route_table import RouteTable

MAX_BROKERS: Final = 1_000
MAX_TOPICS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLine:
    """One broker name that a live broker has."""

    cluster: str
    name: str
    broker_id: int | None  #: None if its group does not know the address any more
    address: str
    role: str  #: ``master``, ``slave``, or ``slave, acting master``
    silent: float  #: seconds since its last registration or heartbeat
    timeout: float  #: seconds of silence after which it is taken for dead
    version: str  #: of the protocol, as its name; ``unknown`` if the broker has not sent it
    data_version: int | None  #: its counter
    topics: int  #: with queues there
    unwritable: int  #: those of them that are not writable, without the system's


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    name: str
    queues: tuple[QueueData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    now: float  #: wall-clock seconds
    up: float  #: seconds since the start
    serving: bool  #: whether routes are returned
    shutting_down: bool  #: whether the server is about to stop
    brokers: tuple[BrokerLine, ...]  #: at most ``MAX_BROKERS`` of the live ones
    live: int  #: number of live brokers
    clusters: dict[str, int]  #: name -> number of broker names
    prefix: str  #: beginning of the names in ``topics``
    topics: tuple[TopicLine, ...]  #: at most ``MAX_TOPICS`` of them
    topic_count: int  #: of all topics
    peers: tuple[tuple[str, PeerView], ...] = ()  #: comparisons with other name servers


def status_of(state: State, now: float, prefix: str = "") -> Status:
    table = state.table
    entries = table.topics.entries
    topics = (
        TopicLine(name=name, queues=layout.queues)
        for name, layout in entries.items()
        if name.startswith(prefix)
    )
    return Status(
        now=state.wall_ms(now) / 1000,
        up=now - state.started,
        serving=state.is_ready(now),
        shutting_down=state.shutting_down,
        brokers=_brokers(table, now),
        live=len(table.live),
        clusters={name: len(members) for name, members in islice(table.clusters.items(), 100)},
        prefix=prefix,
        topics=tuple(islice(topics, MAX_TOPICS)),
        topic_count=len(entries),
        peers=tuple(state.peers.views.items()),
    )


def _brokers(table: RouteTable, now: float) -> tuple[BrokerLine, ...]:
    topics, unwritable = _topics_by_broker(table.topics.entries)
    lines: list[BrokerLine] = []
    for key, entry in islice(sorted(table.live.items()), MAX_BROKERS):
        lines += (
            _line(table, key, entry, name, (topics[name], unwritable[name]), now)
            for name in sorted(entry.names)
        )
    return tuple(lines)


def _topics_by_broker(
    entries: Mapping[str, QueueLayout],
) -> tuple[Counter[str | None], Counter[str | None]]:
    # Values: all topics, and those that are not writable there. Brokers make some topics of their
    # own not writable, for example those in which the members of a group find each other.
    topics: Counter[str | None] = Counter()
    for layout, count in Counter(entries.values()).items():
        for queue in layout.queues:
            topics[queue.broker_name] += count
    unwritable = Counter(
        queue.broker_name
        for name, layout in entries.items()
        for queue in layout.queues
        if not queue.perm & Perm.WRITE and not is_system_topic(name)
    )
    return topics, unwritable


def _line(
    table: RouteTable,
    key: LiveKey,
    entry: LiveEntry,
    name: str,
    topics: tuple[int, int],
    now: float,
) -> BrokerLine:
    cluster, address = key
    group = table.groups.get(name)
    number = None if group is None else _id_of(group, address)
    return BrokerLine(
        cluster=cluster,
        name=name,
        broker_id=number,
        address=address,
        role=_role(group, number),
        silent=now - entry.last_update,
        timeout=entry.timeout_ms / 1000,
        version=_version(entry.version),
        data_version=entry.data_version.counter,
        topics=topics[0],
        unwritable=topics[1],
    )


def _id_of(group: BrokerGroup, address: str) -> int | None:
    return next((number for number, member in group.addresses.items() if member == address), None)


def _role(group: BrokerGroup | None, number: int | None) -> str:
    if group is None or number is None:
        return "unknown"
    if number == MASTER_ID:
        return "master"
    stands_in = group.enable_acting_master and number == min(group.addresses)
    return "slave, acting master" if stands_in else "slave"


def _version(number: int | None) -> str:
    return "unknown" if number is None else MQVersion(number).name
