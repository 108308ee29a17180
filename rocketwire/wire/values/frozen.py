"""A ``dataclass`` for frozen values that is a tenth as expensive to define as the standard one.

The standard decorator compiles six functions for each class and inspects each annotation.  For all
message classes that takes longer than every other import of a program.  Here all classes share
their functions.  Only the constructor is compiled for each class, when it is first called.  The
``Field`` objects are created when ``dataclasses.fields`` first asks for them.

Rules of this file: users see no difference.  ``fields``, ``replace``, ``inspect.signature``,
comparison, hashing, ``repr``, copying, pickling and ``FrozenInstanceError`` work as for a frozen
standard dataclass with slots.  A class either has keyword-only arguments or defines its own
constructor (``init=False``), and it needs a docstring.  An invalid field raises when it is first
used.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass as dataclass
    from inspect import Signature

__all__ = ["compile_constructors", "compile_function", "dataclass", "declared_fields"]

_UNSET: Final = object()
_set = object.__setattr__
_uncompiled: Final[list[type[Any]]] = []  # classes whose constructor is not compiled yet

if not TYPE_CHECKING:  # pragma: no branch  # type checkers read the one of the library

    def dataclass(
        *, frozen: bool, slots: bool, kw_only: bool = False, init: bool = True
    ) -> Callable[[type[Any]], type[Any]]:
        """``dataclasses.dataclass``; ``frozen`` and ``slots`` must be true, and ``kw_only`` equal
        to ``init``."""
        if not (frozen and slots and kw_only is init):
            raise TypeError("only frozen classes with slots and keyword arguments")
        return partial(_create_class, init=init)


def compile_function(
    text: str, function: str, label: str, namespace: Mapping[str, object]
) -> Callable[..., Any]:
    """Compile a function from generated text; no other function turns text into code."""
    names = dict(namespace)
    exec(compile(text, f"<{label}>", "exec"), names)  # noqa: S102  # never received text
    result: Callable[..., Any] = names[function]  # type: ignore[assignment]  # it defines one
    return result


def _create_class(cls: type[Any], *, init: bool) -> type[Any]:
    declared = {
        name: vars(cls).get(name, dataclasses.MISSING)
        for name, annotation in cls.__annotations__.items()
        if not str(annotation).removeprefix("typing.").startswith("ClassVar")
    }
    frozen = _add_slots(cls, declared, match=() if init else tuple(declared))
    if init:
        frozen.__init__ = _late_constructor(frozen)
        _uncompiled.append(frozen)
        frozen.__signature__ = _Signature()
    frozen.__dataclass_fields__ = _Fields(frozen, declared, kw_only=init)
    frozen.__repr__ = _repr
    frozen.__eq__, frozen.__hash__ = _comparison(frozen)
    frozen.__setattr__ = _refuse_setting
    frozen.__delattr__ = _refuse_deleting
    frozen.__getstate__ = _state
    frozen.__setstate__ = _restore
    frozen.__replace__ = _replace
    return frozen  # type: ignore[no-any-return]  # a class, as ``cls``


def _add_slots(cls: Any, declared: dict[str, Any], *, match: tuple[str, ...]) -> Any:
    # The class is created again, because slots cannot be added to a class.
    namespace: dict[str, Any] = dict(cls.__dict__)
    body = {name: value for name, value in namespace.items() if name not in declared}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    inherited = getattr(cls, "__declared__", {})
    body["__declared__"] = inherited | declared
    body["__match_args__"] = (*getattr(cls, "__match_args__", ()), *match)
    body["__slots__"] = tuple(name for name in declared if name not in inherited)
    frozen = type(cls)(cls.__name__, cls.__bases__, body)
    frozen.__qualname__ = cls.__qualname__
    return frozen


class _Fields:
    # Replaces itself by the real dictionary at the first use of ``__dataclass_fields__``.

    def __init__(self, cls: Any, declared: dict[str, Any], *, kw_only: bool) -> None:
        self._cls = cls
        self._declared = declared
        self._kw_only = kw_only

    def __get__(self, _: object, owner: type[Any]) -> dict[str, Any]:
        cls = self._cls
        fields: dict[str, Any] = {}
        for base in cls.__mro__[:0:-1]:
            fields |= getattr(base, "__dataclass_fields__", {})
        standard = self._standard_class()
        fields |= standard.__dataclass_fields__
        cls.__dataclass_fields__ = fields
        cls.__dataclass_params__ = standard.__dataclass_params__
        cls.__dataclass_params__.frozen = True
        return fields

    def _standard_class(self) -> Any:
        defaults = {
            name: value
            for name, value in self._declared.items()
            if value is not dataclasses.MISSING
        }
        annotations = {name: self._cls.__annotations__[name] for name in self._declared}
        module = self._cls.__module__
        body = {**defaults, "__annotations__": annotations, "__doc__": "-", "__module__": module}
        cls: Any = type(self._cls.__name__, (), body)
        return dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)(cls)


def declared_fields(cls: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a dataclass by name, in order.

    Faster than ``dataclasses.fields``: the fields of this module's classes lack a name
    and a type.
    """
    declared = vars(cls).get("__declared__")
    if declared is None:
        return {field.name: field for field in dataclasses.fields(cls)}
    return {
        name: value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
        for name, value in declared.items()
    }


