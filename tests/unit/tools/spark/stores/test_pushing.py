"""Filters of Spark become options, or Spark applies them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rocketwire_tools.spark.stores.options import Settings
from rocketwire_tools.spark.stores.pushing import narrow
from tests.support.spark_sources import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    Not,
)

X = Settings(paths=("x",))


TIME = datetime(2026, 1, 31, tzinfo=UTC)
MS = 1_769_817_600_000


@pytest.mark.parametrize(
    ("spark_filter", "options"),
    [
        (EqualTo(("topic",), "a"), {"topics": ("a",)}),
        (In(("topic",), ("a", "b", None)), {"topics": ("a", "b")}),
        (EqualTo(("tags",), "t"), {"tags": ("t",)}),
        (EqualTo(("msg_id",), "k"), {"key": "k"}),
        (EqualTo(("queue_id",), 3), {"queue_id": 3}),
        (EqualTo(("queue_offset",), 3), {"offsets": (3, 3)}),
        (GreaterThan(("queue_offset",), 3), {"offsets": (4, None)}),
        (LessThanOrEqual(("commit_log_offset",), 3), {"physical": (None, 3)}),
        (LessThan(("commit_log_offset",), 3), {"physical": (None, 2)}),
        (GreaterThanOrEqual(("store_timestamp",), TIME), {"begin": MS}),
        (LessThan(("store_timestamp",), TIME), {"end": MS + 1}),
        (EqualTo(("store_timestamp",), TIME.replace(tzinfo=None)), {"begin": MS, "end": MS + 1}),
    ],
    ids=str,
)
def test_filter_becomes_an_option(spark_filter: Any, options: dict[str, Any]) -> None:
    assert narrow(X, [spark_filter]) == Settings(paths=("x",), **options)


@pytest.mark.parametrize(
    "spark_filter",
    [
        EqualTo(("topic",), None),
        EqualTo(("properties", "a"), "b"),
        EqualTo(("body_length",), 3),
        EqualTo(("topic",), 3),
        EqualTo(("queue_id",), "x"),
        EqualTo(("queue_offset",), "x"),
        EqualTo(("store_timestamp",), 3),
        GreaterThan(("topic",), "a"),
        GreaterThan(("tags",), "a"),
        GreaterThan(("queue_id",), 1),
        In(("msg_id",), ("a",)),
        In(("topic",), (None,)),
        Not(EqualTo(("topic",), "a")),
    ],
    ids=str,
)
def test_another_filter_is_left_to_spark(spark_filter: Any) -> None:
    assert narrow(X, [spark_filter]) == X


def test_filters_narrow_the_options() -> None:
    settings = Settings(
        paths=("x",), topics=("a", "b"), tags=("t", "u"), offsets=(5, 9), begin=1, end=2, key="k"
    )
    filters = [
        In(("topic",), ("b", "c")),
        In(("tags",), ("u", "v")),
        GreaterThan(("queue_offset",), 2),
        LessThan(("queue_offset",), 8),
        GreaterThan(("store_timestamp",), TIME),
        LessThan(("store_timestamp",), TIME),
        EqualTo(("msg_id",), "j"),
    ]

    result = narrow(settings, filters)

    assert (result.topics, result.tags, result.offsets) == (("b",), ("u",), (5, 7))
    assert (result.begin, result.end, result.key) == (MS, 2, "k")
    assert not result.is_empty


@pytest.mark.parametrize(
    "spark_filter",
    [EqualTo(("topic",), "c"), EqualTo(("tags",), "v"), EqualTo(("queue_id",), 1)],
    ids=str,
)
def test_filters_that_contradict_the_options_leave_nothing(spark_filter: Any) -> None:
    settings = Settings(paths=("x",), topics=("a",), tags=("t",), queue_id=0)

    assert narrow(settings, [spark_filter]).is_empty


def test_filter_does_not_show_topics_that_the_options_hide() -> None:
    topic = EqualTo(("topic",), "SCHEDULE_TOPIC_XXXX")

    assert narrow(X, [topic]).is_empty
    shown = narrow(Settings(paths=("x",), system=True), [topic])
    assert shown.topics == ("SCHEDULE_TOPIC_XXXX",)
    assert not shown.is_empty
