"""Parts of a collection: each asks one broker about one subject, and adds samples.

The broker itself (28, 315, 328); topics (21, 202, 315); consumer groups (201, 43, 208, 303, 315);
members of groups (307). A group without a committed offset on a broker costs nothing: code 43
returns the offsets of all groups in one response, and only groups in it are asked about.
"""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import trio

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelBrokenError, LimitExceededError
from rocketwire.policy.resource_names import DLQ_PREFIX, LMQ_PREFIX, RETRY_PREFIX, is_retry_topic
from rocketwire.versions import MQVersion
from rocketwire_tools.exporter.families import (
    CAPACITY,
    DISTRIBUTION,
    PERIODS,
    RATES,
    RUNTIME,
    distribution_family,
    rate_family,
)

if TYPE_CHECKING:
    from rocketwire.messages.callbacks import ConsumeStatus
    from rocketwire.messages.queries import ConsumeStats, OffsetWrapper
    from rocketwire.messages.topics import TopicStatsTable
    from rocketwire_tools.exporter.families import Samples
    from rocketwire_tools.exporter.scrape import BrokerScrape


_CAPACITY: Final = re.compile(r"(Total|Free) : ([0-9.]+) ([A-Za-z]+)")
_CLASS: Final = re.compile(r"\[([^\]]+)\]:([0-9]+)")
_UNITS: Final = ("b", "kib", "mib", "gib", "tib", "pib", "eib")

_NOTHING_COUNTED: Final = ResponseCode.SYSTEM_ERROR


async def collect_runtime(scrape: BrokerScrape) -> None:
    """Add the runtime values of a broker, and its rates if it is a primary."""
    broker = scrape.broker
    values = await scrape.ask(partial(scrape.admin.brokers.runtime_info, broker.address))
    for family, value in runtime_values(values):
        scrape.samples.set(family, broker.labels, value)
    version = values.get("brokerVersionDesc", "unknown")
    number = values.get("brokerVersion", "")
    scrape.version = int(number) if number.isascii() and number.isdigit() else 0
    scrape.samples.set("rocketmq_exporter_broker_info", (*broker.labels, version), 1)
    if broker.is_primary:
        for family, name in (
            ("rocketmq_broker_tps", "BROKER_PUT_NUMS"),
            ("rocketmq_broker_qps", "BROKER_GET_NUMS"),
        ):
            rate, _ = await minute(scrape, name, broker.cluster)
            scrape.samples.set(family, broker.labels, rate)


async def collect_producers(scrape: BrokerScrape) -> None:
    """Add the number of producers of each group; brokers before 4.9.4 do not report it."""
    broker = scrape.broker
    try:
        producers = await scrape.ask(partial(scrape.admin.consumers.producers_of, broker.address))
    except BrokerError as error:
        if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            raise
        return
    for group, members in producers.items():
        scrape.samples.set("rocketmq_producer_count", broker.of(group), len(members))


async def minute(scrape: BrokerScrape, name: str, key: str) -> tuple[float, float]:
    """Return rate per second and sum of a statistic over a minute (315); 0 if nothing counted."""
    brokers = scrape.admin.brokers
    try:
        stats = await scrape.ask(partial(brokers.stats, scrape.broker.address, name, key))
    except BrokerError as error:
        if error.code != _NOTHING_COUNTED or "AclException" in error.remark:
            raise
        return 0.0, 0.0
    figures = stats.stats_minute
    return (0.0, 0.0) if figures is None else (figures.tps, figures.sum)


