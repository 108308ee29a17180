"""Filters of Spark as filters of the engine.

Rules of this file: it is told by their names and fields, not by PySpark's classes; what is not understood is left to Spark,
which looks at every row again anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection

_COMPARISONS: Final = {
    "EqualTo": "==",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_TESTS: Final = {
    "StringStartsWith": "startswith",
    "StringEndsWith": "endswith",
    "StringContains": "contains",
}


def filter_text(one: Any, columns: Collection[str]) -> str | None:
    """The text of a filter as ``rocketwire-pcap --filter`` takes it.

    Args:
        one: a filter of ``pyspark.sql.datasource``.
        columns: that filters may name.

    Returns:
        None if it cannot be said so.
    """
    path: tuple[str, ...] = getattr(one, "attribute", ())
    if len(path) != 1 or path[0] not in columns:
        return None
    column, kind = path[0], type(one).__name__
    value = getattr(one, "value", None)
    if kind in _COMPARISONS and _is_plain(value):
        return f"{column} {_COMPARISONS[kind]} {value!r}"
    if kind in _TESTS and isinstance(value, str):
        return f"{column}.{_TESTS[kind]}({value!r})"
    if kind == "In" and value and all(map(_is_plain, value)):
        return f"{column} in {list(value)!r}"
    if kind == "IsNull":
        return f"{column} is None"
    if kind == "IsNotNull":
        return f"{column} is not None"
    return None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int)
