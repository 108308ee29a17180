"""Stored messages as record batches: every column of both forms."""

import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.body_compression import CompressionType, compress_body, decompress_body
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.spark.topics.offsets import QueueRange
from rocketwire_tools.spark.topics.options import KAFKA, ROCKETMQ
from rocketwire_tools.spark.topics.ranges import Chunk
from rocketwire_tools.spark.topics.rows import (
    PART,
    Selected,
    UnreadableBodyError,
    batch_of,
    read_chunk,
    with_tags,
)
from rocketwire_tools.store.engine.rows import MAX_BODY

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
    return pa.schema([(name, TYPES[type_]) for name, type_ in columns.items()])


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
    parts = read_chunk(part._replace(bodies=list(part.bodies)), PLACE)
    return [row for part in parts for row in batch_of(part, schema(columns)).to_pylist()]


def read_whole_chunk(part: Chunk, place: QueueRange = PLACE) -> Selected:
    """The messages of a chunk, none of which is compressed."""
    (selected,) = read_chunk(part, place)
    return selected


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


def test_message_without_properties() -> None:
    part = chunk(message(7, properties={}), message(8))

    first, second = rows(part, {"msgId": "string", "keys": "array<string>", "tags": "string"})

    assert first == {"msgId": "0A00000200002A9F00000000000003EF", "keys": None, "tags": None}
    assert second["msgId"] == "U8"
    assert rows(part, dict(KAFKA))[0]["key"] is None
    assert rows(part, dict(KAFKA))[0]["headers"] == []


def test_offsets_of_a_static_topic_are_shifted() -> None:
    part = chunk(message(4), begin=14, end=15, shift=10)

    assert rows(part, {"queueOffset": "bigint"}) == [{"queueOffset": 14}]


def test_inner_batch_is_several_rows() -> None:
    inner = encode_batch([BatchMessage(body=b"%d" % number) for number in range(3)])
    flags = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)
    part = chunk(message(4, inner, sys_flag=flags), begin=5, end=7)

    decoded = rows(part, {"queueOffset": "bigint", "body": "binary"})

    assert decoded == [{"queueOffset": 5, "body": b"1"}, {"queueOffset": 6, "body": b"2"}]


def test_light_queue_has_offsets_of_its_own() -> None:
    properties = {"INNER_MULTI_DISPATCH": "%LMQ%a,%LMQ%b", "INNER_MULTI_QUEUE_OFFSET": "70,80"}
    place = QueueRange(topic="%LMQ%b", broker="broker-a", queue_id=0, begin=80, end=82)
    part = chunk(message(4, properties=properties), begin=80, end=82)

    batch = batch_of(
        read_whole_chunk(part, place), schema({"queueOffset": "bigint", "topic": "string"})
    )

    assert batch.to_pylist() == [{"queueOffset": 80, "topic": "%LMQ%b"}]
    part_of_queue = chunk(message(81, properties={}), begin=80, end=82)
    assert read_whole_chunk(part_of_queue, place).offsets.tolist() == [81]


def test_tags_are_compared_as_texts() -> None:
    part = chunk(*(message(number, properties={"TAGS": tag}) for number, tag in enumerate("ABA")))
    selected = read_whole_chunk(part)

    assert with_tags(selected, frozenset("A")).offsets.tolist() == [0, 2]
    assert with_tags(selected, frozenset("AB")) is selected
    assert len(with_tags(selected, frozenset("C")).rows) == 0


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
        list(read_chunk(chunk(data), PLACE))


def compress_message(
    offset: int, body: bytes, compression: CompressionType = CompressionType.ZLIB
) -> bytes:
    """A message whose body is compressed, as producers do it."""
    flags = int(MessageSysFlag.COMPRESSED | compression.sys_flag)
    return message(offset, compress_body(body, compression), sys_flag=flags)


@pytest.mark.parametrize("compression", CompressionType)
def test_compressed_bodies_become_batches_of_limited_size(compression: CompressionType) -> None:
    sizes = [PART // 3, PART // 3, PART // 3, PART // 2, 3 * PART, 10, 0, PART + 1, 1, 2]
    bodies = [bytes([65 + number]) * size for number, size in enumerate(sizes)]
    part = chunk(
        *(compress_message(number, body, compression) for number, body in enumerate(bodies))
    )

    parts = [
        batch_of(part, schema({"queueOffset": "bigint", "body": "binary"}))
        for part in read_chunk(part, PLACE)
    ]

    assert [part.column("queueOffset").to_pylist() for part in parts] == [
        [0, 1, 2],
        [3],
        [4],
        [5, 6],
        [7],
        [8, 9],
    ]
    all_bodies = [body for part in parts for body in part.column("body").to_pylist()]
    assert all_bodies == [body or None for body in bodies]


def test_body_is_decompressed_after_the_previous_part(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def decompress(data: bytes, compression: CompressionType, *, max_size: int) -> bytes:
        opened.append(len(opened))
        return decompress_body(data, compression, max_size=max_size)

    monkeypatch.setattr("rocketwire_tools.spark.topics.rows.decompress_body", decompress)
    part = chunk(*(compress_message(number, bytes(PART)) for number in range(5)))

    parts = read_chunk(part, PLACE)

    assert part.bodies
    for number in range(5):
        assert next(parts).offsets.tolist() == [number]
        assert len(opened) == number + 1
        assert not part.bodies  # its frames are gone


def test_bodies_of_no_column_stay_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    def decompress(*_: object, **__: object) -> bytes:
        raise AssertionError

    monkeypatch.setattr("rocketwire_tools.spark.topics.rows.decompress_body", decompress)
    part = chunk(*(compress_message(number, bytes(PART)) for number in range(5)))

    (selected,) = read_chunk(part, PLACE, has_bodies=False)

    assert selected.offsets.tolist() == [0, 1, 2, 3, 4]


def test_too_large_body_is_an_error_with_its_place() -> None:
    bomb = compress_message(8, bytes(MAX_BODY + 1))
    parts = read_chunk(chunk(compress_message(7, b"good") + bomb), PLACE)

    with pytest.raises(UnreadableBodyError) as error:
        list(parts)

    assert str(error.value) == (
        "topic orders, broker broker-a, queue 3: the body of message 8 cannot be decompressed:"
        " inflates to more than 67108864 bytes; set failOnDataLoss=false to get null in its place,"
        " or choose columns without the body"
    )


def test_unreadable_body_is_null_by_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    flags = int(MessageSysFlag.COMPRESSED | CompressionType.LZ4.sys_flag)
    part = chunk(message(7, b"no LZ4", sys_flag=flags), compress_message(8, b"good"))

    (selected,) = read_chunk(part, PLACE, fails=False)

    rows = batch_of(selected, schema({"queueOffset": "bigint", "body": "binary"})).to_pylist()
    assert rows == [{"queueOffset": 7, "body": None}, {"queueOffset": 8, "body": b"good"}]
    assert "queue 3: the body of message 7 cannot be decompressed: " in capsys.readouterr().err


def test_missing_package_is_always_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    part = chunk(compress_message(7, b"good", CompressionType.LZ4))
    monkeypatch.setitem(sys.modules, "lz4.frame", None)

    with pytest.raises(UnreadableBodyError, match=r"pip install 'rocketwire\[compression\]"):
        list(read_chunk(part, PLACE, fails=False))
