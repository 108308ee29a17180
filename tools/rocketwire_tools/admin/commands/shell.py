"""``completion``: shell scripts that complete commands and options; ``help``, as in mqadmin."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import Command, Context, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator


_SHELLS: Final = ("bash", "zsh", "fish")

_EPILOG: Final = """\
  bash   eval "$(rocketwire-admin completion bash)"         in ~/.bashrc
  zsh    rocketwire-admin completion zsh > ~/.zfunc/_rocketwire-admin
  fish   rocketwire-admin completion fish > ~/.config/fish/completions/rocketwire-admin.fish
"""


async def _run(context: Context) -> str:
    try:
        import shtab
    except ImportError as error:
        raise RefusedError("completion needs shtab: pip install 'rocketwire[admin]'") from error
    parser: argparse.ArgumentParser = context.arguments.program
    for action in _actions(parser):
        if action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # read by shtab
    return shtab.complete(parser, context.arguments.shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # no public API  # pyright: ignore[reportPrivateUsage] - it has no public name
        yield action
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage] - it has no public name
            of_commands: dict[str, argparse.ArgumentParser] = vars(action)["choices"]
            for command_parser in set(of_commands.values()):
                yield from _actions(command_parser)


async def _show_help(context: Context) -> None:
    about = context.arguments.about
    words = ["--help"] if about is None else [about, "--help"]
    context.arguments.program.parse_args(words)


COMMANDS: Final = (
    Command(
        name="completion",
        help="print the completion script of a shell",
        options=(mq.argument("shell", "name of the shell", choices=_SHELLS),),
        run=_run,
        epilog=_EPILOG,
        offline=True,
        streams=True,
    ),
    Command(
        name="help",
        help="show the help of a command, or list all commands",
        options=(
            mq.argument(
                "about",
                "name of a command (default: list all commands)",
                nargs="?",
                metavar="COMMAND",
            ),
        ),
        run=_show_help,
        offline=True,
        streams=True,
    ),
)
