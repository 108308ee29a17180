"""Frozen values made at the price of others.

Filling a frozen object costs a call for each of its fields, more than reading what they come from.  So an object of the same
shape that is not frozen is filled, and then becomes one of the frozen class.
"""

from __future__ import annotations

from dataclasses import fields, make_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def draft_of(cls: type[Any]) -> Any:
    """A class of the same shape as a frozen dataclass with slots, whose instances can be filled and become those of the other."""
    return make_dataclass("Draft", [each.name for each in fields(cls)], slots=True)


def drafting(cls: type[T]) -> Callable[..., T]:
    """A function that makes instances of a frozen dataclass with slots from all its values, in the order of its fields."""
    draft = draft_of(cls)

    def made(*values: object) -> T:
        one = draft(*values)
        one.__class__ = cls
        return cast("T", one)

    return made


def later(cls: type[Any], name: str, read: Callable[[bytes], object]) -> None:
    """Have a field of a dataclass with slots read when it is first asked for: where it is filled with bytes, ``read`` makes of
    them what it is."""
    slot = cls.__dict__[name]
    get, put = slot.__get__, slot.__set__

    def value(one: object) -> object:
        held = get(one)
        if held.__class__ is bytes:
            held = read(held)
            put(one, held)
        return held

    setattr(cls, name, property(value, put))
