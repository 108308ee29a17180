"""Reports keep a bounded number of values."""

import random

import pytest

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import Batch, column
from rocketwire_tools.pcap.reports import reports
from rocketwire_tools.pcap.reports.reports import Sample, SlowReport, SummaryReport
from rocketwire_tools.pcap.rows.rows import EVERY, schema


def batch(latencies: list[int | None], topics: list[str]) -> Batch:
    count = len(latencies)
    columns: dict[str, list[object]] = {
        "time_ns": list(range(count)),
        "connection": ["c"] * count,
        "kind": ["response"] * count,
        "code": [0] * count,
        "request_code": [11] * count,
        "opaque": list(range(count)),
        "request_topic": [*topics],
        "latency_ns": [*latencies],
        "held": [False] * count,
    }
    requests = [column(columns[name], EVERY[name]) for name in SlowReport.fields]
    return arrow.batch(requests, schema(SlowReport.fields))


def test_latencies_are_counted_by_the_topic_of_the_request() -> None:
    report = SlowReport(10)
    report.take(batch([3_000_000, None, 1_000_000], ["a", "a", "b"]))
    latencies, slowest, *_ = report.tables([])
    assert [("PULL_MESSAGE", "a", 1, 3.0, 3.0, 3.0, 3.0), ("PULL_MESSAGE", "b", 1, 1.0, 1.0, 1.0, 1.0)] == latencies.rows  # fmt: skip
    assert [("PULL_MESSAGE", "a", 3.0, 0, "c", 0), ("PULL_MESSAGE", "b", 1.0, 2, "c", 2)] == slowest.rows  # fmt: skip


def test_latencies_are_sorted_by_the_99th_percentile() -> None:
    report = SlowReport(10)
    report.take(batch([*[3_000_000] * 20, *[1_000_000] * 19, 900_000_000], ["a"] * 20 + ["b"] * 20))

    assert [row[1] for row in report.tables([])[0].rows] == ["b", "a"]


def test_few_latencies_of_many_topics_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_SAMPLES", 1000)
    report = SlowReport(100)
    for _ in range(10):
        report.take(batch([number * 1_000_000 for number in range(1, 1001)], ["a", "b"] * 500))
    kept = [len(value.values) for value in report._samples.values()]  # pyright: ignore[reportPrivateUsage] - what is bounded
    assert sum(kept) <= 1000
    assert min(kept) >= 100
    rows = report.tables([])[0].rows
    assert {(5000, 1000.0), (5000, 999.0)} == {(row[2], row[6]) for row in rows}


def test_what_nobody_uses_so_many_of_is_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_KEYS", 3)
    summary, slow = SummaryReport(10), SlowReport(10)
    for first in range(0, 40, 8):
        summary.take(requests(range(first, first + 8)))
        slow.take(requests(range(first, first + 8)))
    tables = {table.name: table for table in (*summary.tables([]), *slow.tables([]))}
    for name in ("requests", "clients"):
        assert sum(row[-1] for row in tables[name].rows) == 40
        assert max(tables[name].rows, key=lambda row: int(row[-1]))[0] == reports.OTHERS
        assert len(tables[name].rows) == 4
    assert ("connections with frames, at least", 8) in tables["overall"].rows
    assert ("frames in the busiest second", 1) in tables["overall"].rows
    assert sum(row[2] for row in tables["latencies"].rows) == 40
    assert len(tables["latencies"].rows) == 7
    assert tables["latencies"].rows[0][:2] == (reports.OTHERS, reports.OTHERS)


def requests(numbers: range) -> Batch:
    """Requests that differ in every column."""
    names = tuple(dict.fromkeys((*SummaryReport.fields, *SlowReport.fields)))
    constants = {"kind": "request", "header_ok": True, "body_ok": True} | dict.fromkeys(
        ("gap", "held"), False
    )
    columns: dict[str, list[object]] = {
        "time_ns": [number * 1_000_000_000 for number in numbers],
        "src": [f"10.0.0.{number}" for number in numbers],
        "connection": [f"10.0.0.{number}:1-10.1.0.1:2" for number in numbers],
        "request_topic": [f"topic {number}" for number in numbers],
        "language": [f"language {number}" for number in numbers],
        "code_name": [None for _ in numbers],
    }
    values = [
        columns.get(name, [constants.get(name, number + 90_000) for number in numbers])
        for name in names
    ]
    parts = [column(value, EVERY[name]) for name, value in zip(names, values, strict=True)]
    return arrow.batch(parts, schema(names))


def test_sample_is_spread_over_all_values() -> None:
    random.seed(1)
    sample = Sample()
    for number in range(10_000):
        sample.add(float(number), 1000 if number < 5000 else 500)
        if number == 5000:
            sample.thin(500)
    assert (500, 10_000, 9999.0) == (len(sample.values), sample.count, sample.largest)
    assert sample.percentiles()[0] == pytest.approx(5000, rel=0.2)
