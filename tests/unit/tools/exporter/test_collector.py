"""When a collection begins, and which result a scrape gets."""

from __future__ import annotations

import logging

import pytest
import trio

from rocketwire_tools.exporter.collector import Collector
from rocketwire_tools.exporter.exposition import OPENMETRICS, PLAIN


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


def text_of(collector: Collector, form: str = PLAIN) -> str:
    return collector.text(form).decode()


def show(collector: Collector) -> str:
    lines = text_of(collector).splitlines()
    return next((line for line in lines if line.startswith("rocketmq_exporter_requests ")), "")


async def test_scrapes_at_the_same_time_share_a_collection(
    source: Source, nursery: trio.Nursery, autojump_clock: object
) -> None:
    collector = Collector(source.collect)
    nursery.start_soon(collector.serve)
    async with trio.open_nursery() as scrapes:
        scrapes.start_soon(collector.refresh)
        scrapes.start_soon(collector.refresh)

    assert source.count == 1
    assert show(collector) == "rocketmq_exporter_requests 1"


async def test_a_later_scrape_collects_again_and_an_early_one_does_not(
    source: Source, nursery: trio.Nursery, autojump_clock: object
) -> None:
    collector = Collector(source.collect, min_interval=5)
    nursery.start_soon(collector.serve)
    await collector.refresh()
    await collector.refresh()
    assert source.count == 1

    await trio.sleep(5)
    await collector.refresh()
    assert show(collector) == "rocketmq_exporter_requests 2"


async def test_a_slow_collection_leaves_the_last_complete_result(
    source: Source, nursery: trio.Nursery, autojump_clock: object
) -> None:
    collector = Collector(source.collect, wait=8, min_interval=0)
    nursery.start_soon(collector.serve)
    await collector.refresh()
    source.seconds = 20
    await collector.refresh()

    assert show(collector) == "rocketmq_exporter_requests 1"
    assert "rocketmq_exporter_collection_age_seconds 8" in text_of(collector)
    await trio.sleep(15)
    assert show(collector) == "rocketmq_exporter_requests 2"


async def test_before_the_first_result_only_the_exporter_has_metrics(
    source: Source, nursery: trio.Nursery, autojump_clock: object
) -> None:
    collector = Collector(source.collect, wait=0.5)
    nursery.start_soon(collector.serve)
    await collector.refresh()

    text = text_of(collector)
    assert show(collector) == ""
    assert 'rocketmq_exporter_collections_total{result="complete"} 0.0' in text


async def test_a_failed_collection_is_logged_and_counted(
    source: Source, nursery: trio.Nursery, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    collector = Collector(source.collect, min_interval=0)
    nursery.start_soon(collector.serve)
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
