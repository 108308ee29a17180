"""Options and commands in the style of mqadmin, and the admin connection that they use.

Each long option exists in mqadmin's spelling (``--brokerAddr``) and in the usual one
(``--broker-addr``). A function that converts an argument raises ``argparse.ArgumentTypeError`` if
the argument is invalid.
"""

from __future__ import annotations

import argparse
import codecs
import logging
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import trio

from rocketwire.client.admin import NOW, Admin, leaving_out, open_admin
from rocketwire.client.admin.fanout import call_each
from rocketwire.codes import LanguageCode
from rocketwire.errors import ChannelError, DecodeError, RocketWireError
from rocketwire.messages import decode_bodies, decode_body, to_json
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.os_errors import os_error_text
from rocketwire.policy.topic_attributes import apply_attribute_changes
from rocketwire.wire.json.fastjson import dumps, loads
from rocketwire_tools.cli.arguments import host_and_port, seconds
from rocketwire_tools.cli.command import (
    CellType,
    Column,
    Command,
    Context,
    Incomplete,
    Listing,
    NotFoundError,
    Option,
    Output,
    Table,
    UsageError,
    Value,
    columns,
)
from rocketwire_tools.cli.exit_status import line_of
from rocketwire_tools.cli.output import form_of, print_rows, render
from rocketwire_tools.cli.stdio import stopping
from rocketwire_tools.values import FORMS as FORMS_OF_TIMES
from rocketwire_tools.values import time_argument

if TYPE_CHECKING:
    from rocketwire.client.admin.changes import Change, Target

Call: TypeAlias = Callable[[Admin, argparse.Namespace], Awaitable[Output | Listing]]
"""The body of a command: takes a connection and the parsed arguments."""

ChangeCall: TypeAlias = "Callable[[Admin, argparse.Namespace], Awaitable[Iterable[Change[Any]]]]"
"""The body of a command that changes something; with ``dry_run`` it writes nothing."""

Config = TypeVar("Config", TopicConfig, SubscriptionGroupConfig)

_LOG: Final = logging.getLogger("rocketwire.admin")

_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def option(flags: str, text: str, *, switch: bool = False, **settings: Any) -> Option:
    """Define an option; ``flags`` are its names in mqadmin, a long one last."""
    names = flags.split()
    long = next(name for name in reversed(names) if name.startswith("--"))
    words = _CAPITAL.sub("-", long).lower()
    if words != long:
        names.append(words)
    if switch:
        settings["action"] = "store_true"
    elif "choices" in settings:
        settings.setdefault("metavar", "|".join(map(str, settings["choices"])))
    else:
        settings.setdefault("metavar", words.lstrip("-").rpartition("-")[2].upper())
    settings.setdefault("dest", words.lstrip("-").replace("-", "_"))
    return methodcaller("add_argument", *names, help=_with_details(text, settings), **settings)


def _with_details(text: str, settings: Mapping[str, Any]) -> str:
    default = settings.get("default")
    if settings.get("type") is moment:
        return f"{text}: {FORMS_OF_TIMES}"
    if not isinstance(default, int | float | str) or default == "":
        return text
    if "default" in text:
        return text
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    shown = shown.removesuffix(".0")
    return f"{text} (default {shown.replace('%', '%%')})"


def argument(name: str, text: str, **settings: Any) -> Option:
    return methodcaller("add_argument", name, help=text, **settings)


def option_group(title: str, *options: Option) -> Option:
    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group(title)
        for add_option in options:
            add_option(group)

    return add


def boolean_option(
    flags: str, text: str, *, default: bool | None = False, **settings: Any
) -> Option:
    return option(flags, text, type=boolean, default=default, metavar="true|false", **settings)


def admin_command(
    name: str,  # its name in mqadmin
    text: str,
    call: Call,
    *options: Option,
    one_of: Sequence[str] = (),  # destinations of options of which exactly one is required
    epilog: str | None = None,  # text at the end of ``--help``
    repeats: bool = False,  # whether it has mqadmin's ``-i``, which repeats the call at an interval
    collects: bool = False,  # whether it only collects information, and skips silent brokers
    changes: bool = False,  # whether it changes something; it then has ``--dry-run``
) -> Command:
    async def print_listing(admin: Admin, args: argparse.Namespace) -> Output:
        output = await call(admin, args)
        return await print_rows(output, form_of(args)) if isinstance(output, Listing) else output

    perform = _without_silent_brokers(print_listing) if collects else print_listing
    names = [f"--{each.replace('_', '-')}" for each in one_of]

    async def run(context: Context) -> Output:
        if one_of and sum(getattr(context.arguments, each) is not None for each in one_of) != 1:
            shown = f"rocketwire-admin {name} --help"
            raise UsageError(f"exactly one of {', '.join(names)} is required; see {shown}")
        async with open_admin(context.config, within=context.request_timeout) as admin:
            if repeats and context.arguments.interval is not None:
                await _repeat(lambda: perform(admin, context.arguments), context)
                return None
            return await perform(admin, context.arguments)

    if one_of:
        required = f"Exactly one of {' and '.join(names)} is required."
        epilog = f"{required}\n{epilog}" if epilog else required
    all_options = (*options, *[_INTERVAL] * repeats, *[_DRY_RUN] * changes)
    return Command(name=name, help=text, run=run, options=all_options, epilog=epilog)


