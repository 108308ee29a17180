"""The content of the status page, as values, built for each request.

Rules of this file: it only reads the state. The work of a request is bounded, whatever the broker
has: at most so many topics, groups and queues are visited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from rocketwire.flags import Perm
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.resource_names import DLQ_PREFIX, RETRY_PREFIX
from rocketwire_broker.delayed.delays import level_progress

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import ConsumerGroup

MOST_TOPICS: Final = 200
MOST_GROUPS: Final = 200
MOST_MEMBERS: Final = 50
"""Members of a group that are listed."""
MOST_QUEUES: Final = 1_024
"""Queues of a topic that are counted."""
MOST_READ: Final = 100_000
"""Pairs of a group and a topic that are visited."""
RATE_MS: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    """A topic.

    Attributes:
        name: its name.
        queues: queues to read and to write, as ``8 8``.
        perm: permission, as ``RW``.
        kept: messages that are kept.
        stored: messages since its creation.
        rate: messages stored per second, over the last minute.
        groups: groups that subscribe to it or have offsets in it.
    """

    name: str
    queues: str
    perm: str
    kept: int
    stored: int
    rate: float
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLine:
    """A client of a group.

    Attributes:
        client_id: its id.
        address: ``host:port``.
        language: its language.
        silent: seconds since its last heartbeat.
    """

    client_id: str
    address: str
    language: str
    silent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a group is in a topic.

    Attributes:
        topic: name of the topic.
        lag: messages that the group has not committed.
        consumed: sum of the committed offsets.
    """

    topic: str
    lag: int
    consumed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """A consumer group.

    Attributes:
        name: its name.
        mode: clustering or broadcasting, as its members say; empty without one.
        member_count: number of members.
        members: some of them.
        subscriptions: topics and filters of its members.
        progress: for each of its topics.
        lag: messages that the group has not committed, retries included.
        retries: those of them that wait in its retry topics.
        hidden: messages that were popped and are not acknowledged.
        dead: messages in its dead-letter topic.
    """

    name: str
    mode: str
    member_count: int
    members: tuple[MemberLine, ...]
    subscriptions: dict[str, str]
    progress: tuple[Progress, ...]
    lag: int
    retries: int
    hidden: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Figures of the whole broker.

    Attributes:
        messages: messages that are kept.
        bytes: bytes of them.
        stored: messages stored since the start.
        read: messages pulled or popped since the start.
        slow: reads of a connection whose requests took more than 100 ms.
        stored_rate: messages stored per second, over the last minute.
        read_rate: messages pulled or popped per second, over the last minute.
        delayed: messages that wait for the end of a delay level.
        timed: messages that wait for a time of delivery.
        transactions: open transactions.
        hidden: messages that were popped and are not acknowledged.
        waiting: requests that wait for messages.
        connections: open connections.
        topics: topics, those of the system included.
        groups: consumer groups, those of the system included.
    """

    messages: int
    bytes: int
    stored: int
    read: int
    slow: int
    stored_rate: float
    read_rate: float
    delayed: int
    timed: int
    transactions: int
    hidden: int
    waiting: int
    connections: int
    topics: int
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The content of the status page.

    Attributes:
        broker: name of the broker.
        address: its address.
        cluster: its cluster.
        name_servers: where it registers.
        now: wall-clock seconds of the broker, which a test may have moved.
        up: seconds since the start.
        totals: figures.
        prefix: beginning of the names in ``topics`` and ``groups``.
        topics: topics that are listed.
        topic_count: topics with this prefix.
        groups: groups that are listed.
        group_count: groups with this prefix.
    """

    broker: str
    address: str
    cluster: str
    name_servers: str
    now: float
    up: float
    totals: Totals
    prefix: str
    topics: tuple[TopicLine, ...]
    topic_count: int
    groups: tuple[GroupLine, ...]
    group_count: int


def status_of(broker: Broker, now: int, prefix: str = "", *, system: bool = False) -> Status:
    """Return the current status.

    Args:
        prefix: only topics and groups whose names begin with it are listed.
        system: whether topics and groups of the system are listed, too.
    """
    config = broker.config
    names = sorted(_topic_names(broker, prefix, system=system), key=_order_of_topic)
    groups = sorted(_group_names(broker, prefix, system=system))
    readers = Counter(topic for _, topic in set(islice(_readers(broker), MOST_READ)))
    return Status(
        broker=config.broker_name,
        address=broker.address,
        cluster=config.cluster_name,
        name_servers=config.namesrv_addr,
        now=now / 1000,
        up=(now - broker.started) / 1000,
        totals=totals_of(broker, now),
        prefix=prefix,
        topics=tuple(
            _topic_line(broker, topic, readers[name], now)
            for name in names[:MOST_TOPICS]
            if (topic := broker.topics.get(name)) is not None
        ),
        topic_count=len(names),
        groups=group_lines(broker, groups[:MOST_GROUPS], now),
        group_count=len(groups),
    )


