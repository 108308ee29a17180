"""Messages of the rows of record batches."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rocketwire.client import Message
from rocketwire.messages import message_const as const
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.rows import RowReader
from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def messages(
    columns: dict[str, Any], topic: str | None = "orders", keys: StableKeys | None = None
) -> list[Message]:
    reader = RowReader(list(columns), topic=topic, max_message_size=1000, keys=keys)
    return list(reader.messages(pa.record_batch(columns)))


def test_a_row_with_all_columns_is_a_message() -> None:
    time = datetime(2026, 11, 26, 7, 30, 0, 123456, tzinfo=UTC)
    (message,) = messages(
        {
            "topic": ["t"],
            "body": pa.array([b"\x00\xff"], pa.binary()),
            "tags": ["red"],
            "keys": pa.array([["k1", None, "k2"]], pa.list_(pa.string())),
            "properties": pa.array([[("x", "1")]], pa.map_(pa.string(), pa.string())),
            "shardingKey": ["s"],
            "deliverTimestamp": pa.array([time], pa.timestamp("us", tz="UTC")),
        },
        topic=None,
    )

    assert message == Message(
        "t",
        b"\x00\xff",
        tags="red",
        keys=("k1", "k2"),
        properties={"x": "1"},
        sharding_key="s",
        deliver_millis=1_795_678_200_123,
    )


def test_a_text_is_a_body_in_utf_8() -> None:
    assert [m.body for m in messages({"body": ["ä", "b"]})] == ["ä".encode(), b"b"]


def test_the_option_wins_over_the_column_topic() -> None:
    (message,) = messages({"topic": ["column"], "body": ["b"]}, topic="option")

    assert message.topic == "option"


def test_nulls_stand_for_nothing() -> None:
    nothing: dict[str, Any] = {
        "body": ["b"],
        "tags": pa.array([None], pa.string()),
        "keys": pa.array([None], pa.string()),
        "properties": pa.array([None], pa.map_(pa.string(), pa.string())),
        "shardingKey": pa.array([""], pa.string()),
        "delaySeconds": pa.array([None], pa.int32()),
    }

    assert messages(nothing) == [Message("orders", b"b")]


def test_a_text_of_keys_is_separated_by_spaces() -> None:
    (message,) = messages({"body": ["b"], "keys": ["a b"]})

    assert message.joined_keys == "a b"


def test_properties_of_clients_and_brokers_are_left_out() -> None:
    pairs = [("UNIQ_KEY", "X"), ("TAGS", "t"), ("mine", "1")]
    columns = {"body": ["b"], "properties": pa.array([pairs], pa.map_(pa.string(), pa.string()))}

    assert messages(columns)[0].properties == {"mine": "1"}


def test_stable_keys_are_those_of_the_rows() -> None:
    columns = {"body": ["b", "b"], "tags": ["x", "x"]}
    first, second = messages(columns, keys=StableKeys("s", 0))
    expected = StableKeys("s", 0)
    row = Message("orders", b"b", tags="x")

    assert first.system == {const.UNIQ_KEY: expected.of_message(row)}
    assert second.system == {const.UNIQ_KEY: expected.of_message(row)}


def test_a_column_of_ids_makes_the_stable_keys() -> None:
    columns = {"body": ["a"], "id": ["17"]}
    (message,) = messages(columns, keys=StableKeys("s", 0))

    assert message.system == {const.UNIQ_KEY: StableKeys("t", 9).of_id("orders", "17")}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"body": ["b", None]}, "row 1 of the partition: column 'body' is null: filter such rows"),
        ({"body": ["b", ""]}, "row 1 of the partition: the body is empty: correct or filter such"),
        ({"body": ["b", "x" * 1001]}, "row 1 of the partition: a body of 1001 bytes is larger"),
        (
            {"body": ["b", "b"], "topic": ["a", None]},
            "row 1 of the partition: column 'topic' is null",
        ),
        ({"body": ["b", "b"], "topic": ["a", "a b"]}, "row 1 of the partition: topic 'a b': only"),
        ({"body": ["b", "b"], "id": ["a", None]}, "row 1 of the partition: column 'id' is null"),
    ],
)
def test_a_row_that_cannot_be_a_message_is_named(columns: dict[str, Any], reason: str) -> None:
    columns = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    with pytest.raises(SinkError) as refused:
        messages(columns, topic=None if "topic" in columns else "orders", keys=StableKeys("s", 0))
    assert str(refused.value).startswith(reason)
