"""The limits on what a name server stores: registrations, routes of topics, key/value items.

Rules of this file: pure; called before any change. Cheap bounds come first: topics are counted
exactly only if a limit may be exceeded, so that ordinary registrations pay nothing per topic.

Java has none of these limits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from rocketwire.connection.guards import exceeds
from rocketwire.serving.events import LimitExceeded
from rocketwire_namesrv.config.limits import Limit, LimitReachedError

if TYPE_CHECKING:
    from rocketwire.messages.route import QueueData
    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.registration.parsed import RegisteredTopics
    from rocketwire_namesrv.registration.split import SplitRegistrations
    from rocketwire_namesrv.routes.brokers import Registration
    from rocketwire_namesrv.routes.kv_config import KVConfig
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings
    from rocketwire_namesrv.routes.route_table import RouteTable
    from rocketwire_namesrv.routes.topic_table import TopicTable

MAX_SHOWN: Final = 80
"""Characters of a topic's name in an event."""

Topics: TypeAlias = "Collection[tuple[str, QueueSettings]]"


def _admit(limit: Limit, allowed: int, amount: int, what: str) -> None:
    if exceeds(amount, allowed):
        raise LimitReachedError(limit, allowed, what)


# ---------------------------------------- registrations


class Excess(NamedTuple):
    """Topics that are left out of a registration because of a limit."""

    limit: Limit
    allowed: int  #: the limit's value
    topics: Sequence[str]  #: their names

    def event(self, broker_name: str) -> LimitExceeded:
        more = f" and {len(self.topics) - 1} more" if self.topics[1:] else ""
        what = f"topic {self.topics[0][:MAX_SHOWN]!r}{more} of broker {broker_name!r} left out"
        return LimitExceeded(limit=self.limit, allowed=self.allowed, what=what)


def fit_body(
    config: Config, content: RegisteredTopics
) -> tuple[RegisteredTopics, tuple[Excess, ...]]:
    """Leave out topics with too many queues or too long a name.

    One topic must not cost a broker its registration: whoever may create topics at the broker
    could take it from the name server.
    """
    servers = content.filter_servers or ()
    _admit(
        Limit.FILTER_SERVERS,
        config.max_filter_servers,
        len(servers),
        f"{len(servers)} filter servers",
    )
    _admit_names(config, servers)
    topics = content.topics
    queues: list[str] = []
    if exceeds(content.max_queues, limit := config.max_queues_per_topic):
        queues = [name for name, settings in topics if max(settings[:2]) > limit]
    names: list[str] = []
    if exceeds(content.longest_name, config.max_name_length):
        names = _too_long(config, map(itemgetter(0), topics))
    names += _too_long(config, content.mappings)
    if not queues and not names:
        return content, ()
    absent = {*queues, *names}
    kept = [topic for topic in topics if topic[0] not in absent]
    fitting = replace(
        content,
        topics=kept,
        keys=[key for key in content.keys if key not in names],
        mappings={name: info for name, info in content.mappings.items() if name not in absent},
        left_out=len(topics) - len(kept),
    )
    excesses = (
        Excess(Limit.QUEUES, limit, queues),
        Excess(Limit.NAME_LENGTH, config.max_name_length, names),
    )
    return fitting, tuple(excess for excess in excesses if excess.topics)


def _too_long(config: Config, names: Iterable[str]) -> list[str]:
    return [name for name in names if exceeds(len(name), config.max_name_length)]


def _admit_names(config: Config, names: Iterable[str]) -> None:
    longest = max(map(len, names), default=0)
    _admit(Limit.NAME_LENGTH, config.max_name_length, longest, f"a name of {longest} characters")


