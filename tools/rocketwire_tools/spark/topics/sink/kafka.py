"""Rows with the columns of spark-sql-kafka, as columns of messages: for jobs that move.

What Kafka's partitioner does with a key, the sharding key does here: rows of a key go to one queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketwire.messages import message_const as const
from rocketwire_tools.spark.topics.sink.failures import SinkError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def message_columns(columns: Mapping[str, Iterable[Any]], first: int) -> dict[str, Iterable[Any]]:
    """Return the columns of messages: those of ``columns.COLUMNS``.

    The key becomes the message's keys and its sharding key, the headers become properties, and a
    header ``TAGS`` the tag.
    """
    converted = {name: columns[name] for name in ("topic", "id") if name in columns}
    converted["body"] = columns["value"]
    if "key" in columns:
        keys = [
            _text(key, index, "the key", "use hex(key) or base64(key)")
            for index, key in enumerate(columns["key"], first)
        ]
        converted["keys"] = converted["shardingKey"] = keys
    if "headers" in columns:
        headers = [
            _properties(pairs or (), index) for index, pairs in enumerate(columns["headers"], first)
        ]
        converted["properties"] = [list(pairs.items()) for pairs in headers]
        converted["tags"] = [pairs.get(const.TAGS) for pairs in headers]
    return converted


def _properties(headers: Iterable[Mapping[str, Any]], number: int) -> dict[str, str]:
    properties: dict[str, str] = {}
    for header in headers:
        name = header["key"]
        text = _text(header["value"], number, f"header {name!r}", "encode it, or filter it out")
        if name is not None and text is not None:
            properties[name] = text
    return properties


def _text(value: bytes | str | None, number: int, what: str, advice: str) -> str | None:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise SinkError(
            f"row {number} of the partition: {what} is not UTF-8, and RocketMQ has texts there: "
            f"{advice}"
        ) from None
