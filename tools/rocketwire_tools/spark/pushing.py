"""Filters of Spark as filters of the engine.

Rules of this file: filters are recognised by their names and fields, not by PySpark's classes;
unknown ones are left to Spark, which checks every row again anyway.
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


def filter_text(spark_filter: Any, columns: Collection[str]) -> str | None:
    """Return a filter as a text for ``rocketwire-pcap --filter``.

    Returns:
        The text; None if there is no such text.
    """
    path: tuple[str, ...] = getattr(spark_filter, "attribute", ())
    if len(path) != 1 or path[0] not in columns:
        return None
    column, name = path[0], type(spark_filter).__name__
    value = getattr(spark_filter, "value", None)
    if name in _COMPARISONS and _is_plain(value):
        return f"{column} {_COMPARISONS[name]} {value!r}"
    if name in _TESTS and isinstance(value, str):
        return f"{column}.{_TESTS[name]}({value!r})"
    if name == "In" and value and all(map(_is_plain, value)):
        return f"{column} in {list(value)!r}"
    if name == "IsNull":
        return f"{column} is None"
    if name == "IsNotNull":
        return f"{column} is not None"
    return None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int)
