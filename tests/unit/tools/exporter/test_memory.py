"""The memory of a collection: it grows little with each series and its text."""

import tracemalloc

from rocketwire_tools.exporter.exposition import gauges_text
from rocketwire_tools.exporter.families import Samples

CONSUMED = (
    "rocketmq_consumer_offset",
    "rocketmq_message_accumulation",
    "rocketmq_group_get_latency_by_storetime",
    "rocketmq_consumer_tps",
    "rocketmq_consumer_message_size",
    "rocketmq_send_back_nums",
)
LAGS = ("rocketmq_group_queue_lag_messages", "rocketmq_group_queue_lag_seconds")
PAIRS = 800
"""Pairs of a group and a topic, of 15 series each."""
MAX_BYTES = 400
"""Bytes of a series; the default maximum of 400,000 series takes 160 MB."""


def collection() -> Samples:
    samples = Samples()
    for number in range(PAIRS):
        group, topic = f"group-{number // 10:03}", f"topic-{number:05}"
        for family in CONSUMED:
            samples.set(family, ("DefaultCluster", "broker-a", topic, group), number)
        for queue_id in range(4):
            for family in LAGS:
                labels = ("DefaultCluster", "broker-a", topic, group, str(queue_id))
                samples.set(family, labels, number / 1000)
        samples.add("rocketmq_group_diff", ("DefaultCluster", group, topic), number)
    return samples


def test_a_series_takes_little_memory_while_its_text_is_written() -> None:
    tracemalloc.start()
    try:
        samples = collection()
        text = gauges_text(samples)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(samples) == 15 * PAIRS
    assert len(text) > 100 * len(samples)
    assert peak < MAX_BYTES * len(samples)