def compile_constructors() -> None:
    """Compile all constructors now, for a program that generates no code while it serves."""
    while _uncompiled:
        cls: Any = _uncompiled.pop()
        if cls.__init__.__name__ != "__init__":
            cls.__init__ = _compile_constructor(cls)


class _Signature:
    # For a class whose constructor is not compiled yet.

    def __get__(self, _: object, cls: type[Any]) -> Signature:
        from inspect import signature

        result = signature(_compile_constructor(cls))
        return result.replace(parameters=[*result.parameters.values()][1:])


def _late_constructor(cls: Any) -> Callable[..., None]:
    def construct_late(self: object, *args: object, **values: object) -> None:
        cls.__init__ = _compile_constructor(cls)
        cls.__init__(self, *args, **values)

    return construct_late


def _compile_constructor(cls: type[Any]) -> Callable[..., None]:
    names: dict[str, Any] = {"set_": _set, "unset_": _UNSET}
    arguments, lines = [""], list[str]()
    for name, field in declared_fields(cls).items():
        value = name
        if field.default is not dataclasses.MISSING:
            names[f"default_{name}"] = field.default
            arguments.append(f"{name}=default_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            names[f"make_{name}"] = field.default_factory
            arguments.append(f"{name}=unset_")
            value = f"make_{name}() if {name} is unset_ else {name}"
        else:
            arguments.append(name)
        lines.append(f"    set_(self, {name!r}, {value})")
    keywords = ", *" if lines else ""
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    head = f"def __init__(self{keywords}{', '.join(arguments)}):"
    text = "\n".join((head, *(lines or ["    pass"]), ""))
    constructor = compile_function(text, "__init__", cls.__name__, names)
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def _comparison(cls: Any) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    names = [
        name
        for name, value in cls.__declared__.items()
        if not isinstance(value, dataclasses.Field) or value.compare
    ]
    # attrgetter returns no tuple for a single name, and needs at least one
    values: Any = attrgetter(*names, *names[:1]) if names else type

    def equal(self: Any, value: object) -> bool:
        if value.__class__ is not self.__class__:
            return NotImplemented  # type: ignore[no-any-return]  # as in every comparison
        result: bool = values(self) == values(value)
        return result

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equal, hashed


@recursive_repr()
def _repr(self: Any) -> str:
    values = (
        f"{field.name}={getattr(self, field.name)!r}"
        for field in dataclasses.fields(self)
        if field.repr
    )
    return f"{type(self).__qualname__}({', '.join(values)})"


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
