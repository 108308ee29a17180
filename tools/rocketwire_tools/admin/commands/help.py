"""``help``: the same as ``--help``, as in mqadmin."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import Command, Context


async def _run(context: Context) -> None:
    about = context.arguments.about
    words = ["--help"] if about is None else [about, "--help"]
    context.arguments.program.parse_args(words)


COMMANDS: Final = (
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
        run=_run,
        offline=True,
        streams=True,
    ),
)
