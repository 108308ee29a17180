"""Columns of messages: those of ``rocketwire-store export``, and ``store``.

Spark has no times in milliseconds, so times have microseconds here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.store.engine.properties import pa, pc
from rocketwire_tools.store.formats.arrow_rows import LATEST_TIME, TYPES

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

COLUMNS: Final[dict[str, Any]] = {
    **{name: _TIME if pa.types.is_timestamp(kind) else kind for name, kind in TYPES.items()},
    "store": _TEXT,
}
"""Name of a column → its type in Arrow."""


def sql_types() -> dict[str, str]:
    return {name: _SQL_TYPES[arrow_type] for name, arrow_type in COLUMNS.items()}


def default_columns() -> dict[str, str]:
    return {name: kind for name, kind in sql_types().items() if name not in ON_REQUEST}


def schema_of(names: Sequence[str]) -> Any:
    return pa.schema([(name, COLUMNS[name]) for name in names])


def microseconds(milliseconds: Any) -> Any:
    """An array of times in milliseconds, in microseconds."""
    numbers = milliseconds.cast(pa.int64())
    exists = pc.and_(pc.greater_equal(numbers, 0), pc.less_equal(numbers, LATEST_TIME))
    return pc.multiply(pc.if_else(exists, numbers, None), 1000).cast(_TIME)
