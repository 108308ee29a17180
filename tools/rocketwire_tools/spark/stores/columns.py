"""Columns of the tables: those of ``rocketwire-store export``, and ``store``.

Spark has no times in milliseconds, so times have microseconds here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.store.formats.arrow_rows import LATEST_TIME, TYPES, pa, pc

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXT: Final = pa.string()
_TIME: Final = pa.timestamp("us", tz="UTC")
_SQL_TYPES: Final = {
    _TEXT: "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    _TIME: "timestamp",
    TYPES["keys"]: "array<string>",
    TYPES["properties"]: "map<string,string>",
}
ON_REQUEST: Final = ("crc_ok", "state")
"""Columns of messages that a read only has if it names them: each costs a pass."""

COLUMNS: Final[dict[str, dict[str, Any]]] = {
    "messages": {
        **{name: _TIME if pa.types.is_timestamp(kind) else kind for name, kind in TYPES.items()},
        "store": _TEXT,
    },
    "queues": {
        "store": _TEXT,
        "topic": _TEXT,
        "queue_id": pa.int32(),
        "queue_offset": pa.int64(),
        "physical_offset": pa.int64(),
        "size": pa.int32(),
        "tags_code": pa.int64(),
        "file": _TEXT,
    },
    "offsets": {
        "store": _TEXT,
        "consumer_group": _TEXT,
        "topic": _TEXT,
        "queue_id": pa.int32(),
        "consumer_offset": pa.int64(),
        "max_offset": pa.int64(),
        "lag": pa.int64(),
    },
    "timers": {
        "store": _TEXT,
        "due": _TIME,
        "topic": _TEXT,
        "queue_id": pa.int32(),
        "physical_offset": pa.int64(),
        "uniq_key": _TEXT,
        "rolled": pa.bool_(),
    },
    "damage": {
        "store": _TEXT,
        "file": _TEXT,
        "position": pa.int64(),
        "physical_offset": pa.int64(),
        "size": pa.int64(),
        "kind": _TEXT,
        "reason": _TEXT,
    },
}
"""Table → name of a column → its type in Arrow."""


def sql_types(table: str) -> dict[str, str]:
    """Return names and SQL types of all columns of a table."""
    return {name: _SQL_TYPES[arrow_type] for name, arrow_type in COLUMNS[table].items()}


def default_columns(table: str) -> dict[str, str]:
    """Return names and SQL types of the columns of a read without a selection."""
    return {name: kind for name, kind in sql_types(table).items() if name not in ON_REQUEST}


def schema_of(table: str, names: Sequence[str]) -> Any:
    """The schema of some columns of a table."""
    return pa.schema([(name, COLUMNS[table][name]) for name in names])


def microseconds(milliseconds: Any) -> Any:
    """An array of times in milliseconds, in microseconds."""
    numbers = milliseconds.cast(pa.int64())
    exists = pc.and_(pc.greater_equal(numbers, 0), pc.less_equal(numbers, LATEST_TIME))
    return pc.multiply(pc.if_else(exists, numbers, None), 1000).cast(_TIME)


def batch_of(table: str, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as a record batch; times are in milliseconds since 1970."""
    schema = schema_of(table, names)
    arrays: list[Any] = []
    for field in schema:
        values = [row[field.name] for row in rows]
        if field.type == _TIME:
            arrays.append(microseconds(pa.array(values, pa.int64())))
        else:
            arrays.append(pa.array(values, field.type))
    return pa.record_batch(arrays, schema=schema)
