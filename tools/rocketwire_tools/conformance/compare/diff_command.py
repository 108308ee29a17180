"""The commands ``rocketwire-conformance diff A B`` and ``... broker diff A B``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.controls import escape_lines
from rocketwire.os_errors import os_error_text
from rocketwire.program import ProgramParser
from rocketwire_tools.conformance.arguments import (
    DIFF_STATUSES,
    FAILED,
    NAME_SERVERS,
    PASSED,
    Suite,
    add_run_options,
    add_start_options,
    address,
    failure,
    output,
    settings_of,
    start_command,
)
from rocketwire_tools.conformance.compare.diff import (
    ROCKETWIRE,
    Comparison,
    judge,
    play_both,
    read_differences,
)
from rocketwire_tools.conformance.interrupts import until_interrupted
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.match import abbreviate
from rocketwire_tools.conformance.run.runner import SuiteRun, random_word
from rocketwire_tools.conformance.run.target import NotStartedError, Target
from rocketwire_tools.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

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
