"""Constructors of frozen values that cost as little as those of other objects.

Setting the fields of a frozen object needs a call for each field, which takes longer than decoding
the value.  A constructor from here fills a *draft*, an object of the same layout that is not
frozen, and then changes its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from rocketwire.wire.values.frozen import compile_function, declared_fields

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def create_draft_class(cls: type[Any]) -> Any:
    """A class with the layout of a frozen dataclass with slots; its instances can be filled.

    The caller completes an instance by assigning ``cls`` to its ``__class__``.
    """
    names = [*declared_fields(cls)]
    lines = [f"def fill(self_, {', '.join(names)}):", *_assignments(names)]
    fill = _compile(lines, cls)
    return type("Draft", cls.__bases__, {"__slots__": cls.__slots__, "__init__": fill})


def build_constructor(cls: type[T]) -> Callable[..., T]:
    names = [*declared_fields(cast("type[Any]", cls))]
    head = [f"def fill({', '.join(names)}):", "    self_ = new_(draft_)"]
    tail = ["    self_.__class__ = cls_", "    return self_"]
    return _compile([*head, *_assignments(names), *tail], cls, create_draft_class(cls))


def _assignments(names: list[str]) -> list[str]:
    return [f"    self_.{name} = {name}" for name in names]


def _compile(lines: list[str], cls: type[Any], draft: object = None) -> Callable[..., Any]:
    namespace = {"cls_": cls, "draft_": draft, "new_": object.__new__}
    return compile_function("\n".join((*lines, "")), "fill", f"draft of {cls.__name__}", namespace)
