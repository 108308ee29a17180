"""Rows as record batches of Arrow, and files of Parquet and Arrow.

Texts and bodies are copied once, as bytes of the block; no object is made for each of them.
"""

from __future__ import annotations

import importlib
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np

from rocketwire.messages import message_const
from rocketwire.wire.message.properties import split_keys
from rocketwire_tools.store.engine.properties import BINARY, MAP, TEXT, gather, pa, pc
from rocketwire_tools.store.engine.rows import COLUMNS, FEW_TEXTS
from rocketwire_tools.values import number_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.properties import PropertyItems
    from rocketwire_tools.store.engine.rows import Rows

_TIME: Final = pa.timestamp("ms", tz="UTC")
LATEST_TIME: Final = 253_402_300_799_999
"""The last millisecond of the year 9999.

A producer may send any number as the born timestamp.  A later time, or one before 1970, is null:
a program that needs microseconds or dates fails to read a column with a time out of its range.
"""
_OWN_TYPES: Final = {"time": _TIME, "texts": pa.list_(TEXT), "map": MAP}
TYPES: Final[dict[str, Any]] = {
    name: _OWN_TYPES[column.kind] if column.kind in _OWN_TYPES else pa.type_for_alias(column.kind)
    for name, column in COLUMNS.items()
}
"""Name of a column → its type."""

_WITHOUT_ORDER: Final = frozenset({"body", "properties", "keys", "offset_msg_id"})
"""Columns of which no reader asks for the least and the largest value."""
_GROUP_SIZE: Final = 16 << 20  # bytes of the rows that become one row group of Parquet
FEW_VALUES: Final = (
    *(*FEW_TEXTS, "tags", "real_topic", "real_queue_id", "properties.key_value.key"),
    *("queue_id", "flag", "sys_flag", "reconsume_times", "version"),
)
"""Columns of Parquet that mostly have few values: they are worth a dictionary."""


def schema_of(names: Sequence[str]) -> Any:
    return pa.schema([(name, TYPES[name]) for name in names])


def record_batch(rows: Rows, names: Sequence[str]) -> Any:
    return pa.record_batch([_column(rows, name) for name in names], schema=schema_of(names))


def _column(rows: Rows, name: str) -> Any:
    if not rows.are_unfolded and name in PROPERTY_COLUMNS:
        return PROPERTY_COLUMNS[name](rows.property_items)
    if name in FEW_TEXTS:
        return _take(*FEW_TEXTS[name](rows))
    if name == "body":
        return _bodies(rows)
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
        return pa.repeat(pa.scalar(texts[0], TEXT), len(numbers))
    return pa.array(texts, TEXT).take(pa.array(numbers))


def _queue_ids(values: Any) -> Any:
    if values.null_count == len(values):
        return pa.nulls(len(values), pa.int32())
    numbers = map(number_in, values.to_pylist())
    return pa.array(
        [number if number is not None and number < 1 << 31 else None for number in numbers],
        pa.int32(),
    )


def _keys(values: Any) -> Any:
    words = pc.split_pattern(values, " ")
    if not pc.any(pc.equal(words.flatten(), "")).as_py():
        return words
    lists = [None if value is None else split_keys(value) for value in values.to_pylist()]
    return pa.array(lists, TYPES["keys"])


PROPERTY_COLUMNS: Final[dict[str, Callable[[PropertyItems], Any]]] = {
    "properties": lambda items: items.maps(),
    "tags": lambda items: items.array(message_const.TAGS),
    "keys": lambda items: _keys(items.array(message_const.KEYS)),
    "msg_id": lambda items: items.array(message_const.UNIQ_KEY),
    "real_topic": lambda items: items.array(message_const.REAL_TOPIC),
    "real_queue_id": lambda items: _queue_ids(items.array(message_const.REAL_QUEUE_ID)),
}
"""Name of a column that is a property → its array."""


def _bodies(rows: Rows) -> Any:
    if not rows.are_bodies_stored:
        bodies = [body or None for body in rows.bodies]
        if sum(map(len, filter(None, bodies))) >= 1 << 31:
            raise OverflowError("the bodies of one block have more than 2 GiB")
        return pa.array(bodies, BINARY)
    sizes = rows.messages.body_sizes
    is_empty = sizes == 0
    return gather(
        rows.messages.data, rows.messages.bodies, sizes, is_empty if is_empty.any() else None
    )


class ArrowFile:
    """A file of Parquet, or of Arrow if no compression is given.

    Parquet describes each row group at the end of the file: until then it takes 26 KB of memory.
    """

    def __init__(self, file: IO[bytes], names: Sequence[str], compression: str | None) -> None:
        self._batches: list[Any] = []
        self._size = 0
        schema = schema_of(names)
        self._schema = schema
        self._writer: Any
        if compression:
            parquet: Any = importlib.import_module("pyarrow.parquet")
            self._writer = parquet.ParquetWriter(
                file,
                schema,
                compression=compression,
                store_schema=False,
                use_dictionary=list(FEW_VALUES),
                write_statistics=[name for name in names if name not in _WITHOUT_ORDER],
            )
        else:
            self._writer = pa.ipc.new_file(file, schema)

    def write(self, batch: Any) -> None:
        self._batches.append(batch)
        self._size += batch.nbytes
        if self._size >= _GROUP_SIZE:
            self._write_batches()

    def _write_batches(self) -> None:
        table = pa.Table.from_batches(self._batches, self._schema)
        self._writer.write_table(table)
        self._batches, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._write_batches()
            self._writer.close()
        elif hasattr(self._writer, "is_open"):  # Parquet's writer would write when it is collected
            self._writer.is_open = False
