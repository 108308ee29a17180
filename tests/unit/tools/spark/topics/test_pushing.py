"""Filters of Spark as ranges."""

from datetime import UTC, datetime
from typing import Any

from rocketwire_tools.spark.topics.offsets import Queue
from rocketwire_tools.spark.topics.pushing import narrow


def make_filter(name: str, column: str, value: Any) -> Any:
    created: Any = type(name, (), {})()
    created.attribute, created.value = (column,), value
    return created


def test_queues_without_matching_rows_are_left_out() -> None:
    narrowing = narrow(
        [
            make_filter("EqualTo", "topic", "t"),
            make_filter("In", "queueId", (0, 1, 2)),
            make_filter("In", "queueId", (2, 3)),
            make_filter("EqualTo", "brokerName", "a"),
        ]
    )

    assert narrowing.has(Queue("t", "a", 2))
    assert not narrowing.has(Queue("t", "a", 1))
    assert not narrowing.has(Queue("t", "a", 3))
    assert not narrowing.has(Queue("t", "b", 2))
    assert not narrowing.has(Queue("u", "a", 2))


def test_offsets_are_bounded() -> None:
    narrowing = narrow(
        [
            make_filter("GreaterThan", "queueOffset", 10),
            make_filter("GreaterThanOrEqual", "offset", 5),
            make_filter("LessThan", "queueOffset", 20),
        ]
    )

    assert narrowing.offsets == (11, 19)
    assert narrow([make_filter("EqualTo", "queueOffset", 3)]).offsets == (3, 3)
    assert not narrowing.has_times


def test_time_within_a_millisecond_keeps_both_neighbours() -> None:
    moment = datetime(2026, 1, 1, 0, 0, 0, 1500, tzinfo=UTC)
    first = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000) + 1

    later = narrow([make_filter("GreaterThan", "storeTimestamp", moment)])
    earlier = narrow([make_filter("LessThan", "timestamp", moment.replace(tzinfo=None))])

    assert later.times[0] == first
    assert earlier.times[1] == first + 1
    assert later.has_times


def test_other_filters_leave_everything() -> None:
    narrowing = narrow(
        [
            make_filter("EqualTo", "tags", "A"),
            make_filter("StringStartsWith", "topic", "t"),
            make_filter("EqualTo", "queueOffset", "text"),
            make_filter("EqualTo", "topic", None),
            object(),
        ]
    )

    assert narrowing == narrow([])
