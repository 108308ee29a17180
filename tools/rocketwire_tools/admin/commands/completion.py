"""``completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.command import Command, RefusedError

if TYPE_CHECKING:
    import argparse

    from rocketwire_tools.admin.command import Context

_SHELLS: Final = ("bash", "zsh", "fish")

_EPILOG: Final = """\
  bash   eval "$(rocketwire-admin completion bash)"         in ~/.bashrc
  zsh    rocketwire-admin completion zsh > ~/.zfunc/_rocketwire-admin
  fish   rocketwire-admin completion fish > ~/.config/fish/completions/rocketwire-admin.fish
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="for which shell")


async def _run(context: Context) -> str:
    try:
        import shtab
    except ImportError as error:
        raise RefusedError("scripts are made by shtab; pip install 'rocketwire[admin]'") from error
    from rocketwire_tools.admin.program import build_parser
    from rocketwire_tools.admin.registry import all_commands

    return shtab.complete(build_parser(all_commands()), context.arguments.shell)


COMMANDS: Final = (
    Command(
        name="completion",
        help="print the completion script of a shell",
        add_arguments=_arguments,
        run=_run,
        epilog=_EPILOG,
        offline=True,
        streams=True,
    ),
)
