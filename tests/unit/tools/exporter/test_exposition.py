"""Samples as text: both forms are readable by prometheus_client's parsers, and take little memory."""

import logging
import tracemalloc
from collections.abc import Callable
from typing import TypeAlias

import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families as plain

from rocketwire_tools.exporter.exposition import (
    HEAD_LINES,
    OPENMETRICS,
    PART,
    PLAIN,
    Collector,
    content_type_for,
    gauges_text,
)
from rocketwire_tools.exporter.families import FAMILIES, Samples
from tests.support.exporter_in_process import openmetrics_families


def full() -> Samples:
    samples = Samples()
    for name, family in FAMILIES.items():
        samples.set(name, tuple("x" for _ in family.labels), 1.5)
    return samples


def test_every_family_is_valid_in_both_forms() -> None:
    text = gauges_text(full()).decode()

    assert {family.name for family in plain(text)} == set(FAMILIES)
    families = openmetrics_families(f"{text}# EOF\n")
    assert {family.name for family in families} == set(FAMILIES)


def test_labels_keep_their_names_and_escaped_values() -> None:
    samples = Samples()
    samples.set("rocketmq_producer_offset", ("c", 'a"\n', "t"), 1)
    (family,) = plain(gauges_text(samples).decode())

    assert family.samples[0].labels == {"cluster": "c", "broker": 'a"\n', "topic": "t"}


def test_half_of_a_surrogate_pair_in_a_name_does_not_fail() -> None:
    samples = Samples()
    samples.set("rocketmq_producer_offset", ("c", "a", "\ud800"), 1)

    assert b'topic="?"' in gauges_text(samples)


def test_a_client_that_accepts_openmetrics_gets_it() -> None:
    prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"

    assert content_type_for(prometheus) == OPENMETRICS
    assert content_type_for("*/*") == PLAIN


def test_a_family_in_several_parts_has_one_head() -> None:
    samples = Samples()
    for number in range(2 * PART + 1):
        samples.set("rocketmq_producer_offset", ("c", "a", str(number)), number)
    text = gauges_text(samples)

    assert text.count(b"\n") == HEAD_LINES + 2 * PART + 1
    (family,) = plain(text.decode())
    assert [sample.value for sample in family.samples] == list(range(2 * PART + 1))


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


Start: TypeAlias = "Callable[..., Collector]"


class Source:
    """Collections that take a time; each has its number as a value."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 1.0
        self.fails = False

    async def collect(self) -> bytes:
        await trio.sleep(self.seconds)
        if self.fails:
            raise ZeroDivisionError
        self.count += 1
        return f"rocketmq_exporter_requests {self.count}\n".encode()


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def start(source: Source, nursery: trio.Nursery, autojump_clock: object) -> Start:
    def run(**settings: float) -> Collector:
        collector = Collector(source.collect, **settings)
        nursery.start_soon(collector.serve)
        return collector

    return run


def text_of(collector: Collector, form: str = PLAIN) -> str:
    return collector.text(form).decode()


def show(collector: Collector) -> str:
    lines = text_of(collector).splitlines()
    return next((line for line in lines if line.startswith("rocketmq_exporter_requests ")), "")


async def test_scrapes_at_once_share_a_collection(source: Source, start: Start) -> None:
    collector = start()
    async with trio.open_nursery() as scrapes:
        scrapes.start_soon(collector.refresh)
        scrapes.start_soon(collector.refresh)

    assert source.count == 1
    assert show(collector) == "rocketmq_exporter_requests 1"


async def test_later_scrape_collects_again(source: Source, start: Start) -> None:
    collector = start(min_interval=5)
    await collector.refresh()
    await collector.refresh()
    assert source.count == 1

    await trio.sleep(5)
    await collector.refresh()
    assert show(collector) == "rocketmq_exporter_requests 2"


async def test_slow_collection_leaves_the_last_result(source: Source, start: Start) -> None:
    collector = start(wait=8, min_interval=0)
    await collector.refresh()
    source.seconds = 20
    await collector.refresh()

    assert show(collector) == "rocketmq_exporter_requests 1"
    assert "rocketmq_exporter_collection_age_seconds 8" in text_of(collector)
    await trio.sleep(15)
    assert show(collector) == "rocketmq_exporter_requests 2"


async def test_before_the_first_result_only_the_exporter_has_metrics(start: Start) -> None:
    collector = start(wait=0.5)
    await collector.refresh()

    text = text_of(collector)
    assert show(collector) == ""
    assert 'rocketmq_exporter_collections_total{result="complete"} 0.0' in text


async def test_failed_collection(
    source: Source, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    collector = start(min_interval=0)
    source.fails = True
    with caplog.at_level(logging.ERROR, "rocketwire.exporter"):
        await collector.refresh()

    assert "a collection failed" in caplog.text
    text = text_of(collector, OPENMETRICS)
    assert 'rocketmq_exporter_collections_total{result="error"} 1.0' in text
    assert text.endswith("# EOF\n")

    source.fails = False
    await collector.refresh()
    assert show(collector) == "rocketmq_exporter_requests 1"
