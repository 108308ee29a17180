"""All commands: the ``COMMANDS`` of each module in ``rocketwire_tools.admin.commands``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from rocketwire_tools.admin import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.cli.command import Command


def all_commands() -> tuple[Command, ...]:
    """All commands, sorted by name; raises ``ValueError`` if two have the same name."""
    by_name: dict[str, Command] = {}
    for module in iter_modules(commands.__path__, f"{commands.__name__}."):
        of_module: Sequence[Command] = import_module(module.name).COMMANDS
        for command in of_module:
            if command.name in by_name:
                raise ValueError(f"two commands are called {command.name}")
            by_name[command.name] = command
    return tuple(by_name[name] for name in sorted(by_name, key=str.lower))
