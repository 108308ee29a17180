"""All commands: the ``COMMANDS`` of each module in ``rocketwire_tools.admin.commands``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from rocketwire_tools.admin import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.admin.command import Command


def all_commands() -> tuple[Command, ...]:
    """All commands, sorted by name.

    Raises:
        ValueError: two commands have the same name.
    """
    commands_by_name: dict[str, Command] = {}
    names: set[str] = set()
    for module in iter_modules(commands.__path__, f"{commands.__name__}."):
        of_module: Sequence[Command] = getattr(import_module(module.name), "COMMANDS", ())
        for command in of_module:
            for name in (command.name, *command.aliases):
                if name in names:
                    raise ValueError(f"two commands are called {name}")
                names.add(name)
            commands_by_name[command.name] = command
    return tuple(commands_by_name[name] for name in sorted(commands_by_name, key=str.lower))