def _topic_names(broker: Broker, prefix: str, *, system: bool) -> Iterator[str]:
    for topic in broker.topics:
        name = str(topic.topic_name)
        if name.startswith(prefix) and (system or not broker.topics.is_system(name)):
            yield name


def _order_of_topic(name: str) -> tuple[bool, str]:
    """Topics of users first, those that hold retries and dead letters after them."""
    return name.startswith((RETRY_PREFIX, DLQ_PREFIX)), name


def _readers(broker: Broker) -> Iterator[tuple[str, str]]:
    """Groups and the topics that they subscribe to or have offsets of; a pair may come twice."""
    for name, group in broker.members.consumers.items():
        yield from ((name, topic) for topic in group.subscriptions)
    yield from broker.offsets


def _group_names(broker: Broker, prefix: str, *, system: bool) -> Iterator[str]:
    names = {str(group.group_name) for group in broker.groups}
    for name in names | broker.members.consumers.keys():
        if name.startswith(prefix) and (system or not broker.groups.is_system(name)):
            yield name


def totals_of(broker: Broker, now: int) -> Totals:
    """Return the figures of the whole broker."""
    store, statistics = broker.store, broker.statistics
    return Totals(
        messages=store.put_count - store.evicted_count,
        bytes=store.size,
        stored=statistics.put.total,
        read=statistics.got.total,
        slow=statistics.slow,
        stored_rate=statistics.put.rate(now, RATE_MS),
        read_rate=statistics.got.rate(now, RATE_MS),
        delayed=sum(end - done for done, end in level_progress(broker).values()),
        timed=len(broker.timers),
        transactions=broker.half_messages.undecided_count,
        hidden=len(broker.pops),
        waiting=len(broker.waits),
        connections=len(broker.peers),
        topics=len(broker.topics),
        groups=len(broker.groups),
    )


# ---------------------------------------------------------------------------- topics


def _topic_line(broker: Broker, topic: TopicConfig, groups: int, now: int) -> TopicLine:
    name = str(topic.topic_name)
    kept, stored = _counts(broker, name)
    puts = broker.statistics.topic_puts.get(name)
    letters = ((Perm.READ, "R"), (Perm.WRITE, "W"))
    return TopicLine(
        name=name,
        queues=f"{topic.read_queue_nums} {topic.write_queue_nums}",
        perm="".join(letter if topic.perm & bit else "-" for bit, letter in letters),
        kept=kept,
        stored=stored,
        rate=0.0 if puts is None else puts.rate(now, RATE_MS),
        groups=groups,
    )


def _counts(broker: Broker, topic: str) -> tuple[int, int]:
    """Return the messages of a topic: kept, and since its creation."""
    kept = stored = 0
    for queue in islice(broker.store.queues(topic), MOST_QUEUES):
        kept += queue.max_offset - queue.min_offset
        stored += queue.max_offset
    return kept, stored


# ---------------------------------------------------------------------------- groups


def group_lines(broker: Broker, names: list[str], now: int) -> tuple[GroupLine, ...]:
    """Return what is to say of groups."""
    topics: dict[str, list[str]] = {name: [] for name in names}
    for group, topic in islice(broker.offsets, MOST_READ):
        if group in topics and topic in broker.topics:
            topics[group].append(topic)
    hidden = Counter(message.group for message in broker.pops)
    return tuple(_group_line(broker, name, topics[name], hidden[name], now) for name in names)


def _group_line(broker: Broker, name: str, topics: list[str], hidden: int, now: int) -> GroupLine:
    group = broker.members.online(name)
    progress = tuple(_progress(broker, name, topic) for topic in topics)
    members = [] if group is None else list(group.members.values())
    return GroupLine(
        name=name,
        mode="" if group is None else _mode(group),
        member_count=len(members),
        members=tuple(
            MemberLine(
                client_id=member.client_id,
                address=member.peer.address,
                language=getattr(member.language, "name", str(member.language)),
                silent=(now - member.heard) / 1000,
            )
            for member in members[:MOST_MEMBERS]
        ),
        subscriptions={} if group is None else _subscriptions(group),
        progress=progress,
        lag=sum(part.lag for part in progress),
        retries=sum(part.lag for part in progress if part.topic.startswith(RETRY_PREFIX)),
        hidden=hidden,
        dead=_counts(broker, f"{DLQ_PREFIX}{name}")[0],
    )


def _mode(group: ConsumerGroup) -> str:
    return "broadcasting" if group.message_model == MessageModel.BROADCASTING else "clustering"


def _subscriptions(group: ConsumerGroup) -> dict[str, str]:
    return {
        topic: item.sub_string or ""
        for topic, item in islice(group.subscriptions.items(), MOST_MEMBERS)
    }


def _progress(broker: Broker, group: str, topic: str) -> Progress:
    """Return how far a group is; as in Java, a queue without an offset counts in full."""
    lag = consumed = 0
    for queue in islice(broker.store.queues(topic), MOST_QUEUES):
        offset = max(0, broker.offsets.get(group, topic, queue.queue_id) or 0)
        lag += max(0, queue.max_offset - offset)
        consumed += offset
    return Progress(topic=topic, lag=lag, consumed=consumed)
