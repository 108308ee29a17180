"""Counters and rates."""

from __future__ import annotations

from rocketwire_broker.state.statistics import Statistics


def test_a_rate_is_that_of_the_asked_period() -> None:
    statistics = Statistics()
    for second in range(20):
        statistics.sample(second * 1000)
        if second >= 10:
            statistics.note_put("orders", 100)

    assert statistics.put.rate(20_000, 10_000) == 1.0
    assert statistics.put.rate(20_000, 20_000) == 0.5
    assert statistics.put.rate(20_000, 600_000) == 0.5
    assert statistics.put_bytes == 1000


def test_a_counter_without_samples_has_no_rate() -> None:
    statistics = Statistics()
    statistics.note_got("orders", "readers", 3)

    assert statistics.got.rate(1000, 1000) == 0.0
    assert statistics.group_gets["orders@readers"].total == 3
