"""Record batches of Arrow in, messages out; those of a batch are encoded at once."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.client.message import Message
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.errors import LocalProtocolError
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import is_retry_topic
from rocketwire.policy.validation import check_message
from rocketwire.wire.java_utf8 import encode_utf8
from rocketwire.wire.layouts.fused import build_batch
from rocketwire.wire.message.properties import encode_properties
from rocketwire_tools.spark.topics.sink.attempts import SinkError
from rocketwire_tools.spark.topics.sink.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys


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


_MICROS_OF_MILLI: Final = 1000
MAX_PROPERTIES: Final = (1 << 15) - 1
"""Bytes of the properties of a message: their size is a number of 16 bits."""


class Row(NamedTuple):
    message: Message  # the message
    entry: bytes | None  # its bytes in a batch; None if it is a request of its own


class RowReader:
    """Builds the messages of a partition.

    A message that no batch may contain is a request of its own: delayed ones, those
    to retry topics, and bodies above ``single_above``.
    """

    def __init__(
        self,
        # columns in the order of the record batches, with the names of the table
        names: Sequence[str],
        *,
        topic: str | None,  # topic of all rows; None for that of column ``topic``
        max_message_size: int,  # largest body in bytes
        single_above: int,  # larger bodies are requests of their own
        namespace: str = "",  # namespace of the first kind
        of_kafka: bool = False,  # whether the columns are those of ``KAFKA_COLUMNS``
        keys: StableKeys | None = None,  # unique keys; None for new ones
    ) -> None:
        self.count = 0  # rows so far
        self.names = tuple(names)  # columns
        self._topic = topic
        self._max_size = max_message_size
        self._single_above = single_above
        self._namespace = namespace
        self._of_kafka = of_kafka
        self._keys = keys
        self._new_keys = unique_keys()
        self._has_ids = "id" in self.names
        # whether rows may name what chooses their queues
        self.has_sharding_keys = ("key" if of_kafka else "shardingKey") in self.names

    def rows(self, batch: Any) -> Iterator[Row]:
        columns: dict[str, Iterable[Any]] = {
            name: _values(name, batch.column(at)) for at, name in enumerate(self.names)
        }
        if self._of_kafka:
            columns = message_columns(columns, self.count)
        if self._topic is not None:
            columns["topic"] = repeat(self._topic)
        missing = repeat(None)
        for values in zip(*(columns.get(name, missing) for name in COLUMNS), strict=False):
            try:
                yield self._row(*values)
            except LocalProtocolError as error:
                raise SinkError(
                    f"row {self.count} of the partition: {error}: correct or filter such rows"
                ) from None
            self.count += 1

    def _row(
        self,
        topic: str | None,
        body: bytes | str | None,
        tags: str | None,
        keys: str | Sequence[str | None] | None,
        properties: Sequence[tuple[str, str | None]] | None,
        sharding_key: str | None,
        delay_seconds: int | None,
        deliver_millis: int | None,
        row_id: str | None,
    ) -> Row:
        """Build the message of a row; the arguments are in the order of ``COLUMNS``."""
        if topic is None or body is None:
            content = "value" if self._of_kafka else "body"
            raise self._null("topic" if topic is None else content)
        message = Message(
            topic,
            body.encode() if isinstance(body, str) else body,
            tags or None,
            () if keys is None else keys if isinstance(keys, str) else _texts(keys),
            properties=_own_properties(properties) if properties else None,
            delay_seconds=delay_seconds,
            deliver_millis=deliver_millis,
            sharding_key=sharding_key or None,
        )
        check_message(topic, message.body, max_size=self._max_size)
        key = None if self._keys is None else self._stable_key(self._keys, message, row_id)
        if (
            delay_seconds is not None
            or deliver_millis is not None
            or len(message.body) > self._single_above
            or is_retry_topic(topic)
        ):
            self._check_size(encode_properties(message.wire_properties()))
            return Row(message if key is None else with_unique_key(message, key), None)
        return Row(message, self._entry(message, key or self._new_keys.next_key()))

    def _entry(self, message: Message, key: str) -> bytes:
        text = None if self._namespace else message.encode_simple_properties(key)
        if text is None:
            properties = {const.UNIQ_KEY: key, **message.wire_properties()}
            if self._namespace:
                properties[const.INSTANCE_ID] = self._namespace
            text = encode_properties(properties)
        self._check_size(text)
        return build_batch([(0, message.body, text)])

    def _check_size(self, properties: str) -> None:
        if len(properties) > MAX_PROPERTIES // 4:  # four bytes at most for each
            size = len(encode_utf8(properties))
            if size > MAX_PROPERTIES:
                raise SinkError(
                    f"row {self.count} of the partition: properties, tags and keys have {size}"
                    f" bytes, more than {MAX_PROPERTIES}: shorten or filter such rows"
                )

    def _stable_key(self, keys: StableKeys, message: Message, row_id: str | None) -> str:
        if row_id is not None:
            return keys.of_id(message.topic, row_id)
        if self._has_ids:
            raise self._null("id")
        return keys.of_message(message)

    def _null(self, column: str) -> SinkError:
        return SinkError(
            f"row {self.count} of the partition: column {column!r} is null: filter such rows"
        )


def with_unique_key(message: Message, key: str) -> Message:
    return Message(
        message.topic,
        message.body,
        message.tags,
        message.keys,
        properties=message.properties,
        delay_seconds=message.delay_seconds,
        deliver_millis=message.deliver_millis,
        sharding_key=message.sharding_key,
        system={const.UNIQ_KEY: key},
    )


def _values(name: str, column: Any) -> list[Any]:
    if name == "deliverTimestamp" and str(column.type).startswith("timestamp"):
        micros = column.cast("int64").to_pylist()
        return [None if micro is None else micro // _MICROS_OF_MILLI for micro in micros]
    values: list[Any] = column.to_pylist()
    return values


def _texts(keys: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(key for key in keys if key)


def _own_properties(pairs: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """Return the properties of the application that have a value.

    Those that clients and brokers set are left out, so that a row that was read can be written.
    """
    return {
        name: value for name, value in pairs if value is not None and name not in const.RESERVED
    }
