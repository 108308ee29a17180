"""``help``: as ``--help``, for whoever is used to mqadmin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.command import Command

if TYPE_CHECKING:
    import argparse

    from rocketwire_tools.admin.command import Context


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "about", nargs="?", metavar="COMMAND", help="a command; all if none is named"
    )


async def _run(context: Context) -> None:
    about = context.arguments.about
    words = ["--help"] if about is None else [about, "--help"]
    context.arguments.program.parse_args(words)


COMMANDS: Final = (
    Command(
        name="help",
        help="tell of a command, or list all of them",
        add_arguments=_arguments,
        run=_run,
        offline=True,
        streams=True,
    ),
)
