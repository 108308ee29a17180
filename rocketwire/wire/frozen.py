"""``dataclass`` for frozen values by the hundred: what the standard one makes, at a tenth of its price.

The standard one compiles six functions for each class; for the classes of all messages that takes longer than everything else that
a program imports.  Here all classes share these functions but the constructor, and that is compiled when it is first called.

Rules of this file: whoever uses such a class sees no difference: ``fields``, ``replace``, ``inspect.signature``, comparing, hashing, printing, copying,
pickling and ``FrozenInstanceError`` are as of a frozen dataclass with slots and keyword arguments alone, or with a constructor that
the class itself has (``init=False``).
"""

from __future__ import annotations

import dataclasses
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

from rocketwire.wire.source import compiled

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
    from inspect import Signature

__all__ = ["compile_constructors", "dataclass"]

_UNSET: Final = object()
_set = object.__setattr__
_put_off: Final[list[type[Any]]] = []
"""Classes whose constructor may not be compiled yet."""

if not TYPE_CHECKING:  # pragma: no branch

    def dataclass(
        *, frozen: bool, slots: bool, kw_only: bool = False, init: bool = True
    ) -> Callable[[type[Any]], type[Any]]:
        """As ``dataclasses.dataclass``; ``frozen`` and ``slots`` have to be true, and ``kw_only`` where a constructor is made."""
        if not (frozen and slots and kw_only is init):
            raise TypeError("only frozen classes with slots and keyword arguments")
        return partial(_made, init=init)


def _made(cls: type[Any], *, init: bool) -> type[Any]:
    plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=init)
    made: Any = plain(cls)
    names = [each.name for each in dataclasses.fields(made) if each.compare]
    if init:
        made.__init__ = _late_constructor(made)
        _put_off.append(made)
        made.__signature__ = _Signature()
    made.__repr__ = _repr
    made.__eq__, made.__hash__ = _comparing(names)
    made.__setattr__ = _refuse_setting
    made.__delattr__ = _refuse_deleting
    made.__getstate__ = _state
    made.__setstate__ = _restore
    return made  # type: ignore[no-any-return]  # what it was given


def compile_constructors() -> None:
    """Compile what would be compiled later: for a program that wants no code to be made while it serves."""
    while _put_off:
        made: Any = _put_off.pop()
        if made.__init__.__name__ != "__init__":
            made.__init__ = _constructor(made)


class _Signature:
    """What ``inspect.signature`` says of a class whose constructor is not compiled yet."""

    def __get__(self, _: object, cls: type[Any]) -> Signature:
        from inspect import signature

        whole = signature(_constructor(cls))
        return whole.replace(parameters=[*whole.parameters.values()][1:])


def _late_constructor(cls: Any) -> Callable[..., None]:
    def construct_late(self: object, *args: object, **values: object) -> None:
        cls.__init__ = _constructor(cls)
        cls.__init__(self, *args, **values)

    return construct_late


def _constructor(cls: type[Any]) -> Callable[..., None]:
    """The constructor of a class: keyword arguments, in the order of its fields."""
    names: dict[str, Any] = {"set_": _set, "unset_": _UNSET}
    arguments, lines = [""], list[str]()
    for each in dataclasses.fields(cls):
        name = value = each.name
        if each.default is not dataclasses.MISSING:
            names[f"default_{name}"] = each.default
            arguments.append(f"{name}=default_{name}")
        elif each.default_factory is not dataclasses.MISSING:
            names[f"make_{name}"] = each.default_factory
            arguments.append(f"{name}=unset_")
            value = f"make_{name}() if {name} is unset_ else {name}"
        else:
            arguments.append(name)
        lines.append(f"    set_(self, {name!r}, {value})")
    if not lines:
        arguments, lines = [], ["    pass"]
    head = f"def __init__(self{', *' if lines != ['    pass'] else ''}{', '.join(arguments)}):"
    text = "\n".join((head, *lines, ""))
    made: Callable[..., None] = compiled(text, "__init__", cls.__name__, names)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _comparing(
    names: list[str],
) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    # of a single name it would give no tuple, of none nothing
    values: Any = attrgetter(*names, *names[:1]) if names else type

    def equal(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented  # type: ignore[no-any-return]  # as of every comparison
        same: bool = values(self) == values(other)
        return same

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equal, hashed


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (
        f"{each.name}={getattr(self, each.name)!r}"
        for each in dataclasses.fields(self)
        if each.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_setting(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        _set(self, each.name, value)
