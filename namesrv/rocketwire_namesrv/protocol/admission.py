"""The limits on what a name server stores: registrations, routes of topics, key/value items.

Rules of this file: pure; called before any change. Cheap bounds come first: topics are counted
exactly only if a limit may be exceeded, so that ordinary registrations pay nothing per topic.

Java has none of these limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from rocketwire.connection.guards import exceeds
from rocketwire_namesrv.config.limits import Limit, LimitReachedError

if TYPE_CHECKING:
    from rocketwire.messages.route import QueueData, TopicQueueMappingInfo
    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.registration.parsed import RegisteredTopics
    from rocketwire_namesrv.registration.split import SplitRegistrations
    from rocketwire_namesrv.routes.brokers import Registration
    from rocketwire_namesrv.routes.kv_config import KVConfig
    from rocketwire_namesrv.routes.route_table import RouteTable
    from rocketwire_namesrv.routes.topic_table import TopicTable

FEW: Final = 64
"""Up to this many names are always checked one by one."""
ORDINARY: Final = 512
"""Average bytes per topic above which all names of a body are checked."""


def _admit(limit: Limit, allowed: int, amount: int, what: str) -> None:
    if exceeds(amount, allowed):
        raise LimitReachedError(limit, allowed, what)


# ---------------------------------------- registrations


def admit_body(config: Config, content: RegisteredTopics) -> None:
    """Checks the content of a body by itself.

    Raises:
        LimitReachedError: too many topics or queues, or a name is too long.
    """
    _admit(
        Limit.TOPICS_PER_REGISTRATION,
        config.max_topics_per_registration,
        content.count,
        f"{content.count} topics in one registration",
    )
    _admit(
        Limit.QUEUES,
        config.max_queues_per_topic,
        content.most_queues,
        f"{content.most_queues} queues of one topic",
    )
    servers = content.filter_servers or ()
    _admit(
        Limit.FILTER_SERVERS,
        config.max_filter_servers,
        len(servers),
        f"{len(servers)} filter servers",
    )
    _admit_names(config, servers)
    _admit_names(config, content.mappings)
    if len(content.topics) < FEW or content.size > ORDINARY * len(content.topics):
        _admit_names(config, map(itemgetter(0), content.topics))


def _admit_names(config: Config, names: Iterable[str]) -> None:
    longest = max(map(len, names), default=0)
    _admit(Limit.NAME_LENGTH, config.max_name_length, longest, f"a name of {longest} characters")


def admit_registration(
    config: Config,
    table: RouteTable,
    registration: Registration,
    parts: SplitRegistrations,
    *,
    replaces: bool,
) -> None:
    """Checks the table as it would be after the registration.

    Args:
        config: contains the limits.
        table: before the registration.
        registration: complete or a part.
        parts: waiting parts count as registered.
        replaces: whether the broker loses the topics that it does not name.

    Raises:
        LimitReachedError: a limit would be exceeded.
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
    topics = registration.topics
    waiting = parts.topics
    if exceeds(len(table.topics.entries) + waiting + len(topics), config.max_topics):
        _admit_new_topics(config, table.topics, [name for name, _ in topics], waiting)
    if not replaces:
        _admit_topics_at(config.max_topics_per_broker, table.topics, registration)
    if registration.mappings:
        _admit_mappings(config.max_mapped_queues, table.topics, registration.mappings)


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
    over = table.came_over(registration.connection_id)
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


def _admit_topics_at(allowed: int, topics: TopicTable, registration: Registration) -> None:
    name = registration.broker_name
    if not exceeds(topics.at_most_at(name) + len(registration.topics), allowed):
        return
    count = topics.count_at(name)
    layouts = frozenset(topics.layouts.of_broker(name))
    get = topics.entries.get
    new = sum(get(topic) not in layouts for topic, _ in registration.topics)
    what = f"{count} topics at {name!r}, and {new} new ones"
    _admit(Limit.TOPICS_PER_BROKER, allowed, count + new if new else 0, what)


def _admit_mappings(
    allowed: int, topics: TopicTable, mappings: Mapping[str, TopicQueueMappingInfo]
) -> None:
    amount = sum(map(topics.growth_by, mappings.items()))
    what = f"{topics.mapped} queues of static topics, and {amount} more"
    _admit(Limit.MAPPED_QUEUES, allowed, topics.mapped + amount if amount > 0 else 0, what)


# ---------------------------------------- routes and items


def admit_route(config: Config, table: RouteTable, topic: str, queues: Sequence[QueueData]) -> None:
    """Checks the route of a topic that an administrator registers.

    Raises:
        LimitReachedError: too many topics or queues, or a name is too long.
    """
    _admit_names(config, (topic,))
    queue_count = max(max(queue.read_queue_nums, queue.write_queue_nums) for queue in queues)
    _admit(
        Limit.QUEUES, config.max_queues_per_topic, queue_count, f"{queue_count} queues of one topic"
    )
    if exceeds(len(table.topics.entries) + 1, config.max_topics):
        _admit_new_topics(config, table.topics, (topic,), 0)


def admit_item(config: Config, kv: KVConfig, namespace: str, key: str, value: str | None) -> None:
    """Checks an item of the key/value configuration.

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
