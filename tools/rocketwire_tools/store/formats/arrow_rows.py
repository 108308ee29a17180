"""Rows as record batches of Arrow.

Texts and bodies are copied once, as bytes of the block; no object is made for each of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.store.engine.columns import distinct
from rocketwire_tools.store.engine.gathering import gather
from rocketwire_tools.store.engine.rows import (
    KINDS,
    compression_name,
    host_text,
    offset_id_prefix,
    transaction_name,
)
from rocketwire_tools.store.formats.arrow_properties import (
    KEYS,
    MAP,
    PROPERTY_COLUMNS,
    PropertyArrays,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.rows import Rows

    FewTexts = tuple[Sequence[str | None], Int64s]

pa: Any = importlib.import_module("pyarrow")  # it has no types
pc: Any = importlib.import_module("pyarrow.compute")

_TIME: Final = pa.timestamp("ms", tz="UTC")
LATEST_TIME: Final = 253_402_300_799_999
"""The last millisecond of the year 9999.

A producer may send any number as the born timestamp.  A later time, or one before 1970, is null:
a program that needs microseconds or dates fails to read a column with a time out of its range.
"""
_TEXT: Final = pa.string()
_ENCODED: Final = pa.dictionary(pa.int32(), _TEXT)
_MOST_ENCODED: Final = 64
"""Texts from which on a dictionary gets only those that rows have."""

TYPES: Final[dict[str, Any]] = {
    "file": _TEXT,
    "commit_log_offset": pa.int64(),
    "store_size": pa.int32(),
    "topic": _TEXT,
    "queue_id": pa.int32(),
    "queue_offset": pa.int64(),
    "tags": _TEXT,
    "keys": KEYS,
    "msg_id": _TEXT,
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
    "properties": MAP,
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


def schema_of(names: Sequence[str], *, has_dictionaries: bool = False) -> Any:
    """The schema of some columns; ``has_dictionaries`` as for ``record_batch``."""
    types = TYPES | dict.fromkeys(FEW_TEXTS, _ENCODED) if has_dictionaries else TYPES
    return pa.schema([(name, types[name]) for name in names])


def record_batch(rows: Rows, names: Sequence[str], *, has_dictionaries: bool = False) -> Any:
    """Rows as a record batch.

    Parquet takes dictionaries of the columns of ``FEW_TEXTS`` as they are; it would look up the
    text of each row again.
    """
    has_texts = not rows.are_unfolded and not PROPERTY_COLUMNS.keys().isdisjoint(names)
    texts = PropertyArrays(rows.property_items) if has_texts else None
    columns = [
        _encode(*FEW_TEXTS[name](rows))
        if has_dictionaries and name in FEW_TEXTS
        else _column(rows, name, texts)
        for name in names
    ]
    return pa.record_batch(columns, schema=schema_of(names, has_dictionaries=has_dictionaries))


def _column(rows: Rows, name: str, texts: PropertyArrays | None) -> Any:
    if texts is not None and name in PROPERTY_COLUMNS:
        return PROPERTY_COLUMNS[name](texts)
    if name in FEW_TEXTS:
        return _take(*FEW_TEXTS[name](rows))
    if name in _COLUMNS:
        return _COLUMNS[name](rows)
    if name == "batch_index" and not rows.are_unfolded:
        return pa.nulls(len(rows), TYPES[name])
    values = rows.column(name)
    if isinstance(values, np.ndarray):
        is_invalid = (values < 0) | (values > LATEST_TIME) if TYPES[name] == _TIME else None
        return pa.array(values, mask=is_invalid).cast(TYPES[name])
    if name == "properties":
        values = [list(properties.items()) for properties in values]
    return pa.array(values, TYPES[name])


def _take(texts: Sequence[str | None], numbers: Int64s) -> Any:
    if len(texts) == 1:
        return pa.repeat(pa.scalar(texts[0], _TEXT), len(numbers))
    return pa.array(texts, _TEXT).take(pa.array(numbers))


def _encode(texts: Sequence[str | None], numbers: Int64s) -> Any:
    if len(texts) > _MOST_ENCODED or None in texts:
        return _take(texts, numbers).dictionary_encode()
    indices = pa.array(numbers.astype(np.int32))
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, _TEXT))


def _only(text: str, rows: Rows) -> FewTexts:
    return [text], np.zeros(len(rows), np.int64)


def _hosts(rows: Rows, name: str) -> FewTexts:
    numbers, raws = rows.host_numbers(name)
    return [host_text(raw) for raw in raws], numbers


def _by_flags(rows: Rows, name: Callable[[int], str | None]) -> FewTexts:
    flags, numbers = distinct(rows.messages.numbers("sys_flag"))
    return [name(flag) for flag in flags.tolist()], numbers


FEW_TEXTS: Final[dict[str, Callable[[Rows], FewTexts]]] = {
    "file": lambda rows: _only(rows.block.file.name, rows),
    "state": lambda rows: _only(rows.block.state.value, rows),
    "topic": lambda rows: (rows.topics.names, rows.topic_numbers),
    "born_host": lambda rows: _hosts(rows, "born"),
    "store_host": lambda rows: _hosts(rows, "store"),
    "kind": lambda rows: ([str(kind) for kind in KINDS], rows.kind_numbers),
    "compression": lambda rows: _by_flags(rows, compression_name),
    "transaction": lambda rows: _by_flags(rows, transaction_name),
}
"""Name of a column → its few texts, and the number of each row's text."""


def _body_array(rows: Rows) -> Any:
    """Bodies, inflated: an empty one is null."""
    if not rows.are_bodies_stored:
        return _bodies(rows.bodies)
    sizes = rows.messages.body_sizes
    is_empty = sizes == 0
    return gather(
        rows.messages.data, rows.messages.bodies, sizes, is_empty if is_empty.any() else None
    )


_HEX: Final = np.frombuffer(b"".join(b"%04X" % number for number in range(1 << 16)), "V4")


def offset_ids(rows: Rows) -> Any:
    """Offset message ids: the store host and the physical offset in hexadecimal digits."""
    numbers, raws = rows.host_numbers("store")
    prefixes = [offset_id_prefix(raw).encode() for raw in raws]
    offsets = rows.messages.numbers("physical_offset").astype(">i8").view(">u2")
    digits = _HEX[offsets].view("V16")
    if len({len(prefix) for prefix in prefixes}) > 1:
        edges = pa.py_buffer(np.arange(0, 16 * len(rows) + 1, 16, dtype=np.int32))
        texts = pa.Array.from_buffers(_TEXT, len(rows), [None, edges, pa.py_buffer(digits)])
        of_hosts = _take([prefix.decode() for prefix in prefixes], numbers)
        return pc.binary_join_element_wise(of_hosts, texts, "")
    size = len(prefixes[0])
    ids = np.empty(len(rows), [("host", f"V{size}"), ("offset", "V16")])
    ids["host"] = np.array(prefixes, f"V{size}")[numbers] if len(prefixes) > 1 else prefixes[0]
    ids["offset"] = digits
    edges = pa.py_buffer(np.arange(0, (size + 16) * len(rows) + 1, size + 16, dtype=np.int32))
    return pa.Array.from_buffers(_TEXT, len(rows), [None, edges, pa.py_buffer(ids.view(np.uint8))])


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
    "offset_msg_id": offset_ids,
    "body": _body_array,
}
"""Name of a column → its array, where that takes no object for each row."""
