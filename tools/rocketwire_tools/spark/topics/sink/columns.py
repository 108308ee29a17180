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


def check_columns(
    fields: Iterable[tuple[str, str]],
    *,
    has_topic: bool,
    stable_ids: bool,
    transactional: bool,
) -> tuple[str, ...]:
    """Check the columns of a frame; returns their names in ``COLUMNS``, in the frame's order.

    Args:
        fields: name and type of each column; case does not matter.
        has_topic: whether option ``topic`` is set.
        stable_ids: whether option ``ids`` is ``stable``.
        transactional: whether option ``transactional`` is set.

    Raises:
        OptionError: a column is unknown, missing, twice there or of another type, or does not go
            with an option.
    """
    by_name = {name.lower(): name for name in COLUMNS}
    names: list[str] = []
    for given, column_type in fields:
        name = by_name.get(given.lower())
        if name is None:
            raise OptionError(
                f"column {given!r} is unknown; the columns are {', '.join(COLUMNS)}: "
                "choose columns with select"
            )
        if name in names:
            raise OptionError(f"column {given!r} is there twice")
        if column_type not in COLUMNS[name]:
            raise OptionError(
                f"column {given!r} has type {column_type}, but must be of type "
                f"{' or '.join(COLUMNS[name])}: use cast"
            )
        names.append(name)
    if "body" not in names:
        raise OptionError("there is no column 'body', of type binary or string")
    if "topic" not in names and not has_topic:
        raise OptionError("there is no topic: set option 'topic', or add a column 'topic'")
    if "id" in names and not stable_ids:
        raise OptionError("column 'id' needs option ids=stable")
    delays = [name for name in ("delaySeconds", "deliverTimestamp") if name in names]
    if len(delays) > 1:
        raise OptionError("columns 'delaySeconds' and 'deliverTimestamp': use one of them")
    if delays and transactional:
        raise OptionError(f"column {delays[0]!r} is not possible with transactional=true")
    return tuple(names)
