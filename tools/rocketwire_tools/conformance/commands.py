"""The suites, the options of the commands, and the commands ``diff`` and ``broker diff``.

Functions that convert an argument raise ``argparse.ArgumentTypeError`` if it is invalid.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import shlex
import signal
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.controls import escape_lines
from rocketwire.os_errors import os_error_text
from rocketwire.program import ProgramParser
from rocketwire_tools.conformance.broker_cases import ALL as BROKER_CASES
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.compare.diff import (
    ROCKETWIRE,
    Comparison,
    judge,
    play_both,
    read_differences,
)
from rocketwire_tools.conformance.model.case import Case, Profile, under
from rocketwire_tools.conformance.run.broker_run import BrokerRun
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.match import abbreviate
from rocketwire_tools.conformance.run.runner import Settings, SuiteRun, random_word
from rocketwire_tools.conformance.run.target import Address, CommandError, NotStartedError, Target
from rocketwire_tools.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

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


_DESCRIPTION: Final = """\
Send the same bytes to two servers and report all differences.

A server is HOST:PORT, or a command with --start.
"""


_EXAMPLE: Final = "rocketwire-conformance diff java:9876 ours:9876 --known rocketwire"
_BROKER_EXAMPLE: Final = "rocketwire-conformance broker diff java:10911 ours:10911"

_BROKER_DESCRIPTION: Final = """\
Send the same requests to two running brokers and report all differences. Positions, times, ports,
generated ids and texts of exceptions are not compared.
"""


def parser(suite: Suite) -> argparse.ArgumentParser:
    example = _EXAMPLE if suite.is_started else _BROKER_EXAMPLE
    result = ProgramParser(
        prog=f"{suite.program} diff",
        description=_DESCRIPTION if suite.is_started else _BROKER_DESCRIPTION,
        epilog=f"example:\n  {example}\n\n{DIFF_STATUSES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    kind = "server" if suite.is_started else "broker, HOST:PORT"
    add("first", metavar="A", help=f"the first {kind}")
    add("second", metavar="B", help=f"the second {kind}")
    if suite.is_started:
        add("--start", action="store_true", help="A and B are commands that start servers")
        add_start_options(result)
    add_run_options(result)
    result.add_argument(
        "--known",
        action="append",
        default=[],
        metavar="FILE",
        help=f"TOML file of intended differences; {ROCKETWIRE} for the included file",
    )
    add("--json", type=output, metavar="FILE", help="write the differences as JSON")
    return result


def diff(words: Sequence[str], suite: Suite = NAME_SERVERS) -> int:
    arguments_parser = parser(suite)
    args = arguments_parser.parse_args(words)
    names = (args.first, args.second)
    word = random_word()
    try:
        known_list = read_differences(args.known, is_broker=not suite.is_started)
        runs = [_suite_run(suite, args, name, word) for name in names]
    except (OSError, ValueError, argparse.ArgumentTypeError) as error:
        arguments_parser.error(os_error_text(error))
    cases = suite.select(args)
    if not cases:
        arguments_parser.error("no case matches --only, --tag and --without")
    try:
        interrupted = trio.run(until_interrupted, partial(play_both, cases, runs))
    except (UnreachableError, NotStartedError) as error:
        status, text = failure(error)
        print(escape_lines(text), file=sys.stderr)
        return status
    comparison = judge(runs[0].verdicts, runs[1].verdicts, word, known_list)
    _print(comparison)
    for name, run in zip(names, runs, strict=True):
        for text in (*run.left_behind, *run.problems):
            print(escape_lines(f"{name}: {text}"))
    if comparison.unexplained and not args.known:
        print(
            f"To ignore intended differences of rocketwire (B) from Java (A): --known {ROCKETWIRE}"
        )
    if args.json:
        args.json.write_text(_as_json(comparison), "utf-8")
    if interrupted:
        print(f"interrupted: {comparison.played} of {len(cases)} cases compared", file=sys.stderr)
    return FAILED if comparison.unexplained or not comparison.played or interrupted else PASSED


def _suite_run(suite: Suite, args: argparse.Namespace, server: str, word: str) -> SuiteRun:
    start = start_command(server) if suite.is_started and args.start else None
    settings = settings_of(args, start=start, keep_going=True, run=word)
    return suite.run(settings, lambda _: None, None if start else Target(address(server)))


def _print(comparison: Comparison) -> None:
    for difference in comparison.unexplained:
        print(printable(f"DIFFERENT {difference.case} ({difference.step}) {difference.field}"))
        for letter, value in (("A", difference.first), ("B", difference.second)):
            print(escape_lines(f"    {letter} {abbreviate(value)}"))
    for difference, reason in comparison.explained:
        print(
            f"known     {difference.case} ({difference.step}) {difference.field}: {reason.reason}"
        )
    for reason in comparison.unused:
        print(f"not seen  {reason.case} {', '.join(reason.fields)}: {reason.reason}")
    print(
        f"{comparison.played} cases: {len(comparison.unexplained)} differences, "
        f"{len(comparison.explained)} known ones, {len(comparison.unused)} known but not seen"
    )


def _as_json(comparison: Comparison) -> str:
    return json.dumps(
        {
            "played": comparison.played,
            "unexplained": [
                dataclasses.asdict(difference) for difference in comparison.unexplained
            ],
            "explained": [
                dataclasses.asdict(difference) | {"reason": reason.reason}
                for difference, reason in comparison.explained
            ],
            "not_seen": [dataclasses.asdict(difference) for difference in comparison.unused],
        },
        indent=1,
        default=str,
    )


async def until_interrupted(work: Callable[[], Awaitable[object]]) -> bool:
    """Await ``work``; whether a signal cancelled it. A second one waits for the cleanup."""
    if threading.current_thread() is not threading.main_thread():  # other threads get no signals
        await work()
        return False
    failure: Exception | None = None  # raised outside of the nursery, which would wrap it
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            scope = nursery.cancel_scope
            interrupted = False

            async def watch() -> None:
                nonlocal interrupted
                async for _ in signals:
                    interrupted = True
                    scope.cancel()
                    return

            nursery.start_soon(watch)
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - it is raised again below
                failure = error
            scope.cancel()
    if failure is not None:
        raise failure
    return interrupted
