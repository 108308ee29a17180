"""Bodies of pull responses as record batches, without an object for each message."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from rocketwire.errors import DecodeError, MissingPackageError
from rocketwire.messages import message_const
from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.store import commit_log
from rocketwire.wire.message.body_compression import compression_type, decompress_body
from rocketwire_tools.spark.stores.columns import microseconds
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.rows import (
    COMPRESSED,
    INNER_BATCH,
    MAX_BODY,
    Rows,
    TopicNames,
)
from rocketwire_tools.store.engine.scan import Block, State
from rocketwire_tools.store.formats.arrow_rows import record_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rocketwire_tools.spark.topics.offsets import QueueRange
    from rocketwire_tools.spark.topics.ranges import Chunk
    from rocketwire_tools.store.engine.columns import Int64s

pa: Any = importlib.import_module("pyarrow")  # it has no types
pc: Any = importlib.import_module("pyarrow.compute")

_TEXT: Final = pa.string()
_TIME: Final = pa.timestamp("us", tz="UTC")
_HEADERS: Final = pa.list_(pa.struct([("key", _TEXT), ("value", pa.binary())]))
_LOG_APPEND_TIME: Final = 1
_LATEST: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, after which ``microseconds`` has nulls."""
PART: Final = 8 << 20
"""Bytes of decompressed bodies that become one record batch; a larger body has one of its own."""


@dataclass(frozen=True, slots=True)
class Selected:
    queue_range: QueueRange  # the range
    rows: Rows  # those that the range has, one for each offset, in order
    offsets: Int64s  # queue offset of each


class UnreadableBodyError(Exception):
    """A body cannot be decompressed; the text names topic, queue and offset."""


def read_chunk(
    chunk: Chunk, queue_range: QueueRange, *, has_bodies: bool = True, fails: bool = True
) -> Iterator[Selected]:
    """Read the messages of a chunk, in parts that are small also when they are decompressed.

    The chunk gives its bytes away.

    Args:
        chunk: pulled from the range.
        queue_range: the range.
        has_bodies: whether bodies are columns; others are decompressed for inner batches only.
        fails: whether a body that cannot be decompressed is an error; else it is null, and a line
            on standard error.
    """
    rows = _parse_rows(chunk, queue_range)
    if not len(rows):
        return
    flags = rows.messages.numbers("sys_flag")
    is_compressed = (flags & COMPRESSED) != 0
    if not (is_compressed & (has_bodies | ((flags & INNER_BATCH) == INNER_BATCH))).any():
        yield _select(rows.unfold(), queue_range, chunk, chunk.begin)
        return
    begin = chunk.begin
    for part in _inflate(rows, queue_range, chunk.shift, fails=fails):
        selected = _select(part.unfold(), queue_range, chunk, begin)
        if len(selected.rows):
            begin = int(selected.offsets[-1]) + 1
        del part
        yield selected
        del selected


def _parse_rows(chunk: Chunk, queue_range: QueueRange) -> Rows:
    data = bytearray().join(chunk.bodies)
    chunk.bodies.clear()
    view = memoryview(data)
    positions, end = commit_log.walk(view, 0, len(data))
    if end != len(data):
        raise DecodeError(f"{queue_range}: no message at byte {end} of {len(data)}")
    messages = Messages(np.frombuffer(data, np.uint8), np.array(positions, np.int64))
    if len(messages) and not _are_sound(messages):
        raise DecodeError(f"{queue_range}: a message has fields that do not fit into its size")
    return Rows(Block(cast("Any", None), 0, messages, view, State.LIVE), TopicNames())


def _inflate(rows: Rows, queue_range: QueueRange, shift: int, *, fails: bool) -> Iterator[Rows]:
    messages = rows.messages
    starts, sizes = messages.bodies.tolist(), messages.body_sizes.tolist()
    flags, offsets = messages.numbers("sys_flag").tolist(), rows.queue_offsets.tolist()
    data, first = rows.block.view, 0
    bodies: list[bytes | None] = []
    total = 0
    for index, (start, size, flag) in enumerate(zip(starts, sizes, flags, strict=True)):
        body: bytes | None = bytes(data[start : start + size])
        if flag & COMPRESSED and body:
            try:
                body = decompress_body(body, compression_type(flag), max_size=MAX_BODY)
            except DecodeError as error:
                body = None
                _report_body(error, queue_range, offsets[index] + shift, fails=fails)
        length = len(body or b"")
        if bodies and total + length > PART:
            yield rows.with_bodies(slice(first, index), bodies)
            first, bodies, total = index, [], 0
        bodies.append(body or None)
        total += length
        if total >= PART:  # at once, so that it is gone before the next body is decompressed
            del body
            yield rows.with_bodies(slice(first, index + 1), bodies)
            first, bodies, total = index + 1, [], 0
    if bodies:
        yield rows.with_bodies(slice(first, len(rows)), bodies)


def _report_body(error: DecodeError, queue_range: QueueRange, offset: int, *, fails: bool) -> None:
    text = f"{queue_range}: the body of message {offset} cannot be decompressed: {error}"
    if isinstance(error, MissingPackageError):
        raise UnreadableBodyError(text) from None
    if fails:
        raise UnreadableBodyError(
            f"{text}; set failOnDataLoss=false to get null in its place, or choose columns"
            " without the body"
        ) from None
    print(f"rocketmq: {text}; its body is null", file=sys.stderr)


