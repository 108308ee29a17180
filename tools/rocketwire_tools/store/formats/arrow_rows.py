"""Rows as record batches of Arrow.

Texts and bodies are copied once, as bytes of the block; no object is made for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.wire.message.properties import split_keys
from rocketwire_tools.numbers import number_in
from rocketwire_tools.store.engine.arrow import BINARY, TEXT, build_array, gather, pa, pc
from rocketwire_tools.store.engine.properties import MAP
from rocketwire_tools.store.engine.rows import COLUMNS, FEW_TEXTS, offset_id_prefix

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
_ENCODED: Final = pa.dictionary(pa.int32(), TEXT)
_MAX_ENCODED: Final = 64  # texts from which on a dictionary gets only those that rows have
_OWN_TYPES: Final = {"time": _TIME, "texts": pa.list_(TEXT), "map": MAP}
TYPES: Final[dict[str, Any]] = {
    name: _OWN_TYPES[column.kind] if column.kind in _OWN_TYPES else pa.type_for_alias(column.kind)
    for name, column in COLUMNS.items()
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
    columns = [
        _encode(*FEW_TEXTS[name](rows))
        if has_dictionaries and name in FEW_TEXTS
        else _column(rows, name)
        for name in names
    ]
    return pa.record_batch(columns, schema=schema_of(names, has_dictionaries=has_dictionaries))


def _column(rows: Rows, name: str) -> Any:
    if not rows.are_unfolded and name in PROPERTY_COLUMNS:
        return PROPERTY_COLUMNS[name](rows.property_items)
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
        return pa.repeat(pa.scalar(texts[0], TEXT), len(numbers))
    return pa.array(texts, TEXT).take(pa.array(numbers))


def _encode(texts: Sequence[str | None], numbers: Int64s) -> Any:
    if len(texts) > _MAX_ENCODED or None in texts:
        return _take(texts, numbers).dictionary_encode()
    indices = pa.array(numbers.astype(np.int32))
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, TEXT))


def _queue_ids(values: Any) -> Any:
    if values.null_count == len(values):
        return pa.nulls(len(values), pa.int32())
    numbers = map(number_in, values.to_pylist())
    return pa.array(
        [number if number is not None and number < 1 << 31 else None for number in numbers],
        pa.int32(),
    )


def _keys(values: Any) -> Any:
    if are_plain(values):
        counts = np.asarray(values.is_valid()).astype(np.int32)
        offsets = np.append(0, np.cumsum(counts)).astype(np.int32)
        edges = pa.array(offsets, mask=np.append(counts == 0, False) if values.null_count else None)
        return pa.ListArray.from_arrays(edges, values.drop_null())
    lists = [None if value is None else split_keys(value) for value in values.to_pylist()]
    return pa.array(lists, TYPES["keys"])


def are_plain(values: Any) -> bool:
    """Whether texts have nothing but visible characters of ASCII, and so no white space."""
    _, edges, data = values.buffers()
    if data is None:
        return True
    offsets = np.frombuffer(edges, np.int32, len(values) + 1, 4 * values.offset)
    text = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    return not (text - np.uint8(ord("!")) > ord("~") - ord("!")).any()


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


_HEX: Final = np.frombuffer(b"".join(b"%04X" % number for number in range(1 << 16)), "V4")


def offset_ids(rows: Rows) -> Any:
    """Offset message ids: the store host and the physical offset in hexadecimal digits."""
    numbers, raws = rows.host_numbers("store")
    prefixes = [offset_id_prefix(raw).encode() for raw in raws]
    offsets = rows.messages.numbers("physical_offset").astype(">i8").view(">u2")
    digits = _HEX[offsets].view("V16")
    if len({len(prefix) for prefix in prefixes}) > 1:
        texts = build_array(TEXT, digits, np.full(len(rows), 16))
        of_hosts = _take([prefix.decode() for prefix in prefixes], numbers)
        return pc.binary_join_element_wise(of_hosts, texts, "")
    size = len(prefixes[0])
    ids = np.empty(len(rows), [("host", f"V{size}"), ("offset", "V16")])
    ids["host"] = np.array(prefixes, f"V{size}")[numbers] if len(prefixes) > 1 else prefixes[0]
    ids["offset"] = digits
    return build_array(TEXT, ids.view(np.uint8), np.full(len(rows), size + 16))


_COLUMNS: Final[dict[str, Callable[[Rows], Any]]] = {"offset_msg_id": offset_ids, "body": _bodies}
"""Name of a column → its array, where that takes no object for each row."""
