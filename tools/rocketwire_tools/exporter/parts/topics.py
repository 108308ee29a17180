"""Topics: offsets (21, 202), and rates of those that have new messages (315)."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.policy.resource_names import (
    DLQ_PREFIX,
    LMQ_PREFIX,
    RETRY_PREFIX,
)
from rocketwire.versions import MQVersion
from rocketwire_tools.exporter.parts.runtime import minute_rate

if TYPE_CHECKING:
    from rocketwire.messages.topics import TopicStatsTable
    from rocketwire_tools.exporter.scrape import BrokerScrape

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
        rate = await minute_rate(scrape, "TOPIC_PUT_NUMS", topic) if is_recent else 0.0
    size = await minute_rate(scrape, "TOPIC_PUT_SIZE", topic) if rate > 0 else 0.0
    labels = scrape.broker.of(topic)
    scrape.samples.set("rocketmq_producer_tps", labels, rate)
    scrape.samples.set("rocketmq_producer_message_size", labels, size)