def _select(rows: Rows, queue_range: QueueRange, chunk: Chunk, begin: int) -> Selected:
    """The rows from ``begin`` to the end of the chunk, one for each offset, in order."""
    offsets = (
        _lmq_offsets(rows, queue_range.topic) if _is_lmq(queue_range.topic) else rows.queue_offsets
    )
    offsets = offsets + chunk.shift
    inside = (offsets >= begin) & (offsets < chunk.end)
    if not inside.all() or (np.diff(offsets) <= 0).any():
        indexes = np.flatnonzero(inside)
        _, first = np.unique(offsets[indexes], return_index=True)
        indexes = indexes[first]
        rows, offsets = rows.choose(indexes), offsets[indexes]
    return Selected(queue_range, rows, offsets)


def _are_sound(messages: Messages) -> bool:
    sizes = (messages.body_sizes >= 0) & (messages.topic_sizes >= 0)
    ends = messages.properties + messages.property_sizes == messages.positions + messages.sizes
    return bool((sizes & ends).all())


def _is_lmq(topic: str) -> bool:
    return topic.startswith(LMQ_PREFIX)


def _lmq_offsets(rows: Rows, topic: str) -> Int64s:
    offsets: list[int] = []
    for properties, own in zip(rows.properties, rows.queue_offsets.tolist(), strict=True):
        topics = properties.get(message_const.INNER_MULTI_DISPATCH, "").split(",")
        numbers = properties.get(message_const.INNER_MULTI_QUEUE_OFFSET, "").split(",")
        number = dict(zip(topics, numbers, strict=False)).get(topic, "")
        offsets.append(int(number) if number.isdecimal() else own)
    return np.array(offsets, np.int64)


def with_tags(selected: Selected, tags: frozenset[str]) -> Selected:
    """The messages with one of some tags; brokers only compare hash codes."""
    values = record_batch(selected.rows, ["tags"]).column("tags")
    passes = pc.is_in(values, value_set=pa.array(sorted(tags), _TEXT))
    indexes = np.flatnonzero(passes.to_numpy(zero_copy_only=False))
    if len(indexes) == len(selected.rows):
        return selected
    return Selected(selected.queue_range, selected.rows.choose(indexes), selected.offsets[indexes])


def batch_of(selected: Selected, schema: Any) -> Any:
    stored = {_STORED[name]: None for name in schema.names if name in _STORED}
    if "msgId" in schema.names:
        stored["msg_id"] = None
    batch = record_batch(selected.rows, list(stored))  # once: columns share what they need
    arrays = [
        array if array.type == field.type else array.cast(field.type)
        for field in schema
        for array in (_array(selected, batch, field.name),)
    ]
    return pa.record_batch(arrays, schema=schema)


_STORED: Final = {
    "body": "body",
    "value": "body",
    "tags": "tags",
    "keys": "keys",
    "properties": "properties",
    "headers": "properties",
    "reconsumeTimes": "reconsume_times",
    "bornHost": "born_host",
}
"""Name of a column → the column of the engine that it is, or is built from."""


def _array(selected: Selected, batch: Any, name: str) -> Any:
    if name == "msgId":
        return _message_ids(selected, batch.column("msg_id"))
    if name == "headers":
        return _headers(batch.column("properties"))
    if name in _STORED:
        return batch.column(_STORED[name])
    return _ARRAYS[name](selected)


def _time(name: str) -> Callable[[Selected], Any]:
    def array(selected: Selected) -> Any:
        numbers = selected.rows.messages.numbers(name)
        if len(numbers) and numbers.min() >= 0 and numbers.max() <= _LATEST:
            return pa.array((numbers * 1000).view("M8[us]")).cast(_TIME)
        return microseconds(pa.array(numbers))

    return array


def _repeat(value: Callable[[QueueRange], object], kind: Any) -> Callable[[Selected], Any]:
    def array(selected: Selected) -> Any:
        return pa.repeat(pa.scalar(value(selected.queue_range), kind), len(selected.rows))

    return array


def _message_ids(selected: Selected, keys: Any) -> Any:
    """The unique key of the producer, or without one the offset message id, as in Java."""
    if not keys.null_count:
        return keys
    return pc.coalesce(keys, pa.array(selected.rows.column("offset_msg_id"), _TEXT))


def _key(selected: Selected) -> Any:
    values: Sequence[str | None] = selected.rows.property_values(message_const.KEYS)
    return pa.array([None if value is None else value.encode() for value in values], pa.binary())


def _headers(maps: Any) -> Any:
    items = [maps.keys, maps.items.cast(pa.binary())]
    structs = pa.StructArray.from_arrays(items, fields=list(_HEADERS.value_type))
    return pa.ListArray.from_arrays(maps.offsets, structs)


_ARRAYS: Final[dict[str, Callable[[Selected], Any]]] = {
    "topic": _repeat(lambda queue_range: queue_range.topic, _TEXT),
    "brokerName": _repeat(lambda queue_range: queue_range.broker, _TEXT),
    "queueId": _repeat(lambda queue_range: queue_range.queue_id, pa.int32()),
    "queueOffset": lambda selected: pa.array(selected.offsets),
    "bornTimestamp": _time("born_timestamp"),
    "storeTimestamp": _time("store_timestamp"),
    "key": _key,
    "partition": _repeat(lambda queue_range: queue_range.queue_id, pa.int32()),
    "offset": lambda selected: pa.array(selected.offsets),
    "timestamp": _time("store_timestamp"),
    "timestampType": _repeat(lambda _: _LOG_APPEND_TIME, pa.int32()),
}
"""Name of any other column → its array."""
