"""Consumer groups: progress (201, 43, 208), age of what is not consumed (303), rates (315).

A group without a committed offset on a broker costs nothing: code 43 returns the offsets of all
groups in one response, and only groups in it are asked about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelBrokenError, LimitExceededError
from rocketwire.policy.resource_names import is_retry_topic
from rocketwire_tools.exporter.parts.runtime import minute_rate, minute_sum

if TYPE_CHECKING:
    from rocketwire.messages.queries import ConsumeStats, OffsetWrapper
    from rocketwire_tools.exporter.scrape import BrokerScrape

_NO_MEMBER: Final = ResponseCode.CONSUMER_NOT_ONLINE

Queues: TypeAlias = "Mapping[int, OffsetWrapper]"
"""Progress by id of the queue."""


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
        await _add_progress(scrape, group, stats)
        await _note_members(members, scrape, group)

    await scrape.call_each("groups", await _groups(scrape), add)


async def _groups(scrape: BrokerScrape) -> list[str]:
    admin, address = scrape.admin, scrape.broker.address
    groups = await scrape.ask(partial(admin.groups.configs, address))
    try:
        offsets = await scrape.ask(partial(admin.offsets.all_of_broker, address))
    except (ChannelBrokenError, LimitExceededError):  # the first one: the frame is too large
        return list(groups)
    consuming = {key.rpartition("@")[2] for key in offsets}
    return [group for group in groups if group in consuming]


async def _add_progress(scrape: BrokerScrape, group: str, stats: ConsumeStats) -> None:
    topics: defaultdict[str, dict[int, OffsetWrapper]] = defaultdict(dict)
    for queue, progress in (stats.offset_table or {}).items():
        topics[queue.topic or ""][queue.queue_id] = progress
    for topic, queues in topics.items():
        _add_offsets(scrape, group, topic, queues)
        await _add_ages(scrape, group, topic, queues)
        await _add_rates(scrape, group, topic, queues, is_read=stats.consume_tps > 0)


def _lag(progress: OffsetWrapper) -> int:
    # Return the number of messages that are not consumed yet. An offset beyond the end of a queue
    # is what a broker keeps that has lost messages.
    return max(0, progress.broker_offset - progress.consumer_offset)


def _add_offsets(scrape: BrokerScrape, group: str, topic: str, queues: Queues) -> None:
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


async def _add_rates(
    scrape: BrokerScrape, group: str, topic: str, queues: Queues, *, is_read: bool
) -> None:
    labels, key = scrape.broker.of(topic, group), f"{topic}@{group}"
    for family, name in (
        ("rocketmq_consumer_tps", "GROUP_GET_NUMS"),
        ("rocketmq_consumer_message_size", "GROUP_GET_SIZE"),
    ):
        rate = await minute_rate(scrape, name, key) if is_read else 0.0
        scrape.samples.set(family, labels, rate)
    sent_back = await minute_sum(scrape, "SNDBCK_PUT_NUMS", key) if is_read else 0.0
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
