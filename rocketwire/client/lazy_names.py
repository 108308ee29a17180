"""Names of a package that are imported when they are used: a program starts faster."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def offer_names(package: str, modules: Mapping[str, str], extras: Mapping[str, str] = {}) -> None:
    """Give a package ``__all__``, ``__getattr__`` and ``__dir__`` for the names of modules.

    ``extras`` has, by name, the extra of a class that needs a package.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}
    members: dict[str, Any] = vars(sys.modules[package])

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(homes[name], package), name)
        except ModuleNotFoundError as error:
            if name not in extras:
                raise
            value = _create_stub(name, error.name, extras[name])
        members[name] = value
        return value

    members["__all__"] = sorted(homes)
    members["__getattr__"] = get
    members["__dir__"] = lambda: [*homes, "__doc__", "__file__", "__name__", "__path__"]


def _create_stub(name: str, package: str | None, extra: str) -> type:
    text = f"{name} needs {package}: pip install 'rocketwire[{extra}]'"

    def refuse(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(text, name=package)

    return type(name, (), {"__doc__": text, "__init__": refuse})
