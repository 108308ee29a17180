"""``--help`` of the whole program: the commands under their headings, each on a line."""

from __future__ import annotations

import argparse
import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.admin.command import Command

    _SubParsersAction = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage] - has no other name
else:
    _SubParsersAction = argparse._SubParsersAction


def listed(commands: Sequence[Command]) -> str:
    """The commands by group, in the order of their names."""
    width = max((len(_names(one)) for one in commands), default=0)
    lines: list[str] = []
    for group in sorted({one.group for one in commands}):
        lines += [f"{group}:"]
        lines += [f"  {_names(one):<{width}}  {one.help}" for one in commands if one.group == group]
        lines.append("")
    return "\n".join([*lines, ""])


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """The options that a parser has so far."""
    found: dict[str, argparse.Action] = vars(parser)["_option_string_actions"]
    return set(found)


def _names(command: Command) -> str:
    return ", ".join((command.name, *command.aliases))


class CommandsAction(_SubParsersAction):
    """Commands by name, in whatever case their letters are, as mqadmin takes them."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        """As argparse makes it."""
        super().__init__(*args, **settings)
        self.choices = self._name_parser_map = _AnyCase(self._name_parser_map)


class _AnyCase(dict[str, argparse.ArgumentParser]):
    """Finds names that were put in with capitals also without, and the other way round."""

    def __contains__(self, name: object) -> bool:
        return self._spelt(name) is not None

    def __getitem__(self, name: str) -> argparse.ArgumentParser:
        return super().__getitem__(self._spelt(name) or name)

    def _spelt(self, name: object) -> str | None:
        lower = str(name).lower()
        return next((one for one in self if one.lower() == lower), None)


class ListingParser(argparse.ArgumentParser):
    """A parser whose help leaves the list of commands to its epilog, and whose complaints do not list them at all."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As ``ArgumentParser``, which knows no other place for it."""
        if isinstance(action, CommandsAction) and value not in action.choices:
            near = difflib.get_close_matches(str(value), action.choices, n=3)
            meant = f" (is it {', '.join(near)}?)" if near else ""
            raise argparse.ArgumentError(
                None, f"no command is called {value!r}{meant}; {self.prog} help lists them"
            )
        super()._check_value(action, value)

    def format_help(self) -> str:
        """As ``ArgumentParser``."""
        groups = self._action_groups
        self._action_groups = [group for group in groups if group is not self._subparsers]
        try:
            return super().format_help()
        finally:
            self._action_groups = groups
