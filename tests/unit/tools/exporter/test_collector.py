"""When a collection begins, and which result a scrape gets."""

import logging
from collections.abc import Callable
from typing import TypeAlias

import pytest
import trio

from rocketwire_tools.exporter.exposition import OPENMETRICS, PLAIN, Collector

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