def fit_registration(
    config: Config,
    table: RouteTable,
    registration: Registration,
    parts: SplitRegistrations,
    *,
    replaces: bool,
) -> tuple[Registration, tuple[Excess, ...]]:
    """Leave out the topics for which there is no room; those that are registered stay.

    Args:
        config: contains the limits.
        table: before the registration.
        registration: complete or a part.
        parts: waiting parts count as registered.
        replaces: whether the broker loses the topics that it does not name.

    Returns:
        The registration, and what was left out.

    Raises:
        LimitReachedError: too many brokers, or a name of the broker is too long.
    """
    names = (
        registration.cluster,
        registration.broker_name,
        registration.address,
        registration.ha_address or "",
        registration.zone_name or "",
    )
    _admit_names(config, names)
    _admit_broker(config.max_brokers, table, registration, len(parts))
    excesses: list[Excess] = []
    topics, entries, waiting = registration.topics, table.topics.entries, parts.topics
    if exceeds(len(topics), max_topics := config.max_topics_per_registration):
        room = max_topics - sum(name in entries for name, _ in topics)
        limit = Limit.TOPICS_PER_REGISTRATION
        topics = _fitting(
            topics, entries.__contains__, room, Excess(limit, max_topics, ()), excesses
        )
    if exceeds(len(entries) + waiting + len(topics), max_topics := config.max_topics):
        room = max_topics - len(entries) - waiting
        excess = Excess(Limit.TOPICS, max_topics, ())
        topics = _fitting(topics, entries.__contains__, room, excess, excesses)
    at_most = table.topics.at_most_at(registration.broker_name)
    if not replaces and exceeds(at_most + len(topics), max_topics := config.max_topics_per_broker):
        room = max_topics - table.topics.count_at(registration.broker_name)
        layouts = frozenset(table.topics.layouts.of_broker(registration.broker_name))
        excess = Excess(Limit.TOPICS_PER_BROKER, max_topics, ())
        topics = _fitting(topics, lambda name: entries.get(name) in layouts, room, excess, excesses)
    if registration.mappings:
        topics = _without_unmapped(config.max_mapped_queues, table, registration, topics, excesses)
    if not excesses:
        return registration, ()
    absent = {name for excess in excesses for name in excess.topics}
    fitting = replace(
        registration,
        topics=topics,
        mappings={name: info for name, info in registration.mappings.items() if name not in absent},
        record=None,  # there may be room when the same body comes again
        left_out=registration.topic_count - len(topics),
    )
    return fitting, tuple(excesses)


def _fitting(
    topics: Topics,
    is_registered: Callable[[str], bool],
    room: int,
    excess: Excess,
    excesses: list[Excess],
) -> Topics:
    new = [name for name, _ in topics if not is_registered(name)]
    absent = set(new[max(room, 0) :])
    if not absent:
        return topics
    excesses.append(excess._replace(topics=new[max(room, 0) :]))
    return [topic for topic in topics if topic[0] not in absent]


def _without_unmapped(
    allowed: int,
    table: RouteTable,
    registration: Registration,
    topics: Topics,
    excesses: list[Excess],
) -> Topics:
    total, absent = table.topics.mapped, list[str]()
    for item in registration.mappings.items():
        growth = table.topics.growth_by(item)
        if growth > 0 and exceeds(total + growth, allowed):
            absent.append(item[0])
        else:
            total += growth
    if not absent:
        return topics
    excesses.append(Excess(Limit.MAPPED_QUEUES, allowed, absent))
    return [topic for topic in topics if topic[0] not in absent]


def _admit_broker(
    allowed: int, table: RouteTable, registration: Registration, waiting: int
) -> None:
    counts = (
        (registration.key not in table.live, len(table.live) + waiting),
        (registration.broker_name not in table.groups, len(table.groups)),
        (
            registration.broker_name not in table.clusters.get(registration.cluster, ()),
            sum(map(len, table.clusters.values())),
        ),
    )
    for is_new, count in counts:
        if is_new:
            _admit(Limit.BROKERS, allowed, count + 1, f"{count} brokers, and another one")
    over = table.count_brokers_over(registration.connection_id)
    _admit(Limit.BROKERS, allowed, over, f"{over} brokers over one connection")


def _admit_new_topics(
    config: Config, topics: TopicTable, names: Sequence[str], waiting: int
) -> None:
    entries = topics.entries
    new = sum(name not in entries for name in names)
    if new:
        total = len(entries) + waiting
        what = f"{total} topics, and {new} new ones"
        _admit(Limit.TOPICS, config.max_topics, total + new, what)


# ---------------------------------------- routes and items


def admit_route(config: Config, table: RouteTable, topic: str, queues: Sequence[QueueData]) -> None:
    """Check the route of a topic that an administrator registers."""
    _admit_names(config, (topic,))
    queue_count = max(max(queue.read_queue_nums, queue.write_queue_nums) for queue in queues)
    _admit(
        Limit.QUEUES, config.max_queues_per_topic, queue_count, f"{queue_count} queues of one topic"
    )
    if exceeds(len(table.topics.entries) + 1, config.max_topics):
        _admit_new_topics(config, table.topics, (topic,), 0)


def admit_item(config: Config, kv: KVConfig, namespace: str, key: str, value: str | None) -> None:
    """Check an item of the key/value configuration.

    Raises:
        LimitReachedError: too many namespaces, items or characters; a change that increases none of
            these is always accepted.
    """
    size = len(value or "")
    _admit(Limit.KV_VALUE_LENGTH, config.max_kv_value_length, size, f"a value of {size} characters")
    namespaces, entries, length = kv.growth(namespace, key, value)
    for limit, allowed, present, added, unit in (
        (Limit.KV_NAMESPACES, config.max_kv_namespaces, kv.namespaces, namespaces, "namespaces"),
        (Limit.KV_ENTRIES, config.max_kv_entries, kv.entries, entries, "items"),
        (Limit.KV_LENGTH, config.max_kv_length, kv.length, length, "characters"),
    ):
        if added > 0:
            _admit(limit, allowed, present + added, f"{present} {unit} in all, and {added} more")
