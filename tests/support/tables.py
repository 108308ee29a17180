"""Tables of tests, one row for each result."""

from typing import Any


def cases(*rows: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """The pairs of input and result, of rows that are a result and all inputs that give it."""
    return [(given, result) for result, *inputs in rows for given in inputs]
