"""Stored messages as record batches: every column of both forms."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.message.batch import encode_batch
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.spark.topics.columns import KAFKA, ROCKETMQ
from rocketwire_tools.spark.topics.offsets import QueueRange
from rocketwire_tools.spark.topics.ranges import Chunk
from rocketwire_tools.spark.topics.rows import batch_of, read_chunk, with_tags

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

PLACE = QueueRange(topic="orders", broker="broker-a", queue_id=3, begin=0, end=100)
TEXT = pa.string()
TIME = pa.timestamp("us", tz="UTC")
TYPES = {
    "string": TEXT,
    "int": pa.int32(),
    "bigint": pa.int64(),
    "binary": pa.binary(),
    "timestamp": TIME,
    "array<string>": pa.list_(TEXT),
    "map<string,string>": pa.map_(TEXT, TEXT),
    "array<struct<key:string,value:binary>>": pa.list_(
        pa.struct([("key", TEXT), ("value", pa.binary())])
    ),
}
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
MILLISECONDS = int(MOMENT.timestamp() * 1000)


def schema(columns: dict[str, str]) -> Any:
    return pa.schema([(name, TYPES[kind]) for name, kind in columns.items()])


def message(offset: int, body: bytes = b"body", **changes: Any) -> bytes:
    values: dict[str, Any] = {
        "topic": "orders",
        "body": body,
        "queue_id": 3,
        "queue_offset": offset,
        "born_timestamp": MILLISECONDS - 5,
        "store_timestamp": MILLISECONDS,
        "born_host": Host.parse("10.0.0.1:5000"),
        "store_host": Host.parse("10.0.0.2:10911"),
        "commit_log_offset": 1000 + offset,
        "properties": {"TAGS": "A", "KEYS": "k1 k2", "UNIQ_KEY": f"U{offset}", "own": "ü"},
    }
    return encode_stored_message(StoredMessage(**{**values, **changes}))


def chunk(*bodies: bytes, begin: int = 0, end: int = 100, shift: int = 0) -> Chunk:
    return Chunk(begin, end, list(bodies), shift, 0)


def rows(part: Chunk, columns: dict[str, str]) -> list[dict[str, Any]]:
    return batch_of(read_chunk(part, PLACE), schema(columns)).to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types


def test_columns_of_rocketmq() -> None:
    (row,) = rows(chunk(message(7, reconsume_times=2)), dict(ROCKETMQ))

    assert row == {
        "topic": "orders",
        "brokerName": "broker-a",
        "queueId": 3,
        "queueOffset": 7,
        "body": b"body",
        "tags": "A",
        "keys": ["k1", "k2"],
        "properties": [("TAGS", "A"), ("KEYS", "k1 k2"), ("UNIQ_KEY", "U7"), ("own", "ü")],
        "bornTimestamp": MOMENT.replace(microsecond=673000),
        "storeTimestamp": MOMENT,
        "msgId": "U7",
        "reconsumeTimes": 2,
        "bornHost": "10.0.0.1:5000",
    }


def test_columns_of_kafka() -> None:
    (row,) = rows(chunk(message(7)), dict(KAFKA))

    assert row == {
        "key": b"k1 k2",
        "value": b"body",
        "topic": "orders",
        "partition": 3,
        "offset": 7,
        "timestamp": MOMENT,
        "timestampType": 1,
        "headers": [
            {"key": "TAGS", "value": b"A"},
            {"key": "KEYS", "value": b"k1 k2"},
            {"key": "UNIQ_KEY", "value": b"U7"},
            {"key": "own", "value": "ü".encode()},
        ],
    }


def test_a_message_without_properties() -> None:
    part = chunk(message(7, properties={}), message(8))

    first, second = rows(part, {"msgId": "string", "keys": "array<string>", "tags": "string"})

    assert first == {"msgId": "0A00000200002A9F00000000000003EF", "keys": None, "tags": None}
    assert second["msgId"] == "U8"
    assert rows(part, dict(KAFKA))[0]["key"] is None
    assert rows(part, dict(KAFKA))[0]["headers"] == []


def test_messages_outside_of_the_chunk_and_repeated_ones_are_left_out() -> None:
    part = chunk(message(4) + message(5), message(6) + message(7), message(6), begin=5, end=7)

    assert [row["queueOffset"] for row in rows(part, {"queueOffset": "bigint"})] == [5, 6]


def test_offsets_of_a_static_topic_are_shifted() -> None:
    part = chunk(message(4), begin=14, end=15, shift=10)

    assert rows(part, {"queueOffset": "bigint"}) == [{"queueOffset": 14}]


def test_an_inner_batch_is_several_rows() -> None:
    from rocketwire.wire.message.batch import BatchMessage

    inner = encode_batch([BatchMessage(body=b"%d" % number) for number in range(3)])
    flags = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)
    part = chunk(message(4, inner, sys_flag=flags), begin=5, end=7)

    found = rows(part, {"queueOffset": "bigint", "body": "binary"})

    assert found == [{"queueOffset": 5, "body": b"1"}, {"queueOffset": 6, "body": b"2"}]


def test_a_light_queue_has_offsets_of_its_own() -> None:
    properties = {"INNER_MULTI_DISPATCH": "%LMQ%a,%LMQ%b", "INNER_MULTI_QUEUE_OFFSET": "70,80"}
    place = QueueRange(topic="%LMQ%b", broker="broker-a", queue_id=0, begin=80, end=82)
    part = chunk(message(4, properties=properties), begin=80, end=82)

    batch = batch_of(read_chunk(part, place), schema({"queueOffset": "bigint", "topic": "string"}))

    assert batch.to_pylist() == [{"queueOffset": 80, "topic": "%LMQ%b"}]
    own = chunk(message(81, properties={}), begin=80, end=82)
    assert read_chunk(own, place).offsets.tolist() == [81]


def test_tags_are_compared_as_texts() -> None:
    part = chunk(*(message(number, properties={"TAGS": tag}) for number, tag in enumerate("ABA")))
    selected = read_chunk(part, PLACE)

    assert with_tags(selected, frozenset("A")).offsets.tolist() == [0, 2]
    assert with_tags(selected, frozenset("AB")) is selected
    assert len(with_tags(selected, frozenset("C")).rows) == 0


def test_no_messages_are_no_rows() -> None:
    assert rows(chunk(), dict(ROCKETMQ)) == []


@pytest.mark.parametrize(
    "data",
    [
        b"no message",
        message(1)[:-1],
        message(1) + b"\0\0\0\x20",
        message(1)[:84] + b"\x7f\xff\xff\xff" + message(1)[88:],
        message(1)[:84] + b"\xff\xff\xff\xff" + message(1)[88:],
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError, match="topic orders, broker broker-a, queue 3: "):
        read_chunk(chunk(data), PLACE)
