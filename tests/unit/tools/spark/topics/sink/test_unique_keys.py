"""Unique keys of ``ids=stable``."""

import pytest

from rocketwire.client import Message
from rocketwire_tools.spark.topics.sink.attempts import SinkError
from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys

ROWS = [
    Message("a", b"1"),
    Message("a", b"2", tags="t"),
    Message("a", b"1"),
    Message("b", b"1", properties={"x": "1", "y": "2"}),
    Message("a", b"1", sharding_key="k"),
    Message("a", b"1", delay_seconds=3),
]


def keys(rows: list[Message], scope: str = "query/7", partition: int = 0) -> list[str]:
    stable = StableKeys(scope, partition)
    return [stable.of_message(row) for row in rows]


def test_repeated_partition_has_the_same_keys_in_any_order() -> None:
    assert sorted(keys(ROWS)) == sorted(keys(ROWS[::-1]))


def test_other_batches_and_partitions_have_other_keys() -> None:
    other_keys = keys(ROWS, "query/8") + keys(ROWS, partition=1)

    assert not set(keys(ROWS)) & set(other_keys)


def test_key_of_an_id_depends_on_topic_and_id_only() -> None:
    key = StableKeys("query/7", 0).of_id("a", "17")

    assert StableKeys("query/8", 3).of_id("a", "17") == key
    assert StableKeys("query/7", 0).of_id("b", "17") != key
    assert StableKeys("query/7", 0).of_id("a", "18") != key


def test_keys_never_change_between_releases() -> None:
    assert keys(ROWS[:1]) == ["213B51FC17DA4B442B73000000009798"]
    assert StableKeys("", 0).of_id("a", "17") == "302839C9E5F0EE7029D300000000E7E8"


def test_memory_of_a_partition_is_bounded() -> None:
    stable = StableKeys("run", 0, max_rows=2)
    for body in (b"1", b"2", b"1", b"2"):
        stable.of_message(Message("a", body))

    with pytest.raises(SinkError, match="more than 2 rows without an id: repartition the frame"):
        stable.of_message(Message("a", b"3"))
