"""The suites, and the exit statuses, argument types and options of the commands.

Functions that convert an argument raise ``argparse.ArgumentTypeError`` if it is invalid.
"""

from __future__ import annotations

import argparse
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.broker_cases import ALL as BROKER_CASES
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Case, Profile, under
from rocketwire_tools.conformance.run.broker_run import BrokerRun
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.runner import Settings, SuiteRun
from rocketwire_tools.conformance.run.target import Address, CommandError, NotStartedError

if TYPE_CHECKING:
    from collections.abc import Sequence

PASSED: Final = 0
FAILED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3

FILE_STATUSES: Final = "exit status: 0 success, 2 invalid usage, or a file cannot be read"
DIFF_STATUSES: Final = """\
exit status: 0 no differences, or only intended ones; 1 other differences, or interrupted; 2 invalid
usage; 3 a server cannot be reached or does not start
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    kind: str
    program: str  # the words that run it
    cases: Sequence[Case]
    run: type[SuiteRun]  # runs cases against one server
    is_started: bool  # whether the suite can start servers

    def select(self, args: argparse.Namespace) -> list[Case]:
        return [
            case
            for case in self.cases
            if (not args.only or any(under(case.id, prefix) for prefix in args.only))
            and (not args.tag or case.all_tags.intersection(args.tag))
            and not case.all_tags.intersection(args.without)
        ]


NAME_SERVERS: Final = Suite(
    kind="name server",
    program="rocketwire-conformance",
    cases=ALL,
    run=SuiteRun,
    is_started=True,
)
BROKERS: Final = Suite(
    kind="broker",
    program="rocketwire-conformance broker",
    cases=BROKER_CASES,
    run=BrokerRun,
    is_started=False,
)


def address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r}: must be HOST:PORT")
    return Address(host.strip("[]"), int(port))


def option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: must be NAME=VALUE")
    return name, value


def factor(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a positive number")
    return number


def folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: no such folder")
    return path


def output(text: str) -> Path:
    """Read the path of an output file; its folder must exist, so that no long run is wasted."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: cannot be written")
    return path


def start_command(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: invalid command: {error}") from error
    if not words:
        raise argparse.ArgumentTypeError("the command is empty")
    return text


def settings_of(args: argparse.Namespace, **settings: Any) -> Settings:
    return Settings(
        profile=Profile(args.profile),
        destructive=args.destructive,
        options=tuple(getattr(args, "option", ())),
        home=getattr(args, "home", None),
        patience=args.patience,
        **settings,
    )


def failure(error: UnreachableError | NotStartedError) -> tuple[int, str]:
    if isinstance(error, UnreachableError):
        return UNREACHABLE, f"unreachable: {error}"
    status = USAGE if isinstance(error, CommandError) else UNREACHABLE
    return status, f"the server did not start: {error.details}"


def add_patience(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        type=factor,
        default=1.0,
        metavar="FACTOR",
        help="factor for all timeouts, including that of the server's start (default: 1)",
    )


def _add_list(
    parser: argparse.ArgumentParser, name: str, metavar: str, text: str, **settings: Any
) -> None:
    parser.add_argument(
        name, action="append", default=[], metavar=metavar, help=f"{text}; repeatable", **settings
    )


def add_start_options(parser: argparse.ArgumentParser) -> None:
    _add_list(parser, "--option", "NAME=VALUE", "property of every started server", type=option)
    parser.add_argument(
        "--home",
        type=folder,
        metavar="DIR",
        help="folder to copy to every server's ROCKETMQ_HOME, for example with conf/",
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    text = "cases with this address prefix, such as ns, ns/103 or ns/103/4"
    _add_list(parser, "--only", "PREFIX", text)
    _add_list(parser, "--tag", "TAG", "cases with this tag")
    _add_list(parser, "--without", "TAG", "skip cases with this tag")
    parser.add_argument(
        "--profile",
        default=Profile.JAVA_5_5.value,
        choices=[profile.value for profile in Profile],
        help="Java's release to compare with (default java-5.5)",
    )
    parser.add_argument(
        "--destructive",
        action="store_true",
        help="include cases that change and restore the configuration, or concern other brokers",
    )
    add_patience(parser)