def broker_command(name: str, text: str, call: Call, *options: Option, **settings: Any) -> Command:
    return admin_command(name, text, call, BROKER, CLUSTER, *options, one_of=ONE_OF, **settings)


def change_command(
    name: str,
    text: str,
    headings: str,  # as of ``change_table``
    change: ChangeCall,
    *options: Option,
    # returns the error if no server has what is deleted
    missing: Callable[[argparse.Namespace], Exception] | None = None,
    **settings: Any,
) -> Command:
    async def call(admin: Admin, args: argparse.Namespace) -> Table:
        changes = list(await change(admin, args))
        if missing is not None and all(each.before is None for each in changes):
            raise missing(args)
        return change_table(headings, changes)

    return admin_command(name, text, call, *options, changes=True, **settings)


def broker_change(
    name: str, text: str, headings: str, change: ChangeCall, *options: Option, **settings: Any
) -> Command:
    settings["one_of"] = ONE_OF
    return change_command(name, text, headings, change, BROKER, CLUSTER, *options, **settings)


def group_commands(group: str, *commands: Command) -> tuple[Command, ...]:
    return tuple(replace(command, group=group) for command in commands)


def _without_silent_brokers(
    call: Callable[[Admin, argparse.Namespace], Awaitable[Output]],
) -> Callable[[Admin, argparse.Namespace], Awaitable[Output]]:
    async def perform(admin: Admin, args: argparse.Namespace) -> Output:
        with leaving_out() as left_out:
            try:
                output = await call(admin, args)
            except NotFoundError as error:
                if not left_out:
                    raise
                _report(left_out)
                _LOG.warning("%s", line_of(error))
                return Incomplete(error.partial)
            except RocketWireError as error:
                _report(left_out, except_for=line_of(error))
                raise
        _report(left_out)
        return Incomplete(output) if left_out and not isinstance(output, Incomplete) else output

    return perform


def _report(left_out: Mapping[object, ChannelError], except_for: str | None = None) -> None:
    for line in dict.fromkeys(map(line_of, left_out.values())):
        if line != except_for:
            _LOG.warning("left out: %s", line)


async def _repeat(call: Callable[[], Awaitable[Output]], context: Context) -> None:
    form = form_of(context.arguments)
    async with stopping() as stop:
        while not stop.is_requested:
            sys.stdout.write(render(await call(), form))
            sys.stdout.flush()
            with trio.move_on_after(context.arguments.interval):
                await stop.requested.wait()


def order_command(
    name: str,
    text: str,
    headings: str,  # of server, ``told`` and answer
    # returns the servers; or the option that names the only one
    find_servers: str | Callable[[Admin, argparse.Namespace], Awaitable[Iterable[str]]],
    # gives the order to a server and returns its answer
    order: Callable[[Admin, argparse.Namespace, str], Awaitable[Sequence[Value] | None]],
    *options: Option,
    # returns what the servers are told
    told: Callable[[argparse.Namespace], Sequence[Value]] = lambda _: (),
    **settings: Any,
) -> Command:
    """Define an ``admin_command`` that gives servers an order; ``--dry-run`` only lists them."""

    async def call(admin: Admin, args: argparse.Namespace) -> Table:
        servers = (
            [getattr(args, find_servers)]
            if isinstance(find_servers, str)
            else await find_servers(admin, args)
        )
        answers: dict[str, Any] = dict.fromkeys(servers)
        if not args.dry_run:
            answers = await call_each(servers, partial(order, admin, args))
        cells = [(server, *told(args), *(answer or ())) for server, answer in answers.items()]
        width = len(columns(headings))
        return Table(headings, [(*row, *[None] * (width - len(row))) for row in cells])

    return admin_command(name, text, call, *options, changes=True, **settings)


def list_command(
    name: str,
    text: str,
    cls: type[Config],
    # the method that takes edits by name
    update: Callable[[Admin, argparse.Namespace], Callable[..., Awaitable[list[Change[Config]]]]],
    heading: str,  # of the elements' names, such as ``topic``
    *options: Option,
) -> Command:
    async def change(admin: Admin, args: argparse.Namespace) -> list[Change[Config]]:
        name_of = f"{heading}Name"
        elements = await objects_in(cls, args.filename, name_of)
        edits = {element[name_of]: partial(_merge, cls, element) for element in elements}
        return await update(admin, args)(edits, new=cls(), **target(args))

    file = option("-f --filename", f"file with a JSON array of {cls.__name__}", required=True)
    return broker_change(name, text, f"brokerAddr {heading} setting", change, file, *options)


