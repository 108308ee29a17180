"""The columns that the sink takes, and the check of a frame's schema.

Types are Spark's, as ``simpleString`` writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.spark.option_values import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS: Final = {
    "topic": ("string",),
    "body": ("binary", "string"),
    "tags": ("string",),
    "keys": ("string", "array<string>"),
    "properties": ("map<string,string>",),
    "shardingKey": ("string",),
    "delaySeconds": ("int", "bigint", "smallint", "tinyint"),
    "deliverTimestamp": ("timestamp", "bigint"),
    "id": ("string",),
}
"""Column → its types."""

KAFKA_COLUMNS: Final = {
    "topic": ("string",),
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "id": ("string",),
    "offset": ("bigint",),
    "timestamp": ("timestamp",),
    "timestampType": ("int",),
}
"""The same with ``columns=kafka``; those of ``UNUSED`` are there because a read has them."""

UNUSED: Final = frozenset(("offset", "timestamp", "timestampType"))


def check_columns(
    fields: Iterable[tuple[str, str]],  # name and type of each column; case does not matter
    *,
    has_topic: bool,  # whether option ``topic`` is set
    stable_ids: bool,  # whether option ``ids`` is ``stable``
    of_kafka: bool = False,  # whether the columns are those of ``KAFKA_COLUMNS``
) -> tuple[str, ...]:
    table = KAFKA_COLUMNS if of_kafka else COLUMNS
    by_name = {name.lower(): name for name in table}
    names: list[str] = []
    for given, column_type in fields:
        name = by_name.get(given.lower())
        if name is None:
            raise _unknown_column_error(given, of_kafka=of_kafka)
        if name in names:
            raise OptionError(f"column {given!r} is there twice")
        if column_type not in table[name]:
            raise OptionError(
                f"column {given!r} has type {column_type}, but must be of type "
                f"{' or '.join(table[name])}: use cast"
            )
        names.append(name)
    content = "value" if of_kafka else "body"
    if content not in names:
        raise OptionError(f"there is no column {content!r}, of type binary or string")
    if "topic" not in names and not has_topic:
        raise OptionError("there is no topic: set option 'topic', or add a column 'topic'")
    if "id" in names and not stable_ids:
        raise OptionError("column 'id' needs option ids=stable")
    delays = [name for name in ("delaySeconds", "deliverTimestamp") if name in names]
    if len(delays) > 1:
        raise OptionError("columns 'delaySeconds' and 'deliverTimestamp': use one of them")
    return tuple(names)


def _unknown_column_error(given: str, *, of_kafka: bool) -> OptionError:
    if of_kafka and given.lower() == "partition":
        return OptionError(
            "column 'partition': queues belong to brokers, and rows of a key go to one queue: "
            "leave the column out with drop"
        )
    table, other = (KAFKA_COLUMNS, COLUMNS) if of_kafka else (COLUMNS, KAFKA_COLUMNS)
    used = ", ".join(name for name in table if name not in UNUSED)
    hint = ""
    if given.lower() in {name.lower() for name in other}:
        hint = f", or {'leave out' if of_kafka else 'set'} option columns=kafka"
    return OptionError(
        f"column {given!r} is unknown; the columns are {used}: choose columns with select{hint}"
    )
