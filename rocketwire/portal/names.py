"""Names of the facades: only the modules that a program uses are imported, so it starts faster."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MODULES: Final = {
    "client": "Client open_client",
    "producer": "Producer open_producer",
    "push_consumer": "PushConsumer open_push_consumer",
    "pop_consumer": "PopConsumer open_pop_consumer",
    "lite_pull_consumer": "LitePullConsumer open_lite_pull_consumer",
    "admin": "Admin open_admin",
    "name_servers": "NameServers open_name_servers",
    "signals": "wait_for_signal",
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names.split()}


def import_lazily(package: str, names: Sequence[str]) -> Callable[[str], object]:
    """Return ``__getattr__`` of a facade with these names."""

    def get(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = f"{package}.{_HOMES[name]}" if name in _HOMES else "rocketwire.client"
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def list_lazily(names: Sequence[str]) -> Callable[[], list[str]]:
    """Return ``__dir__`` of a facade with these names."""
    return lambda: [*names, "__doc__", "__file__", "__name__", "__path__"]
