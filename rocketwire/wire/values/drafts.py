"""Frozen values made at the price of others.

Filling a frozen object costs a call for each of its fields, more than reading what they come from.  So an object of the same
shape that is not frozen is filled, and then becomes one of the frozen class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from rocketwire.wire.values.frozen import declared_fields
from rocketwire.wire.values.source import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def draft_of(cls: type[Any]) -> Any:
    """A class of the same shape as a frozen dataclass with slots, whose instances can be filled and become those of the other."""
    names = [*declared_fields(cls)]
    filling = [f"    one_.{name} = {name}" for name in names]
    fill = _function("fill", [f"def fill(one_, {', '.join(names)}):", *filling], cls)
    return type("Draft", cls.__bases__, {"__slots__": cls.__slots__, "__init__": fill})


def drafting(cls: type[T]) -> Callable[..., T]:
    """A function that makes instances of a frozen dataclass with slots from all its values, in the order of its fields."""
    names = [*declared_fields(cast("type[Any]", cls))]
    filling = [f"    one_.{name} = {name}" for name in names]
    head = [f"def made({', '.join(names)}):", "    one_ = new_(draft_)"]
    tail = ["    one_.__class__ = cls_", "    return one_"]
    made = _function("made", [*head, *filling, *tail], cls, draft_of(cls))
    return cast("Callable[..., T]", made)


def _function(name: str, lines: list[str], cls: type[Any], draft: object = None) -> Any:
    names = {"cls_": cls, "draft_": draft, "new_": object.__new__}
    return compiled("\n".join((*lines, "")), name, f"draft of {cls.__name__}", names)


def later(cls: type[Any], name: str, read: Callable[[bytes], object]) -> None:
    """Have a field of a dataclass with slots read when it is first asked for: where it is filled with bytes, ``read`` makes of
    them what it is."""
    slot = next(vars(each)[name] for each in cls.__mro__ if name in vars(each))
    get, put = slot.__get__, slot.__set__

    def value(one: object) -> object:
        held = get(one)
        if held.__class__ is bytes:
            held = read(held)
            put(one, held)
        return held

    setattr(cls, name, property(value, put))
