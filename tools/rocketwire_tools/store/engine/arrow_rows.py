"""Rows as record batches of Arrow.

Texts and bodies are copied once, as bytes of the block; no object is made for each of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire_tools.numbers import number_in
from rocketwire_tools.store.engine.rows import (
    compression_name,
    host_text,
    offset_id_prefix,
    transaction_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.properties import PropertyItems
    from rocketwire_tools.store.engine.rows import Rows

pa: Any = importlib.import_module("pyarrow")  # it has no types
pc: Any = importlib.import_module("pyarrow.compute")

_TIME: Final = pa.timestamp("ms", tz="UTC")
_TEXT: Final = pa.string()
_MAP: Final = pa.map_(pa.string(), pa.string())
TYPES: Final[dict[str, Any]] = {
    "file": _TEXT,
    "physical_offset": pa.int64(),
    "size": pa.int32(),
    "topic": _TEXT,
    "queue_id": pa.int32(),
    "queue_offset": pa.int64(),
    "tags": _TEXT,
    "keys": pa.list_(pa.string()),
    "uniq_key": _TEXT,
    "offset_msg_id": _TEXT,
    "born_timestamp": _TIME,
    "store_timestamp": _TIME,
    "born_host": _TEXT,
    "store_host": _TEXT,
    "flag": pa.int32(),
    "sys_flag": pa.int32(),
    "compression": _TEXT,
    "transaction": _TEXT,
    "prepared_transaction_offset": pa.int64(),
    "reconsume_times": pa.int32(),
    "body_length": pa.int32(),
    "body": pa.binary(),
    "properties": _MAP,
    "kind": _TEXT,
    "real_topic": _TEXT,
    "real_queue_id": pa.int32(),
    "batch_index": pa.int32(),
    "version": pa.int8(),
    "crc_ok": pa.bool_(),
    "state": _TEXT,
}
"""Name of a column → its type."""

FEW_VALUES: Final = (
    "file",
    "topic",
    "queue_id",
    "tags",
    "born_host",
    "store_host",
    "flag",
    "sys_flag",
    "compression",
    "transaction",
    "reconsume_times",
    "properties.key_value.key",
    "kind",
    "real_topic",
    "real_queue_id",
    "version",
    "state",
)
"""Columns of Parquet that mostly have few values: they are worth a dictionary."""


def schema_of(names: Sequence[str]) -> Any:
    """The schema of some columns."""
    return pa.schema([(name, TYPES[name]) for name in names])


def record_batch(rows: Rows, names: Sequence[str]) -> Any:
    """Rows as a record batch.

    Args:
        rows: of one block.
        names: columns.
    """
    texts = None if rows.are_unfolded else _PropertyArrays(rows.property_items)
    columns = [_column(rows, name, texts) for name in names]
    return pa.record_batch(columns, schema=schema_of(names))


def _column(rows: Rows, name: str, texts: _PropertyArrays | None) -> Any:
    if texts is not None and name in _PROPERTY_COLUMNS:
        return _PROPERTY_COLUMNS[name](texts)
    if name in _COLUMNS:
        return _COLUMNS[name](rows)
    if name == "batch_index" and texts is not None:
        return pa.nulls(len(rows), TYPES[name])
    values = rows.column(name)
    if isinstance(values, np.ndarray):
        return pa.array(values).cast(TYPES[name])
    if name == "properties":
        values = [list(properties.items()) for properties in values]
    return pa.array(values, TYPES[name])


def _chosen(texts: Sequence[str | None], numbers: Int64s) -> Any:
    """Texts by their numbers."""
    return pa.array(texts, _TEXT).take(pa.array(numbers))


def _repeated(text: str, count: int) -> Any:
    return pa.repeat(pa.scalar(text, _TEXT), count)


def _hosts(rows: Rows, name: str) -> Any:
    numbers, raws = rows.host_numbers(name)
    return _chosen([host_text(raw) for raw in raws], numbers)


def _by_flags(rows: Rows, name: Callable[[int], str | None]) -> Any:
    """A text that depends on the system flag alone."""
    flags, numbers = np.unique(rows.messages.numbers("sys_flag"), return_inverse=True)
    return _chosen([name(flag) for flag in flags.tolist()], numbers)


def _stored_bodies(rows: Rows) -> Any:
    """Bodies, inflated: an empty one is null."""
    if not rows.are_bodies_stored:
        return _bodies(rows.bodies)
    bodies, sizes = rows.messages.bodies, rows.messages.body_sizes
    edges = np.zeros(2 * len(rows) + 1, np.int32)
    edges[0:-1:2] = bodies
    edges[1::2] = bodies + sizes
    edges[-1] = edges[-2]
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(rows.block.view)]
    parts = pa.Array.from_buffers(pa.binary(), 2 * len(rows), buffers)
    return parts.take(pa.array(2 * np.arange(len(rows)), mask=sizes == 0))


_HEX: Final = np.frombuffer(b"".join(b"%02X" % number for number in range(256)), "V2")


def _offset_ids(rows: Rows) -> Any:
    """Offset message ids: the store host and the physical offset in hexadecimal digits."""
    numbers, raws = rows.host_numbers("store")
    prefixes = _chosen([offset_id_prefix(raw) for raw in raws], numbers)
    offsets = rows.messages.numbers("physical_offset").astype(">i8").view(np.uint8)
    digits = pa.py_buffer(_HEX[offsets].tobytes())
    edges = pa.py_buffer(np.arange(0, 16 * len(rows) + 1, 16, dtype=np.int32))
    return pc.binary_join_element_wise(
        prefixes, pa.Array.from_buffers(_TEXT, len(rows), [None, edges, digits]), ""
    )


def _bodies(bodies: Sequence[bytes | None]) -> Any:
    """Bodies, joined: None and an empty one are null."""
    lengths = np.fromiter((0 if body is None else len(body) for body in bodies), np.int64)
    data = b"".join([body for body in bodies if body is not None])
    offsets = np.zeros(len(bodies) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if len(data) >= 1 << 31:
        raise OverflowError("the bodies of one block have more than 2 GiB")
    validity = None
    if not lengths.all():
        validity = pa.py_buffer(np.packbits(lengths > 0, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(bodies), buffers)


_COLUMNS: Final[dict[str, Callable[[Rows], Any]]] = {
    "topic": lambda rows: _chosen(rows.topics.names, rows.topic_numbers),
    "file": lambda rows: _repeated(rows.block.file.name, len(rows)),
    "state": lambda rows: _repeated(rows.block.state.value, len(rows)),
    "born_host": lambda rows: _hosts(rows, "born"),
    "store_host": lambda rows: _hosts(rows, "store"),
    "offset_msg_id": _offset_ids,
    "compression": lambda rows: _by_flags(rows, compression_name),
    "transaction": lambda rows: _by_flags(rows, transaction_name),
    "body": _stored_bodies,
}
"""Name of a column → its array, where that takes no object for each row."""


class _PropertyArrays:
    """Names and values of properties as arrays of Arrow."""

    def __init__(self, items: PropertyItems) -> None:
        self._items = items
        # four parts for each item: its name, what is between, its value, what is before the next
        edges = np.zeros(4 * len(items) + 1, np.int32)
        edges[0:-1:4] = items.names
        edges[1::4] = items.name_ends
        edges[2::4] = items.values
        edges[3::4] = items.value_ends
        edges[-1] = edges[-2] if len(items) else 0
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(items.data)]
        self._parts = pa.Array.from_buffers(_TEXT, 4 * len(items), buffers)

    def _taken(self, places: Int64s, mask: Any = None) -> Any:
        return self._parts.take(pa.array(places, mask=mask))

    def values(self, name: str) -> Any:
        """The value of a name of each row; null without one."""
        items = self._items.items_named(name)
        return self._taken(4 * items + 2, items < 0)

    def maps(self) -> Any:
        """All properties of each row; of two with one name the last counts."""
        items = self._items
        if items.has_name_twice:
            pairs = [list(properties.items()) for properties in items.dicts()]
            return pa.array(pairs, _MAP)
        places = 4 * np.arange(len(items))
        counts = np.bincount(items.rows, minlength=items.row_count)
        offsets = np.zeros(items.row_count + 1, np.int32)
        np.cumsum(counts, out=offsets[1:])
        return pa.MapArray.from_arrays(
            pa.array(offsets), self._taken(places), self._taken(places + 2)
        )


def _numbers(values: Any) -> Any:
    """Texts as numbers; null for one that is none."""
    if values.null_count == len(values):
        return pa.nulls(len(values), pa.int32())
    texts = values.to_pylist()
    return pa.array([_int32(text) for text in texts], pa.int32())


def _int32(text: str | None) -> int | None:
    number = number_in(text)
    return number if number is not None and number < 1 << 31 else None


def _keys(values: Any) -> Any:
    """Keys, split at white space."""
    if not pc.any(pc.match_substring_regex(values, r"\s|[^ -~]")).as_py():
        counts = np.asarray(values.is_valid()).astype(np.int32)
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum(counts, out=offsets[1:])
        edges = pa.array(offsets, mask=np.append(counts == 0, False))
        return pa.ListArray.from_arrays(edges, values.drop_null())
    lists = [None if value is None else value.split() for value in values.to_pylist()]
    return pa.array(lists, TYPES["keys"])


_PROPERTY_COLUMNS: Final[dict[str, Callable[[_PropertyArrays], Any]]] = {
    "properties": _PropertyArrays.maps,
    "tags": lambda texts: texts.values(message_const.TAGS),
    "keys": lambda texts: _keys(texts.values(message_const.KEYS)),
    "uniq_key": lambda texts: texts.values(message_const.UNIQ_KEY),
    "real_topic": lambda texts: texts.values(message_const.REAL_TOPIC),
    "real_queue_id": lambda texts: _numbers(texts.values(message_const.REAL_QUEUE_ID)),
}
"""Name of a column that is a property → its array."""
