"""Checks of plain values; a value of another type is an ``EncodeError`` with its path."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

from rocketwire.errors import EncodeError


def is_object(value: Plain) -> TypeGuard[dict[str, Plain]]:
    """Returns whether it is an object."""
    return isinstance(value, dict)


def is_array(value: Plain) -> TypeGuard[list[Plain]]:
    """Returns whether it is an array."""
    return isinstance(value, list)


def an_object(value: Plain, path: str) -> dict[str, Plain]:
    """Returns the value, which has to be an object."""
    if not is_object(value):
        raise EncodeError("not an object", path=path)
    return value


def an_array(value: Plain, path: str) -> list[Plain]:
    """Returns the value, which has to be an array."""
    if not is_array(value):
        raise EncodeError("not an array", path=path)
    return value


def a_text(value: Plain, path: str) -> str:
    """Returns the value, which has to be a text."""
    if not isinstance(value, str):
        raise EncodeError("not a text", path=path)
    return value


def an_integer(value: Plain, path: str) -> int:
    """Returns the value, which has to be an integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise EncodeError("not an integer", path=path)
    return value


def texts(value: Plain, path: str) -> dict[str, str | None]:
    """Returns the value, which has to be an object of texts or nulls."""
    return {
        key: None if item is None else a_text(item, f"{path}.{key}")
        for key, item in an_object(value, path).items()
    }


Plain: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, lists, and dicts with text keys."""
