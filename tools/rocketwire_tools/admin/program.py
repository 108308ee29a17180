"""Finds the commands, parses the command line and runs one command."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire import __version__
from rocketwire.client.admin import open_admin
from rocketwire.client.admin.fanout import counting_waits
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ClusterNotFoundError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire.nearest import did_you_mean
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic
from rocketwire.program import ProgramParser, log_to_stderr
from rocketwire_tools.admin import commands
from rocketwire_tools.cli import exit_status as statuses
from rocketwire_tools.cli.command import (
    Incomplete,
    LineError,
    NotFoundError,
    Record,
    RefusedError,
    Table,
)
from rocketwire_tools.cli.file_program import run_main
from rocketwire_tools.cli.output import FORMS, form_of, render
from rocketwire_tools.cli.settings import add_settings, context_of
from rocketwire_tools.terminal import CSV_HELP, print_error

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rocketwire.client.admin import Admin
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


EXAMPLES: Final = {
    "addWritePerm": "-b broker-a -n ns1:9876",
    "brokerStatus": "-c DefaultCluster -n ns1:9876",
    "cloneGroupOffset": "-t orders -s billing -d billing-new -n ns1:9876",
    "clusterList": "-n ns1:9876 -o json",
    "consumerProgress": "-g billing -s true -n ns1:9876",
    "consumerStatus": "-g billing -s -n ns1:9876",
    "consumeMessage": "-t orders -b broker-a -i 0 -o 100 -c 10 -n ns1:9876",
    "consumerConnection": "-g billing -n ns1:9876",
    "createAcl": "-b broker1:10911 -s User:anna -r Topic:orders -a Pub,Sub -d Allow -n ns1:9876",
    "createUser": "-c DefaultCluster -u anna -p secret -t Normal -n ns1:9876",
    "deleteKvConfig": "-s ORDER_TOPIC_CONFIG -k orders -n ns1:9876",
    "deleteSubGroup": "-c DefaultCluster -g billing -r true -n ns1:9876",
    "deleteTopic": "-t orders -c DefaultCluster -n ns1:9876",
    "doctor": "-q -n 'ns1:9876;ns2:9876'",
    "exportMetadata": "-c DefaultCluster -n ns1:9876",
    "getBrokerConfig": "-b broker1:10911 -k flushDiskType -n ns1:9876",
    "getConsumerConfig": "-g billing -n ns1:9876",
    "haStatus": "-c DefaultCluster -n ns1:9876",
    "printMsg": "-t orders -s 'new || paid' -b '2h ago' -n ns1:9876",
    "printMsgByQueue": "-t orders -a broker-a -i 0 -n ns1:9876",
    "producerConnection": "-t orders -g shop -n ns1:9876",
    "queryMsgByKey": "-t orders -k order-4711 -n ns1:9876",
    "queryMsgById": "-t orders -i 7F00000100002A9F00000000000000D0 -n ns1:9876",
    "queryMsgByOffset": "-t orders -b broker-a -i 0 -o 100 -n ns1:9876",
    "queryMsgByUniqueKey": "-t orders -i 7F00000173CBA5E0BD3D79480FA40001 -n ns1:9876",
    "queryMsgTraceById": "-i 7F00000173CBA5E0BD3D79480FA40001 -n ns1:9876",
    "remappingStaticTopic": "-t orders -b broker-b -n ns1:9876",
    "resetOffsetByTime": "-g billing -t orders -s 2026-01-31T12:00:00Z -n ns1:9876",
    "sendMessage": "-t orders -p 'a body' -k order-4711 -c new -n ns1:9876",
    "setConsumeMode": "-c DefaultCluster -t orders -g billing -m POP -n ns1:9876",
    "skipAccumulatedMessage": "-g billing -t orders -n ns1:9876",
    "topicList": "-c -n ns1:9876",
    "topicRoute": "-t orders -l -n ns1:9876",
    "topicStatus": "-t orders -n ns1:9876",
    "updateAcl": "-b broker1:10911 -s User:anna -r Topic:orders -a Sub -d Deny -n ns1:9876",
    "updateBrokerConfig": "-c DefaultCluster -k slaveReadEnable -v true -n ns1:9876",
    "updateKvConfig": "-s ORDER_TOPIC_CONFIG -k orders -v broker-a:4 -n ns1:9876",
    "updateNamesrvConfig": "-k deleteTopicWithBrokerRegistration -v true -n ns1:9876",
    "updateOrderConf": "-t orders -m put -v 'broker-a:4;broker-b:4' -n ns1:9876",
    "updateStaticTopic": "-t orders -qn 8 -c DefaultCluster -n ns1:9876",
    "updateSubGroup": "-c DefaultCluster -g billing -r 3 -n ns1:9876",
    "updateTopic": "-c DefaultCluster -t orders -r 8 -w 8 -a +message.type=FIFO -n ns1:9876",
    "updateTopicPerm": "-c DefaultCluster -t orders -p 4 -n ns1:9876",
    "wipeWritePerm": "-b broker-a -n ns1:9876",
}
"""Shell arguments by command name."""


def with_example(program: str, name: str, epilog: str | None) -> str | None:
    arguments = EXAMPLES.get(name)
    if arguments is None:
        return epilog
    parts = [epilog.rstrip("\n")] if epilog else []
    return "\n\n".join([*parts, f"example:\n  {program} {name} {arguments}\n"])


def all_commands() -> tuple[Command, ...]:
    by_name: dict[str, Command] = {}
    for module in iter_modules(commands.__path__, f"{commands.__name__}."):
        of_module: Sequence[Command] = import_module(module.name).COMMANDS
        for command in of_module:
            if command.name in by_name:
                raise ValueError(f"two commands are called {command.name}")
            by_name[command.name] = command
    return tuple(by_name[name] for name in sorted(by_name, key=str.lower))


_NAMING_OPTIONS = {
    ResponseCode.TOPIC_NOT_EXIST: ("topic", ("topic", "topic_name")),
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: ("group", ("group_name", "consumer_group", "group")),
}
"""What a broker does not have according to its response, and the options that name it."""


def missing_name(
    error: BaseException | None, arguments: argparse.Namespace
) -> tuple[str | None, str]:
    if isinstance(error, NotFoundError):
        return error.kind, error.name
    if isinstance(error, TopicRouteNotFoundError):
        is_group = is_retry_topic(error.topic)
        return ("group" if is_group else "topic"), error.topic.removeprefix(RETRY_PREFIX)
    if isinstance(error, ClusterNotFoundError):
        return "cluster", error.cluster
    if isinstance(error, BrokerNotFoundError):
        return "broker", error.broker_name
    if isinstance(error, BrokerError) and error.code in _NAMING_OPTIONS:
        kind, names = _NAMING_OPTIONS[ResponseCode(error.code)]
        return kind, next((getattr(arguments, name, None) or "" for name in names), "")
    return None, ""


async def suggest(admin: Admin, kind: str, name: str) -> str:
    info = await admin.clusters.info()
    if not info.broker_addr_table:
        return "no broker is registered with the name server"
    known: set[str] = set()
    if kind == "cluster":
        known = {*(info.cluster_addr_table or {})}
    elif kind == "broker":
        known = {*info.broker_addr_table}
    elif kind == "topic":
        known = {*await admin.topics.names()}
    else:
        for address in await admin.clusters.masters():
            known |= {*await admin.groups.configs(address)}
    return did_you_mean(name, known - {name}).removeprefix("; ")
