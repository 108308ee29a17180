"""Parses the command line and runs one command."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import trio

from rocketwire import __version__
from rocketwire.client.admin import open_admin
from rocketwire.client.admin.fanout import counting_waits
from rocketwire.errors import RocketWireError
from rocketwire.program import ProgramParser, log_to_stderr
from rocketwire_tools.admin.help import CommandsAction, ListingParser, command_list, options_of
from rocketwire_tools.admin.missing_names import missing_name, suggest
from rocketwire_tools.admin.registry import all_commands, with_example
from rocketwire_tools.cli import exit_status as statuses
from rocketwire_tools.cli.client_config import context_of
from rocketwire_tools.cli.command import Incomplete, LineError, Record, RefusedError, Table
from rocketwire_tools.cli.file_program import run_main
from rocketwire_tools.cli.output import FORMS, form_of, render
from rocketwire_tools.cli.settings import add_settings
from rocketwire_tools.terminal import CSV_HELP, print_error

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rocketwire_tools.admin.help import SubParsersAction
    from rocketwire_tools.cli.command import Command, Context, Output

NAME: Final = "rocketwire-admin"

WAIT_SECONDS: Final = 2.0
"""Seconds after which a terminal shows which servers a command waits for."""

_EPILOG: Final = """\
exit status: 0 success, 1 refused or failed, 2 invalid usage, 3 a server could not be reached,
4 doctor found warnings but no problems

Commands and short options have mqadmin's names. Use COMMAND --help for the options of a command.
"""


def build_parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    parser = ListingParser(
        prog=NAME,
        usage=f"{NAME} [options] COMMAND ...",
        description="Operate RocketMQ; produce and consume messages from a shell.",
        epilog=command_list(commands) + _EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    _add_common(parser)
    add_settings(parser)
    subparsers = parser.add_subparsers(
        title="commands",
        metavar="COMMAND",
        dest="command",
        required=True,
        parser_class=ProgramParser,
        action=CommandsAction,
    )
    for command in commands:
        _add_command(subparsers, command)
    parser.set_defaults(program=parser)  # used by ``help`` and ``completion``
    return parser


def _add_command(subparsers: SubParsersAction, command: Command) -> None:
    parser = subparsers.add_parser(
        command.name,
        prog=f"{NAME} {command.name}",
        help=command.help,
        description=command.help,
        epilog=with_example(NAME, command.name, command.epilog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        conflict_handler="resolve",  # mqadmin has no option that is help's, but one may have
        allow_abbrev=False,
    )
    for add_option in command.options:
        add_option(parser)
    usage = parser.format_usage().removeprefix("usage: ").rstrip().replace("%", "%%")
    parser.usage = f"{usage} [options]"
    taken = options_of(parser)
    if not (command.streams and command.offline):
        _add_common(parser, taken, forms=("json",) if command.streams else FORMS)
    if not command.offline:
        add_settings(parser, taken)
    parser.set_defaults(selected=command)


def _add_common(
    parser: argparse.ArgumentParser, taken: Collection[str] = (), forms: Sequence[str] = FORMS
) -> None:
    parser.add_argument(
        *(name for name in ("-o", "--output") if name not in taken),
        choices=forms,
        default=argparse.SUPPRESS,
        dest="output_form",
        help=f"output format (default {forms[0]}). {CSV_HELP if 'csv' in forms else ''}".rstrip(),
    )
    parser.add_argument(
        *(name for name in ("-v", "--verbose") if name not in taken),
        action="store_true",
        default=argparse.SUPPRESS,
        dest="output_verbose",
        help="log progress to stderr",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with these arguments, or those of the process; returns the exit status."""
    return run_main(lambda: _run(build_parser(all_commands()).parse_args(argv), os.environ))


def _run(arguments: argparse.Namespace, environment: Mapping[str, str]) -> int:
    verbose = getattr(arguments, "output_verbose", False)
    log_to_stderr(f"{NAME}: %(message)s", is_verbose=verbose)
    command: Command = arguments.selected
    try:
        context = context_of(arguments, environment)
        output = trio.run(_call, command, context)
    except statuses.ERRORS as error:
        print_error(f"{NAME}: {statuses.line_of(error)}")
        return statuses.status_of(error)
    sys.stdout.write(render(output, form_of(arguments)))
    sys.stdout.flush()
    if isinstance(output, Table) and not output.rows and output.searched:
        print_error(f"{NAME}: {output.searched}")
    return exit_status(output)


def exit_status(output: Output) -> int:
    if isinstance(output, Incomplete):
        return statuses.UNREACHABLE
    failed = isinstance(output, Table | Record) and output.failed
    failed = failed or (isinstance(output, Table) and not output.rows and bool(output.searched))
    if isinstance(output, Table) and output.warned and not failed:
        return statuses.WARNED
    return statuses.REFUSED if failed else statuses.DONE


async def _call(command: Command, context: Context) -> Output:
    # Run a command; if several errors are raised at once, raise the first
    try:
        with counting_waits() as waits:
            if sys.stderr.isatty():
                trio.lowlevel.spawn_system_task(_report_waits, waits)  # ends with the program
            return await command.run(context)
    except BaseExceptionGroup as group:
        first = statuses.first_error_of(group)
        if isinstance(first, (*statuses.ERRORS, BrokenPipeError, KeyboardInterrupt)):
            await _explain(first, context)
            raise first from group
        raise
    except (RocketWireError, RefusedError, LineError) as error:
        await _explain(error, context)
        raise


async def _report_waits(waits: Mapping[str, int]) -> None:
    while True:
        await trio.sleep(WAIT_SECONDS)
        slow = [address for address, count in waits.items() if count]
        if slow:
            print_error(f"{NAME}: waiting for {', '.join(slow)} ...")
            return


async def _explain(error: BaseException, context: Context) -> None:
    cause = error.__cause__ if isinstance(error, LineError) else error
    kind, name = missing_name(cause, context.arguments)
    if not (cause and kind and name):
        return
    with suppress(RocketWireError):  # the first error is the one to show
        async with open_admin(context.config, within=context.request_timeout) as admin:
            note = await suggest(admin, kind, name)
            if note:
                cause.add_note(note)
