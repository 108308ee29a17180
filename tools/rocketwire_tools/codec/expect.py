"""Checks of plain values; a value of another type is an ``EncodeError`` with its path."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

from rocketwire.errors import EncodeError


def is_object(value: Plain) -> TypeGuard[dict[str, Plain]]:
    return isinstance(value, dict)


def is_array(value: Plain) -> TypeGuard[list[Plain]]:
    return isinstance(value, list)


def expect_object(value: Plain, path: str) -> dict[str, Plain]:
    if not is_object(value):
        raise EncodeError("not an object", path=path)
    return value


def expect_array(value: Plain, path: str) -> list[Plain]:
    if not is_array(value):
        raise EncodeError("not an array", path=path)
    return value


def expect_text(value: Plain, path: str) -> str:
    if not isinstance(value, str):
        raise EncodeError("not a text", path=path)
    return value


def expect_integer(value: Plain, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise EncodeError("not an integer", path=path)
    return value


def texts(value: Plain, path: str) -> dict[str, str | None]:
    return {
        key: None if item is None else expect_text(item, f"{path}.{key}")
        for key, item in expect_object(value, path).items()
    }


Plain: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, lists, and dicts with text keys."""
