"""``--help`` of the program: a list of the commands by group."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rocketwire.nearest import did_you_mean
from rocketwire.program import ProgramParser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.cli.command import Command

    SubParsersAction = argparse._SubParsersAction[  # pyright: ignore[reportPrivateUsage] - it has no public name
        ProgramParser
    ]
else:
    SubParsersAction = argparse._SubParsersAction


def command_list(commands: Sequence[Command]) -> str:
    width = max((len(command.name) for command in commands), default=0)
    lines: list[str] = []
    for group in sorted({command.group for command in commands}):
        lines += [f"{group}:"]
        lines += [
            f"  {command.name:<{width}}  {command.help}"
            for command in commands
            if command.group == group
        ]
        lines.append("")
    return "\n".join([*lines, ""])


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    actions: dict[str, argparse.Action] = vars(parser)["_option_string_actions"]
    return set(actions)


class CommandsAction(SubParsersAction):
    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.choices = self._name_parser_map = _AnyCase(self._name_parser_map)


class _AnyCase(dict[str, ProgramParser]):
    # Parsers by name, with case-insensitive lookup
    def __contains__(self, name: object) -> bool:
        return self._key(name) is not None

    def __getitem__(self, name: str) -> ProgramParser:
        return super().__getitem__(self._key(name) or name)

    def _key(self, name: object) -> str | None:
        lower = str(name).lower()
        return next((choice for choice in self if choice.lower() == lower), None)


class ListingParser(ProgramParser):
    """A parser that lists the commands only in the epilog of its help, and never in errors."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # Check a value; suggests similar commands. argparse has no public hook for this.
        if isinstance(action, CommandsAction) and value not in action.choices:
            hint = did_you_mean(str(value), action.choices)
            raise argparse.ArgumentError(None, f"unknown command {value!r}{hint}")
        super()._check_value(action, value)

    def format_help(self) -> str:
        groups = self._action_groups
        self._action_groups = [group for group in groups if group is not self._subparsers]
        try:
            return super().format_help()
        finally:
            self._action_groups = groups
