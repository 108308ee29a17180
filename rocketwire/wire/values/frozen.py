"""``dataclass`` for frozen values by the hundred: what the standard one makes, at a tenth of its price.

The standard one compiles six functions for each class and looks at each annotation; for the classes of all messages that takes
longer than everything else that a program imports.  Here all classes share these functions but the constructor, that is compiled
when it is first called, and the standard library is asked for the fields of a class when somebody wants to know them.

Rules of this file: whoever uses such a class sees no difference: ``fields``, ``replace``, ``inspect.signature``, comparing, hashing, printing, copying,
pickling and ``FrozenInstanceError`` are as of a frozen dataclass with slots and keyword arguments alone, or with a constructor that
the class itself has (``init=False``); it has a docstring of its own, and what is wrong with its fields is told when they are used.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

from rocketwire.wire.values.source import compiled

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
    from inspect import Signature

__all__ = ["compile_constructors", "dataclass", "declared_fields"]

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
    own = {
        name: vars(cls).get(name, dataclasses.MISSING)
        for name, annotation in cls.__annotations__.items()
        if not str(annotation).removeprefix("typing.").startswith("ClassVar")
    }
    made = _with_slots(cls, own, match=() if init else tuple(own))
    if init:
        made.__init__ = _late_constructor(made)
        _put_off.append(made)
        made.__signature__ = _Signature()
    made.__dataclass_fields__ = _Fields(made, own, kw_only=init)
    made.__repr__ = _repr
    made.__eq__, made.__hash__ = _late_comparing(made)
    made.__setattr__ = _refuse_setting
    made.__delattr__ = _refuse_deleting
    made.__getstate__ = _state
    made.__setstate__ = _restore
    made.__replace__ = _replace
    return made  # type: ignore[no-any-return]  # what it was given


def _with_slots(cls: Any, own: dict[str, Any], *, match: tuple[str, ...]) -> Any:
    """The class again, with slots in the place of its fields: a class has them from its first moment."""
    said: dict[str, Any] = dict(cls.__dict__)
    body = {name: value for name, value in said.items() if name not in own}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    inherited = getattr(cls, "__declared__", {})
    body["__declared__"] = inherited | own
    body["__match_args__"] = (*getattr(cls, "__match_args__", ()), *match)
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


class _Fields:
    """``__dataclass_fields__`` of a class that nobody has asked for them."""

    def __init__(self, made: Any, own: dict[str, Any], *, kw_only: bool) -> None:
        self._made = made
        self._own = own
        self._kw_only = kw_only

    def __get__(self, _: object, cls: type[Any]) -> dict[str, Any]:
        made = self._made
        fields: dict[str, Any] = {}
        for base in made.__mro__[:0:-1]:
            fields |= getattr(base, "__dataclass_fields__", {})
        alone = self._alone()
        fields |= alone.__dataclass_fields__
        made.__dataclass_fields__ = fields
        made.__dataclass_params__ = alone.__dataclass_params__
        made.__dataclass_params__.frozen = True
        return fields

    def _alone(self) -> Any:
        """What the standard library makes of the class's own fields."""
        said = {
            name: value for name, value in self._own.items() if value is not dataclasses.MISSING
        }
        annotations = {name: self._made.__annotations__[name] for name in self._own}
        module = self._made.__module__
        body = {**said, "__annotations__": annotations, "__doc__": "-", "__module__": module}
        alone: Any = type(self._made.__name__, (), body)
        return dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)(alone)


def declared_fields(cls: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a dataclass by name, in their order: as ``dataclasses.fields``, without asking the standard library for more of
    a class than how its fields were declared."""
    declared = vars(cls).get("__declared__")
    if declared is None:
        return {each.name: each for each in dataclasses.fields(cls)}
    return {
        name: said if isinstance(said, dataclasses.Field) else dataclasses.field(default=said)
        for name, said in declared.items()
    }


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
    for name, each in declared_fields(cls).items():
        value = name
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
    keywords = ", *" if lines else ""
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    head = f"def __init__(self{keywords}{', '.join(arguments)}):"
    lines = lines or ["    pass"]
    text = "\n".join((head, *lines, ""))
    made: Callable[..., None] = compiled(text, "__init__", cls.__name__, names)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _late_comparing(cls: Any) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    def equal_late(self: Any, other: object) -> bool:
        cls.__eq__, cls.__hash__ = _comparing(cls)
        same: bool = cls.__eq__(self, other)
        return same

    def hashed_late(self: Any) -> int:
        cls.__eq__, cls.__hash__ = _comparing(cls)
        return hash(self)

    return equal_late, hashed_late


def _comparing(cls: type[Any]) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    names = [name for name, each in declared_fields(cls).items() if each.compare]
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


def _replace(self: Any, /, **changes: Any) -> Any:
    return dataclasses.replace(self, **changes)


def _state(self: Any) -> list[object]:
    return [getattr(self, name) for name in self.__declared__]


def _restore(self: Any, state: list[object]) -> None:
    for name, value in zip(self.__declared__, state, strict=True):
        _set(self, name, value)
