"""Counters and rates."""

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


def test_counters_of_a_deleted_topic_or_group_are_dropped() -> None:
    statistics = Statistics()
    for topic in ("orders", "orders-2", "bills"):
        statistics.note_put(topic, 1)
        for group in ("readers", "all-readers"):
            statistics.note_got(topic, group, 1)

    statistics.delete_topic("orders")
    statistics.delete_group("readers")

    assert statistics.topic_puts.keys() == {"orders-2", "bills"}
    assert statistics.group_gets.keys() == {"orders-2@all-readers", "bills@all-readers"}
    assert statistics.put.total == 3
    assert statistics.got.total == 6
