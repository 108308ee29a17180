"""Reports keep what they need, and not more."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap import arrow, reports
from rocketwire_tools.pcap.arrow import column
from rocketwire_tools.pcap.reports import Sample, Slow
from rocketwire_tools.pcap.rows import EVERY, schema

if TYPE_CHECKING:
    from rocketwire_tools.pcap.arrow import Batch


def batch(latencies: list[int | None], topics: list[str]) -> Batch:
    count = len(latencies)
    columns: dict[str, list[object]] = {
        "time_ns": list(range(count)),
        "connection": ["c"] * count,
        "request_code": [11] * count,
        "opaque": list(range(count)),
        "request_topic": [*topics],
        "latency_ns": [*latencies],
    }
    made = [column(columns[name], EVERY[name]) for name in Slow.fields]
    return arrow.batch(made, schema(Slow.fields))


def test_latencies_are_counted_by_the_topic_of_the_request() -> None:
    report = Slow(10)
    report.take(batch([3_000_000, None, 1_000_000], ["a", "a", "b"]))
    latencies, slowest = report.tables([])
    assert [("PULL_MESSAGE", "a", 1, 3.0, 3.0, 3.0, 3.0), ("PULL_MESSAGE", "b", 1, 1.0, 1.0, 1.0, 1.0)] == latencies.rows  # fmt: skip
    assert [("PULL_MESSAGE", "a", 3.0, 0, "c", 0), ("PULL_MESSAGE", "b", 1.0, 2, "c", 2)] == slowest.rows  # fmt: skip


def test_few_latencies_of_many_topics_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_SAMPLES", 1000)
    report = Slow(100)
    for _ in range(10):
        report.take(batch([number * 1_000_000 for number in range(1, 1001)], ["a", "b"] * 500))
    kept = [len(one.values) for one in report._samples.values()]  # pyright: ignore[reportPrivateUsage] - what is bounded
    assert sum(kept) <= 1000
    assert min(kept) >= 100
    rows = report.tables([])[0].rows
    assert {(5000, 1000.0), (5000, 999.0)} == {(row[2], row[6]) for row in rows}


def test_a_sample_is_spread_over_all_values() -> None:
    random.seed(1)
    sample = Sample()
    for number in range(10_000):
        sample.add(float(number), 1000 if number < 5000 else 500)
        if number == 5000:
            sample.thin(500)
    assert (500, 10_000, 9999.0) == (len(sample.values), sample.count, sample.largest)
    assert sample.percentiles()[0] == pytest.approx(5000, rel=0.2)
