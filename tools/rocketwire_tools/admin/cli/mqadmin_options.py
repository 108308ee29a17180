"""What the commands of operators have in common: options as mqadmin names them, and a connection for the length of a call.

Rules of this file: a long option is there as mqadmin spells it (``--brokerAddr``) and as everybody else does (``--broker-addr``).
"""

from __future__ import annotations

import argparse
import codecs
import logging
import re
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import trio

from rocketwire.client.admin import NOW, Admin, leaving_out, open_admin
from rocketwire.codes import LanguageCode
from rocketwire.errors import DecodeError, RocketWireError
from rocketwire.messages import decode_bodies
from rocketwire_tools.admin.cli.arguments import host_and_port, seconds
from rocketwire_tools.admin.cli.exit_status import line_of
from rocketwire_tools.admin.cli.output import FORMS, rendered
from rocketwire_tools.admin.cli.signals import stopping
from rocketwire_tools.admin.command import (
    Command,
    Context,
    Incomplete,
    NotFoundError,
    Output,
    Table,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.errors import ChannelError

Call: TypeAlias = Callable[[Admin, argparse.Namespace], Awaitable[Output]]
"""What a command does, with a connection and its arguments."""

T = TypeVar("T")

_LOG: Final = logging.getLogger("rocketwire.admin")

_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    Attributes:
        flags: its names.
        destination: its name among the parsed arguments.
        settings: what ``add_argument`` takes beside.
    """

    flags: tuple[str, ...]
    destination: str
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


def option(flags: str, text: str, *, switch: bool = False, **settings: Any) -> Option:
    """An option.

    Args:
        flags: its names as mqadmin has them, the long one last: ``-b --brokerAddr``.
        text: what it says.
        switch: it takes no value.
        settings: what ``add_argument`` takes beside: ``required``, ``type``, ``default``, ``choices``.
    """
    names = flags.split()
    words = _CAPITAL.sub("-", names[-1]).lower()
    if words != names[-1]:
        names.append(words)
    if switch:
        settings["action"] = "store_true"
    else:
        settings.setdefault("metavar", words.lstrip("-").rpartition("-")[2].upper())
    return Option(tuple(names), words.lstrip("-").replace("-", "_"), {"help": text, **settings})


def admin_command(
    name: str,
    text: str,
    call: Call,
    *options: Option,
    group: str,
    one_of: Sequence[str] = (),
    epilog: str | None = None,
    repeats: bool = False,
    collects: bool = False,
) -> Command:
    """A command that asks with an ``Admin``.

    Args:
        name: as mqadmin has it.
        text: one line of help.
        call: does it.
        options: its own.
        group: its heading in the list of commands.
        one_of: names of arguments of which exactly one has to be given.
        epilog: what ``--help`` says at its end.
        repeats: it takes mqadmin's ``-i``, and then asks and prints again and again.
        collects: it only shows what several brokers know, and does without those that do not answer (``leaving_out``).
    """
    asked = _without_the_silent(call) if collects else call

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        for one in (*options, *([_INTERVAL] if repeats else [])):
            parser.add_argument(*one.flags, dest=one.destination, **one.settings)

    async def run(context: Context) -> Output:
        given = [one for one in one_of if getattr(context.arguments, one) is not None]
        if one_of and len(given) != 1:
            wanted = ", ".join(f"--{one.replace('_', '-')}" for one in one_of)
            raise UsageError(f"exactly one of {wanted} is needed")
        async with open_admin(context.config, within=context.request_timeout) as admin:
            if repeats and context.arguments.interval is not None:
                await _again_and_again(lambda: asked(admin, context.arguments), context)
                return None
            return await asked(admin, context.arguments)

    return Command(
        name=name, help=text, run=run, add_arguments=add_arguments, group=group, epilog=epilog
    )


def _without_the_silent(call: Call) -> Call:
    """A call that does without brokers that do not answer, and says so."""

    async def asked(admin: Admin, wanted: argparse.Namespace) -> Output:
        with leaving_out() as left_out:
            try:
                output = await call(admin, wanted)
            except NotFoundError as error:
                if not left_out:
                    raise
                _tell_of(left_out)
                _LOG.warning("%s", line_of(error))
                return Incomplete(error.told)
            except RocketWireError as error:
                _tell_of(left_out, but=line_of(error))
                raise
        _tell_of(left_out)
        return Incomplete(output) if left_out and not isinstance(output, Incomplete) else output

    return asked


def _tell_of(left_out: Mapping[object, ChannelError], but: str | None = None) -> None:
    """Say who did not answer, but for what is said anyway."""
    for line in dict.fromkeys(map(line_of, left_out.values())):
        if line != but:
            _LOG.warning("left out: %s", line)


async def _again_and_again(call: Callable[[], Awaitable[Output]], context: Context) -> None:
    """Print what a call returns every so often, until a signal ends it."""
    form = getattr(context.arguments, "output_form", FORMS[0])
    async with stopping() as stop:
        while not stop.is_asked:
            sys.stdout.write(rendered(await call(), form))
            sys.stdout.flush()
            with trio.move_on_after(context.arguments.interval):
                await stop.asked.wait()


def list_command(
    name: str,
    text: str,
    cls: type[T],
    tell: Callable[[Admin], Callable[..., Awaitable[tuple[str, ...]]]],
    *,
    named: tuple[str, Callable[[T], str | None]],
    group: str,
) -> Command:
    """A command that tells brokers everything in a file.

    Args:
        name: as mqadmin has it.
        text: one line of help.
        cls: of what the file has a JSON array.
        tell: the call that takes them all, with ``broker`` or ``cluster``, and returns addresses.
        named: heading of their names, and the name of one.
        group: its heading in the list of commands.
    """
    heading, name_of = named

    async def call(admin: Admin, wanted: argparse.Namespace) -> Table:
        found = await bodies_in(cls, wanted.filename)
        done = await tell(admin)(found, broker=wanted.broker_addr, cluster=wanted.cluster_name)
        rows = [(name_of(one), address) for address in done for one in found]
        return Table((heading, "brokerAddr"), rows)

    file = option("-f --filename", f"a JSON array of {cls.__name__}", required=True)
    return admin_command(name, text, call, BROKER, CLUSTER, file, group=group, one_of=ONE_OF)


# ---------------------------------------------------------------------------- types of values


def boolean(text: str) -> bool:
    """Read ``true`` or ``false``.

    Raises:
        argparse.ArgumentTypeError: it is neither.
    """
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def moment(text: str) -> int:
    """Read a time: ``now``, milliseconds since 1970, or ``2026-01-31#12:00:00:000`` in this machine's time zone.

    Raises:
        argparse.ArgumentTypeError: it is none of them.
    """
    if text in ("now", "currentTimeMillis"):
        return time.time_ns() // 1_000_000
    if text == str(NOW) or (text.isascii() and text.isdecimal()):
        return int(text)
    try:
        found = datetime.strptime(f"{text}000", "%Y-%m-%d#%H:%M:%S:%f").astimezone()
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither now, nor milliseconds, nor as 2026-01-31#12:00:00:000"
        ) from error
    return round(found.timestamp() * 1000)


def charset(text: str) -> str:
    """Read the name of a charset.

    Raises:
        argparse.ArgumentTypeError: nobody knows it.
    """
    try:
        return codecs.lookup(text).name
    except LookupError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no charset") from error


def words(text: str) -> tuple[str, ...]:
    """Read words with commas between."""
    return tuple(one.strip() for one in text.split(",") if one.strip())


# ---------------------------------------------------------------------------- options of many

BROKER: Final = option(
    "-b --brokerAddr", "address of a broker, host:port", type=host_and_port, metavar="ADDR"
)
CLUSTER: Final = option("-c --clusterName", "name of a cluster", metavar="NAME")
TOPIC: Final = option("-t --topic", "name of the topic", required=True)
GROUP: Final = option("-g --groupName", "name of the consumer group", required=True, metavar="NAME")
CONSUMER_GROUP: Final = option(
    "-g --consumerGroup", "name of the consumer group", required=True, metavar="NAME"
)
VIA: Final = option(
    "-c --cluster",
    "of a lite topic's queue (%%LMQ%%...) its parent topic, of timers a cluster",
    metavar="NAME",
)
_INTERVAL: Final = option(
    "-i --interval", "again after so many seconds, until SIGINT or SIGTERM", type=seconds
)
ONE_OF: Final = ("broker_addr", "cluster_name")
"""``-b`` or ``-c``."""


async def addresses(
    admin: Admin, wanted: argparse.Namespace, *, slaves: bool = False
) -> tuple[str, ...]:
    """The brokers that ``-b`` or ``-c`` mean."""
    return await admin.clusters.targets(wanted.broker_addr, wanted.cluster_name, slaves=slaves)


def language_name(language: LanguageCode | str | None) -> str | None:
    """A client's language as Java names it."""
    return language.name if isinstance(language, LanguageCode) else language


async def bodies_in(cls: type[T], filename: str) -> tuple[T, ...]:
    """The instances of a body class in a file with a JSON array of them.

    Raises:
        UsageError: there is no such file, or it holds something else.
    """
    try:
        return decode_bodies(cls, await trio.Path(filename).read_bytes()) or ()
    except (OSError, DecodeError) as error:
        raise UsageError(f"{filename}: {error}") from error