def _merge(cls: type[Config], members: Mapping[str, Any], present: Config) -> Config:
    merged = {**to_json(present), **members}
    merged["attributes"] = apply_attribute_changes(present.attributes, members.get("attributes"))
    return decode_body(cls, dumps(merged)) or present


def boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r}: must be true or false")
    return text.lower() == "true"


def moment(text: str) -> int:
    """Read a time as milliseconds since 1970; also -1, mqadmin's word for the end of a queue."""
    return NOW if text == str(NOW) else time_argument(text)


def charset(text: str) -> str:
    try:
        return codecs.lookup(text).name
    except LookupError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: unknown charset") from error


def words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def broker_address(flags: str, text: str) -> Option:
    return option(flags, text, type=host_and_port, required=True, metavar="ADDR")


BROKER: Final = option("-b --brokerAddr", "address of a broker, host:port", type=host_and_port)
CLUSTER: Final = option("-c --clusterName", "name of a cluster")
TOPIC: Final = option("-t --topic", "name of the topic", required=True)
GROUP: Final = option("-g --groupName", "name of the consumer group", required=True)
CONSUMER_GROUP: Final = option(
    "-g --consumerGroup", "name of the consumer group", required=True, metavar="NAME"
)
VIA: Final = option(
    "-c --cluster",
    "parent topic of a lite topic's queue (%%LMQ%%...), or the cluster of a timer topic",
    metavar="NAME",
)
_INTERVAL: Final = option(
    "-i --interval", "repeat every N seconds until interrupted", type=seconds, metavar="N"
)
_DRY_RUN: Final = option("--dryRun", "show the changes and write nothing", switch=True)
FORCE: Final = option(
    "--force", "also give a topic fewer queues than hold messages: they become unreadable",
    switch=True,
)  # fmt: skip
ONE_OF: Final = ("broker_addr", "cluster_name")
"""``-b`` or ``-c``."""


def target(args: argparse.Namespace) -> Target:
    return {
        "broker": args.broker_addr, "cluster": args.cluster_name, "dry_run": args.dry_run
    }  # fmt: skip


async def addresses(
    admin: Admin, args: argparse.Namespace, *, slaves: bool = False
) -> tuple[str, ...]:
    return await admin.clusters.targets(args.broker_addr, args.cluster_name, slaves=slaves)


def language_name(language: LanguageCode | str | None) -> str | None:
    return language.name if isinstance(language, LanguageCode) else language


def key_table(
    heading: str, tables: Mapping[str, Mapping[str, str]], key: str | None = None
) -> Table:
    rows = [
        (server, name, value)
        for server, table in tables.items()
        for name, value in sorted(table.items())
        if key in (None, name)
    ]
    return Table(f"{heading} key value", rows)


def select_given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    values = {name: getattr(args, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def change_table(
    headings: str,  # of address and name, and of the members of values that have some
    changes: Iterable[Change[Any]],
    nothing: str = "nothing changes: all values are already as given",
) -> Table:
    """A table with a row for each value that differs; ``nothing`` warns if there are none."""
    rows: list[tuple[Value, ...]] = []
    for address, name, before, after in changes:
        old, new = _members(before), _members(after)
        rows += [
            (address, name, *([key] if key else []), _hide(key, old.get(key), new.get(key)))
            for key in {**old, **new}
            if old.get(key) != new.get(key)
        ]
    if not rows:
        _LOG.warning("%s", nothing)
    return Table((*columns(headings), Column("change", CellType.CHANGE)), rows)


def _members(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, str | int):
        return {"": value}
    return dict(cast("Any", value)) if isinstance(value, Mapping) else to_json(value)


def _hide(key: str, old: Value, new: Value) -> Value:
    if key == "password":
        old, new = (value and "(hidden)" for value in (old, new))
    return {"old": old, "new": new}


async def objects_in(cls: type[Config], filename: str, name: str) -> list[dict[str, Any]]:
    """Read a JSON array of objects of ``cls`` with the member ``name``; or ``UsageError``."""
    try:
        content = await trio.Path(filename).read_bytes()
        decode_bodies(cls, content)
    except OSError as error:
        raise UsageError(os_error_text(error)) from error
    except DecodeError as error:
        raise UsageError(f"{filename}: invalid JSON: {error}") from error
    elements = cast("list[dict[str, Any]]", loads(content))
    if not all(type(each) is dict and each.get(name) for each in elements):
        raise UsageError(f"{filename}: each element needs a {name}")
    return elements
