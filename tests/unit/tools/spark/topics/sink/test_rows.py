"""Messages of the rows of record batches."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from rocketwire.client import Message, ProducerConfig
from rocketwire.client.producer.batch import build_outgoing_batch
from rocketwire.messages import message_const as const
from rocketwire.wire.message.batch import BatchMessage, decode_batch
from rocketwire_tools.spark.topics.sink.attempts import SinkError
from rocketwire_tools.spark.topics.sink.rows import Row, RowReader
from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def rows(
    columns: dict[str, Any],
    topic: str | None = "orders",
    keys: StableKeys | None = None,
    **options: Any,
) -> list[Row]:
    settings: dict[str, Any] = {"max_message_size": 1000, "single_above": 900, **options}
    reader = RowReader(list(columns), topic=topic, keys=keys, **settings)
    return list(reader.rows(pa.record_batch(columns)))


def messages(columns: dict[str, Any], topic: str | None = "orders") -> list[Message]:
    return [row.message for row in rows(columns, topic)]


def entries(columns: dict[str, Any], **options: Any) -> list[BatchMessage]:
    """The messages as a broker reads them in a batch."""
    return list(decode_batch(b"".join(row.entry or b"" for row in rows(columns, **options))))


def test_row_with_all_columns_is_a_message() -> None:
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


def test_properties_of_clients_and_brokers_are_left_out() -> None:
    pairs = [("UNIQ_KEY", "X"), ("TAGS", "t"), ("mine", "1"), ("nothing", None)]
    columns = {"body": ["b"], "properties": pa.array([pairs], pa.map_(pa.string(), pa.string()))}

    assert messages(columns)[0].properties == {"mine": "1"}


@pytest.mark.parametrize("options", [{}, {"single_above": 0}])
def test_properties_that_have_no_room_in_a_message_are_refused(options: dict[str, Any]) -> None:
    texts = pa.map_(pa.string(), pa.string())
    fits = {"body": ["b"], "properties": pa.array([[("x", "ü" * 16_000)]], texts)}
    too_large = {"body": ["b"], "properties": pa.array([[("x", "ü" * 17_000)]], texts)}

    assert rows(fits, **options)
    with pytest.raises(
        SinkError,
        match=r"row 0 of the partition: properties, tags and keys have 340.. bytes, more than 32767",
    ):
        rows(too_large, **options)


def test_batch_has_all_parts_of_a_message() -> None:
    (entry,) = entries(
        {
            "body": ["b"],
            "tags": ["red"],
            "keys": ["a b"],
            "properties": pa.array([[("x", "1")]], pa.map_(pa.string(), pa.string())),
            "shardingKey": ["s"],
            "id": ["17"],
        },
        keys=StableKeys("s", 0),
        namespace="space",
    )

    assert entry.body == b"b"
    assert entry.properties == {
        const.UNIQ_KEY: StableKeys("t", 9).of_id("orders", "17"),
        const.WAIT: "true",
        const.TAGS: "red",
        const.KEYS: "a b",
        const.SHARDING_KEY: "s",
        "x": "1",
        const.INSTANCE_ID: "space",
    }


def test_batch_has_the_bytes_of_the_producers_batch() -> None:
    columns = {"body": ["a", "b"], "tags": ["x", "y"], "keys": ["k", "l"], "id": ["1", "2"]}
    stable = StableKeys("s", 0)
    keys = [stable.of_id("orders", row_id) for row_id in columns["id"]]
    producers: Any = SimpleNamespace(next_key=iter([*keys, "BATCH"]).__next__)
    messages = [
        Message("orders", body.encode(), tags=tag, keys=key)
        for body, tag, key in zip(columns["body"], columns["tags"], columns["keys"], strict=True)
    ]
    expected = build_outgoing_batch(messages, producers, 0, ProducerConfig()).body

    assert b"".join(row.entry or b"" for row in rows(columns, keys=stable)) == expected


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"delaySeconds": pa.array([3], pa.int32())}, {}),
        ({"deliverTimestamp": pa.array([3], pa.int64())}, {}),
        ({}, {"topic": "%RETRY%g"}),
        ({}, {"single_above": 0}),
    ],
)
def test_rows_that_no_batch_may_contain_are_single_messages(
    columns: dict[str, Any], options: dict[str, Any]
) -> None:
    stable = StableKeys("s", 0)
    (row,) = rows({"body": ["b"], "id": ["17"], **columns}, keys=stable, **options)

    assert row.entry is None
    key = stable.of_id(options.get("topic", "orders"), "17")
    assert row.message.system == {const.UNIQ_KEY: key}


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
def test_row_that_cannot_be_a_message_is_named(columns: dict[str, Any], reason: str) -> None:
    columns = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    with pytest.raises(SinkError) as refused:
        rows(columns, None if "topic" in columns else "orders", StableKeys("s", 0))
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize("options", [{}, {"single_above": 0}])
def test_invalid_property_is_named_with_its_row(options: dict[str, Any]) -> None:
    pairs = pa.array([[("x", " ")]], pa.map_(pa.string(), pa.string()))
    with pytest.raises(SinkError, match="row 0 of the partition: property 'x': name and value"):
        rows({"body": ["b"], "properties": pairs}, **options)
