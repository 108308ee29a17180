"""The command ``rocketwire-conformance diff A B``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.conformance.arguments import (
    FAILED,
    NUMBERS,
    PASSED,
    UNREACHABLE,
    USAGE,
    add_patience,
    add_start_options,
    address,
    output,
    start_command,
)
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.compare.diff import (
    ROCKETWIRE,
    Comparison,
    Side,
    judge,
    known_differences,
    play_both,
)
from rocketwire_tools.conformance.interrupts import until_interrupted
from rocketwire_tools.conformance.model.case import Profile
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.match import shown
from rocketwire_tools.conformance.run.probe import PROBE_SECONDS, probe
from rocketwire_tools.conformance.run.runner import Run, Settings, random_word
from rocketwire_tools.conformance.run.target import CommandError, NotStartedError, Target
from rocketwire_tools.conformance.selection import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.case import Case

_DESCRIPTION: Final = "Play the same bytes to two servers and report every difference; each is HOST:PORT or, with --start, a command."


def parser() -> argparse.ArgumentParser:
    """The parser of ``diff``."""
    result = argparse.ArgumentParser(prog="rocketwire-conformance diff", description=_DESCRIPTION)
    add = result.add_argument
    add("first", metavar="A")
    add("second", metavar="B")
    add("--start", action="store_true", help="A and B are commands that start servers")
    add_start_options(result)
    add("--only", action="append", default=[], metavar="PREFIX")
    add("--tag", action="append", default=[])
    add("--without", action="append", default=[], metavar="TAG")
    add("--profile", default=Profile.JAVA_5_5.value, choices=[profile.value for profile in Profile])
    add("--destructive", action="store_true")
    add_patience(result)
    add_known(result)
    add("--json", type=output, metavar="FILE")
    return result


def diff(words: Sequence[str]) -> int:
    """Run ``diff``; returns the exit status."""
    arguments_parser = parser()
    args = arguments_parser.parse_args(words)
    try:
        known_list = known_differences(args.known)
        run = random_word()
        sides = [_side(args, text, run) for text in (args.first, args.second)]
    except (OSError, ValueError, argparse.ArgumentTypeError) as error:
        arguments_parser.error(str(error))
    cases = select(ALL, args.only, args.tag, args.without)
    if not cases:
        arguments_parser.error("no case is selected")
    try:
        interrupted = trio.run(until_interrupted, partial(_both, cases, sides))
    except UnreachableError as error:
        print(f"unreachable: {error}", file=sys.stderr)
        return UNREACHABLE
    except NotStartedError as error:
        print(f"the server did not start: {error.told}", file=sys.stderr)
        return USAGE if isinstance(error, CommandError) else UNREACHABLE
    first, second = (side.run.verdicts for side in sides)
    comparison = judge(first, second, run, NUMBERS, known_list)
    tell(comparison)
    for side in sides:
        for text in (*side.run.left, *side.run.problems):
            print(f"{side.name}: {text}")
    if comparison.unexplained and not args.known:
        print(
            f"Differences of rocketwire's name server (B) from Java's (A) that are on purpose: --known {ROCKETWIRE}"
        )
    if args.json:
        args.json.write_text(as_json(comparison), "utf-8")
    if interrupted:
        print(
            f"interrupted: {comparison.played} of {len(cases)} cases were compared", file=sys.stderr
        )
    return FAILED if comparison.unexplained or not comparison.played or interrupted else PASSED


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add ``--known``."""
    parser.add_argument(
        "--known",
        action="append",
        default=[],
        metavar="FILE",
        help=f"TOML file of differences that are on purpose; {ROCKETWIRE} for the one that is part of this package",
    )


def _side(args: argparse.Namespace, text: str, run: str) -> Side:
    settings = Settings(
        profile=Profile(args.profile),
        destructive=args.destructive,
        start=start_command(text) if args.start else None,
        options=tuple(args.option),
        home=args.home,
        patience=args.patience,
        keep_going=True,
        run=run,
    )
    target = None if args.start else Target(address(text))
    return Side(
        name=text, settings=settings, target=target, run=Run(settings, lambda _: None, target)
    )


async def _both(cases: Sequence[Case], sides: Sequence[Side]) -> None:
    for side in sides:
        if side.target is not None:
            probed = await probe(side.target, PROBE_SECONDS * side.settings.patience)
            if probed.wrong is not None:
                raise UnreachableError(f"{side.target.address} {probed.wrong}")
    await play_both(cases, NUMBERS, sides[0], sides[1])


def tell(comparison: Comparison, played: str = "cases") -> None:
    """Print what was found; ``played`` names what was compared."""
    for difference in comparison.unexplained:
        print(f"DIFFERENT {difference.case} ({difference.step}) {difference.field}")
        print(f"    A {shown(difference.first)}\n    B {shown(difference.second)}")
    for difference, reason in comparison.explained:
        print(
            f"known     {difference.case} ({difference.step}) {difference.field}: {reason.reason}"
        )
    for reason in comparison.unused:
        print(f"not seen  {reason.case} {', '.join(reason.fields)}: {reason.reason}")
    print(
        f"{comparison.played} {played}: {len(comparison.unexplained)} differences, "
        f"{len(comparison.explained)} known ones, {len(comparison.unused)} known but not seen"
    )


def as_json(comparison: Comparison) -> str:
    """What was found, as JSON."""
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
