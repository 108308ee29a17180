"""Filters of Spark as ranges."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rocketwire_tools.spark.topics.offsets import Queue
from rocketwire_tools.spark.topics.pushing import narrow


def a_filter(name: str, column: str, value: Any) -> Any:
    created: Any = type(name, (), {})()
    created.attribute, created.value = (column,), value
    return created


def test_queues_are_left_out_that_no_row_can_come_from() -> None:
    left = narrow(
        [
            a_filter("EqualTo", "topic", "t"),
            a_filter("In", "queueId", (0, 1, 2)),
            a_filter("In", "queueId", (2, 3)),
            a_filter("EqualTo", "brokerName", "a"),
        ]
    )

    assert left.has(Queue("t", "a", 2))
    assert not left.has(Queue("t", "a", 1))
    assert not left.has(Queue("t", "a", 3))
    assert not left.has(Queue("t", "b", 2))
    assert not left.has(Queue("u", "a", 2))


def test_offsets_are_bounded() -> None:
    left = narrow(
        [
            a_filter("GreaterThan", "queueOffset", 10),
            a_filter("GreaterThanOrEqual", "offset", 5),
            a_filter("LessThan", "queueOffset", 20),
        ]
    )

    assert left.offsets == (11, 19)
    assert narrow([a_filter("EqualTo", "queueOffset", 3)]).offsets == (3, 3)
    assert not left.has_times


def test_time_within_a_millisecond_leaves_both_neighbours() -> None:
    moment = datetime(2026, 1, 1, 0, 0, 0, 1500, tzinfo=UTC)
    first = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000) + 1

    after = narrow([a_filter("GreaterThan", "storeTimestamp", moment)])
    before = narrow([a_filter("LessThan", "timestamp", moment.replace(tzinfo=None))])

    assert after.times[0] == first
    assert before.times[1] == first + 1
    assert after.has_times


def test_other_filters_leave_everything() -> None:
    left = narrow(
        [
            a_filter("EqualTo", "tags", "A"),
            a_filter("StringStartsWith", "topic", "t"),
            a_filter("EqualTo", "queueOffset", "text"),
            a_filter("EqualTo", "topic", None),
            object(),
        ]
    )

    assert left == narrow([])