def runtime_values(values: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Yield families and values of the runtime values of a broker.

    Values that a broker does not have, or that are not numbers, are left out.
    """
    for family, key in RUNTIME.items():
        yield from _number(family, values.get(key, ""))
    for word, keys in RATES.items():
        text = next((values[key] for key in keys if key in values), "")
        for period, rate in zip(PERIODS, text.split(), strict=False):
            yield from _number(rate_family(word, period), rate)
    for key, count in _CLASS.findall(values.get("putMessageDistributeTime", "")):
        if key in DISTRIBUTION:
            yield from _number(distribution_family(DISTRIBUTION[key]), count)
    sizes = {
        word: byte_count(number, unit)
        for word, number, unit in _CAPACITY.findall(values.get("commitLogDirCapacity", ""))
    }
    for family, word in CAPACITY.items():
        if (size := sizes.get(word)) is not None:
            yield family, size


def _number(family: str, text: str) -> Iterator[tuple[str, float]]:
    try:
        value = float(text.partition(" ")[0])
    except ValueError:
        return
    if math.isfinite(value):
        yield family, value


def byte_count(number: str, unit: str) -> float | None:
    """Return the bytes of a size as Java writes it (``MixAll.humanReadableByteCount``).

    Java writes ``GiB`` for powers of 1024, and ``GB`` for powers of 1000. None if it is invalid.
    """
    base = 1024 if "i" in unit else 1000
    power = unit.lower() if "i" in unit or unit == "B" else f"{unit[:1]}ib".lower()
    try:
        size: float = float(number) * base ** _UNITS.index(power)
    except ValueError:
        return None
    return size


RECENT_MS: Final = 120_000
"""A topic without a message for so long has rates of 0: brokers count over a minute. Clocks of
machines may differ by the rest."""
RATE_IN_STATS: Final = MQVersion.V5_3_3
"""From this version on, the response of code 202 has the rate of the topic."""


async def collect_topics(scrape: BrokerScrape) -> None:
    admin, address = scrape.admin, scrape.broker.address
    names = list(await scrape.ask(partial(admin.topics.configs, address)))

    async def add(topic: str) -> None:
        stats = await scrape.ask(partial(admin.topics.stats_of, address, topic))
        _add_offsets(scrape, topic, stats)
        if not topic.startswith((RETRY_PREFIX, DLQ_PREFIX)):
            await _add_rates(scrape, topic, stats)

    await scrape.call_each("topics", (n for n in names if not n.startswith(LMQ_PREFIX)), add)


def _add_offsets(scrape: BrokerScrape, topic: str, stats: TopicStatsTable) -> None:
    broker, samples = scrape.broker, scrape.samples
    queues = (stats.offset_table or {}).values()
    offset = sum(queue.max_offset for queue in queues)
    if topic.startswith(RETRY_PREFIX):
        samples.set("rocketmq_topic_retry_offset", broker.of(topic), offset)
    elif topic.startswith(DLQ_PREFIX):
        group = topic.removeprefix(DLQ_PREFIX)
        samples.set("rocketmq_topic_dlq_offset", broker.of(group), offset)
        stored = sum(queue.max_offset - queue.min_offset for queue in queues)
        samples.add("rocketmq_group_dlqdiff", (broker.cluster, group, topic), stored)
    else:
        samples.set("rocketmq_producer_offset", broker.of(topic), offset)


async def _add_rates(scrape: BrokerScrape, topic: str, stats: TopicStatsTable) -> None:
    newest = max((q.last_update_timestamp for q in (stats.offset_table or {}).values()), default=0)
    is_recent = newest > time.time() * 1000 - RECENT_MS
    if scrape.version >= RATE_IN_STATS:
        rate = stats.topic_put_tps
    else:
        rate = (await minute(scrape, "TOPIC_PUT_NUMS", topic))[0] if is_recent else 0.0
    size = (await minute(scrape, "TOPIC_PUT_SIZE", topic))[0] if rate > 0 else 0.0
    labels = scrape.broker.of(topic)
    scrape.samples.set("rocketmq_producer_tps", labels, rate)
    scrape.samples.set("rocketmq_producer_message_size", labels, size)


_NO_MEMBER: Final = ResponseCode.CONSUMER_NOT_ONLINE

Queues: TypeAlias = "Mapping[int, OffsetWrapper]"  # progress by id of the queue


class GroupMembers:
    """The connected members of groups, of all brokers."""

    def __init__(self) -> None:
        # (cluster, group) -> client id -> the broker that relays requests to it, and the address of
        # its connection there
        self.clients: dict[tuple[str, str], dict[str, tuple[BrokerScrape, str]]] = {}

    def add(self, scrape: BrokerScrape, group: str, client_id: str, address: str) -> None:
        """Add a member; that of the first broker stays."""
        clients = self.clients.setdefault((scrape.broker.cluster, group), {})
        clients.setdefault(client_id, (scrape, address))


async def collect_groups(members: GroupMembers, scrape: BrokerScrape) -> None:
    """Add the progress of all groups of a broker, and note their members."""

    async def add(group: str) -> None:
        consumers, address = scrape.admin.consumers, scrape.broker.address
        stats = await scrape.ask(partial(consumers.stats_of, address, group))
        await _add_group(scrape, group, stats)
        await _note_members(members, scrape, group)

    await scrape.call_each("groups", await _list_groups(scrape), add)


async def _list_groups(scrape: BrokerScrape) -> list[str]:
    admin, address = scrape.admin, scrape.broker.address
    groups = await scrape.ask(partial(admin.groups.configs, address))
    try:
        offsets = await scrape.ask(partial(admin.offsets.all_of_broker, address))
    except (ChannelBrokenError, LimitExceededError):  # the first one: the frame is too large
        return list(groups)
    consuming = {key.rpartition("@")[2] for key in offsets}
    return [group for group in groups if group in consuming]


async def _add_group(scrape: BrokerScrape, group: str, stats: ConsumeStats) -> None:
    topics: defaultdict[str, dict[int, OffsetWrapper]] = defaultdict(dict)
    for queue, progress in (stats.offset_table or {}).items():
        topics[queue.topic or ""][queue.queue_id] = progress
    for topic, queues in topics.items():
        _add_progress_of_topic(scrape, group, topic, queues)
        await _add_ages(scrape, group, topic, queues)
        await _add_consumption(scrape, group, topic, queues, is_read=stats.consume_tps > 0)


def _lag(progress: OffsetWrapper) -> int:
    # Return the number of messages that are not consumed yet. An offset beyond the end of a queue
    # is what a broker keeps that has lost messages.
    return max(0, progress.broker_offset - progress.consumer_offset)


def _add_progress_of_topic(scrape: BrokerScrape, group: str, topic: str, queues: Queues) -> None:
    broker, samples = scrape.broker, scrape.samples
    labels = broker.of(topic, group)
    lag = 0
    for queue_id, progress in queues.items():
        queue_lag = _lag(progress)
        samples.set("rocketmq_group_queue_lag_messages", (*labels, str(queue_id)), queue_lag)
        lag += queue_lag
    committed = sum(progress.consumer_offset for progress in queues.values())
    samples.set("rocketmq_consumer_offset", labels, committed)
    samples.set("rocketmq_message_accumulation", labels, lag)
    family = "rocketmq_group_retrydiff" if is_retry_topic(topic) else "rocketmq_group_diff"
    samples.add(family, (broker.cluster, group, topic), lag)


async def _add_ages(scrape: BrokerScrape, group: str, topic: str, queues: Queues) -> None:
    ages = dict.fromkeys(queues, 0)
    if any(map(_lag, queues.values())):
        consumers, address = scrape.admin.consumers, scrape.broker.address
        for span in await scrape.ask(partial(consumers.time_spans_of, address, group, topic)):
            if span.message_queue is not None and span.message_queue.queue_id in ages:
                ages[span.message_queue.queue_id] = max(0, span.delay_time)
    labels = scrape.broker.of(topic, group)
    for queue_id, age in ages.items():
        queue_labels = (*labels, str(queue_id))
        scrape.samples.set("rocketmq_group_queue_lag_seconds", queue_labels, age / 1000)
    family = "rocketmq_group_get_latency_by_storetime"
    scrape.samples.set(family, labels, max(ages.values(), default=0))


async def _add_consumption(
    scrape: BrokerScrape, group: str, topic: str, queues: Queues, *, is_read: bool
) -> None:
    labels, key = scrape.broker.of(topic, group), f"{topic}@{group}"
    for family, name in (
        ("rocketmq_consumer_tps", "GROUP_GET_NUMS"),
        ("rocketmq_consumer_message_size", "GROUP_GET_SIZE"),
    ):
        rate = (await minute(scrape, name, key))[0] if is_read else 0.0
        scrape.samples.set(family, labels, rate)
    sent_back = (await minute(scrape, "SNDBCK_PUT_NUMS", key))[1] if is_read else 0.0
    scrape.samples.set("rocketmq_send_back_nums", labels, sent_back)


async def _note_members(members: GroupMembers, scrape: BrokerScrape, group: str) -> None:
    consumers, address = scrape.admin.consumers, scrape.broker.address
    try:
        connected = await scrape.ask(partial(consumers.connection, group, broker=address))
    except BrokerError as error:
        if error.code != _NO_MEMBER:
            raise
        members.clients.setdefault((scrape.broker.cluster, group), {})
        return
    for connection in connected.connection_set or ():
        client_id = connection.client_id or ""
        members.add(scrape, group, client_id, connection.client_addr or "")


MAX_CLIENTS: Final = 500  # default limit of the members that are asked in a collection

_LEFT: Final = frozenset({ResponseCode.CONSUMER_NOT_ONLINE, ResponseCode.CONSUME_MSG_TIMEOUT})
"""The member has left, or does not answer the broker."""


class Member(NamedTuple):
    cluster: str  # of its brokers
    group: str
    client_id: str  # its id
    address: str  # of its connection


def add_counts(samples: Samples, members: GroupMembers) -> None:
    for labels, clients in members.clients.items():
        samples.set("rocketmq_group_count", labels, len(clients))


async def collect_clients(members: GroupMembers, max_clients: int) -> None:
    """Ask members for their state, each through one broker; at most ``max_clients`` of them."""
    by_broker: dict[BrokerScrape, list[Member]] = {}
    for scrape, member in islice(_list_members(members), max_clients):
        by_broker.setdefault(scrape, []).append(member)
    async with trio.open_nursery() as nursery:
        for scrape, clients in by_broker.items():
            nursery.start_soon(scrape.run, "clients", partial(_collect_running_info, clients))


def _list_members(members: GroupMembers) -> Iterator[tuple[BrokerScrape, Member]]:
    for (cluster, group), clients in members.clients.items():
        for client_id, (scrape, address) in clients.items():
            yield scrape, Member(cluster, group, client_id, address)


async def _collect_running_info(clients: Iterable[Member], scrape: BrokerScrape) -> None:
    async def add(member: Member) -> None:
        consumers = scrape.admin.consumers
        ask = partial(
            consumers.running_info, member.group, member.client_id, broker=scrape.broker.address
        )
        try:
            info = await scrape.ask(ask)
        except BrokerError as error:
            if error.code not in _LEFT:
                raise
            return
        for topic, status in (info.status_table or {}).items():
            _add_status(scrape.samples, member, topic, status)

    await scrape.call_each("clients", clients, add)


def _add_status(samples: Samples, member: Member, topic: str, status: ConsumeStatus) -> None:
    labels = (member.cluster, member.address, member.client_id, member.group, topic)
    for family, value in (
        ("rocketmq_client_consume_fail_msg_count", status.consume_failed_msgs),
        ("rocketmq_client_consume_fail_msg_tps", status.consume_failed_tps),
        ("rocketmq_client_consume_ok_msg_tps", status.consume_oktps),
        ("rocketmq_client_consume_rt", status.consume_rt),
        ("rocketmq_client_consumer_pull_rt", status.pull_rt),
        ("rocketmq_client_consumer_pull_tps", status.pull_tps),
    ):
        samples.set(family, labels, value)
