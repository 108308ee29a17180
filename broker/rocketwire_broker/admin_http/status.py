"""The content of the status page, as values, built for each request.

Rules of this file: it only reads the state. The work of a request is bounded: it visits limited
numbers of topics, groups and queues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from rocketwire.flags import Perm
from rocketwire.policy.resource_names import DLQ_PREFIX, RETRY_PREFIX
from rocketwire_broker.delayed.delays import level_progress

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import ConsumerGroup

MAX_TOPICS: Final = 200
MAX_GROUPS: Final = 200
MAX_MEMBERS: Final = 50  # members of a group that are listed
MAX_QUEUES: Final = 1_024  # queues of a topic that are counted
MAX_READ: Final = 100_000  # pairs of a group and a topic that are visited
RATE_MS: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    name: str
    queues: str  # queues to read and to write, as ``8 8``
    perm: str  # permission, as ``RW``
    kept: int  # messages that are kept
    stored: int  # messages since its creation
    rate: float  # messages stored per second, over the last minute
    groups: int  # groups that subscribe to it or have offsets in it


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLine:
    client_id: str
    address: str  # ``host:port``
    language: str
    silent: float  # seconds since its last heartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    topic: str
    lag: int  # messages that the group has not committed
    consumed: int  # sum of the committed offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    name: str
    mode: str  # clustering or broadcasting; empty without members
    member_count: int
    members: tuple[MemberLine, ...]  # some of them
    subscriptions: dict[str, str]  # topics and filters of its members
    progress: tuple[Progress, ...]  # for each of its topics
    lag: int  # messages that the group has not committed, retries included
    retries: int  # part of the lag: messages in its retry topics
    hidden: int  # messages that were popped and are not acknowledged
    dead: int  # messages in its dead-letter topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    messages: int  # messages that are kept
    bytes: int  # bytes of them
    stored: int  # messages stored since the start
    read: int  # messages pulled or popped since the start
    slow: int  # reads of a connection whose requests took more than 100 ms
    stored_rate: float  # messages stored per second, over the last minute
    read_rate: float  # messages pulled or popped per second, over the last minute
    delayed: int  # messages that wait for the end of a delay level
    timed: int  # messages that wait for a time of delivery
    transactions: int
    hidden: int  # messages that were popped and are not acknowledged
    waiting: int
    connections: int
    topics: int  # topics, those of the system included
    groups: int  # consumer groups, those of the system included


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    broker: str
    address: str
    cluster: str
    name_servers: str  # where it registers
    now: float  # wall-clock seconds of the broker, which a test may have moved
    up: float  # seconds since the start
    totals: Totals
    prefix: str  # beginning of the names in ``topics`` and ``groups``
    topics: tuple[TopicLine, ...]
    topic_count: int  # topics with this prefix
    groups: tuple[GroupLine, ...]
    group_count: int  # groups with this prefix


def status_of(broker: Broker, now: int, prefix: str = "", *, system: bool = False) -> Status:
    config = broker.config
    names = sorted(_topic_names(broker, prefix, system=system), key=_order_of_topic)
    groups = sorted(_group_names(broker, prefix, system=system))
    readers = Counter(topic for _, topic in set(islice(_readers(broker), MAX_READ)))
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
            for name in names[:MAX_TOPICS]
            if (topic := broker.topics.get(name)) is not None
        ),
        topic_count=len(names),
        groups=group_lines(broker, groups[:MAX_GROUPS], now),
        group_count=len(groups),
    )


def _topic_names(broker: Broker, prefix: str, *, system: bool) -> Iterator[str]:
    for topic in broker.topics:
        name = str(topic.topic_name)
        if name.startswith(prefix) and (system or not broker.topics.is_system(name)):
            yield name


def _order_of_topic(name: str) -> tuple[bool, str]:
    # topics of users first, retries and dead letters after them
    return name.startswith((RETRY_PREFIX, DLQ_PREFIX)), name


def _readers(broker: Broker) -> Iterator[tuple[str, str]]:
    # a pair may come twice
    for name, group in broker.members.consumers.items():
        yield from ((name, topic) for topic in group.subscriptions)
    yield from broker.offsets


def _group_names(broker: Broker, prefix: str, *, system: bool) -> Iterator[str]:
    names = {str(group.group_name) for group in broker.groups}
    for name in names | broker.members.consumers.keys():
        if name.startswith(prefix) and (system or not broker.groups.is_system(name)):
            yield name


def totals_of(broker: Broker, now: int) -> Totals:
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
    kept = stored = 0
    for queue in islice(broker.store.queues(topic), MAX_QUEUES):
        kept += queue.max_offset - queue.min_offset
        stored += queue.max_offset
    return kept, stored


def group_lines(broker: Broker, names: list[str], now: int) -> tuple[GroupLine, ...]:
    topics: dict[str, list[str]] = {name: [] for name in names}
    for group, topic in islice(broker.offsets, MAX_READ):
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
        mode="" if group is None else "broadcasting" if group.is_broadcasting else "clustering",
        member_count=len(members),
        members=tuple(
            MemberLine(
                client_id=member.client_id,
                address=member.peer.address,
                language=getattr(member.language, "name", str(member.language)),
                silent=(now - member.heard) / 1000,
            )
            for member in members[:MAX_MEMBERS]
        ),
        subscriptions={} if group is None else _subscriptions(group),
        progress=progress,
        lag=sum(part.lag for part in progress),
        retries=sum(part.lag for part in progress if part.topic.startswith(RETRY_PREFIX)),
        hidden=hidden,
        dead=_counts(broker, f"{DLQ_PREFIX}{name}")[0],
    )


def _subscriptions(group: ConsumerGroup) -> dict[str, str]:
    return {
        topic: item.sub_string or ""
        for topic, item in islice(group.subscriptions.items(), MAX_MEMBERS)
    }


def _progress(broker: Broker, group: str, topic: str) -> Progress:
    # as in Java, a queue without an offset counts in full
    lag = consumed = 0
    for queue in islice(broker.store.queues(topic), MAX_QUEUES):
        offset = max(0, broker.offsets.get(group, topic, queue.queue_id) or 0)
        lag += max(0, queue.max_offset - offset)
        consumed += offset
    return Progress(topic=topic, lag=lag, consumed=consumed)
