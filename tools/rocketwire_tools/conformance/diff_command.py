"""The command ``rocketwire-conformance diff A B``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.conformance.arguments import (
    FAILED,
    NUMBERS,
    PASSED,
    UNREACHABLE,
    add_start_options,
    address,
)
from rocketwire_tools.conformance.case import Profile
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.diff import Comparison, Side, judge, play_both, read_known
from rocketwire_tools.conformance.match import shown
from rocketwire_tools.conformance.play import UnreachableError
from rocketwire_tools.conformance.runner import Settings, probe
from rocketwire_tools.conformance.selection import select
from rocketwire_tools.conformance.target import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.case import Case
    from rocketwire_tools.conformance.verdict import Verdict

_DESCRIPTION: Final = "Play the same bytes to two servers and report every difference; each is HOST:PORT or, with --start, a command."


def parser() -> argparse.ArgumentParser:
    """The parser of ``diff``."""
    made = argparse.ArgumentParser(prog="rocketwire-conformance diff", description=_DESCRIPTION)
    add = made.add_argument
    add("first", metavar="A")
    add("second", metavar="B")
    add("--start", action="store_true", help="A and B are commands that start servers")
    add_start_options(made)
    add("--only", action="append", default=[], metavar="PREFIX")
    add("--tag", action="append", default=[])
    add("--without", action="append", default=[], metavar="TAG")
    add("--profile", default=Profile.JAVA_5_5.value, choices=[one.value for one in Profile])
    add("--destructive", action="store_true")
    add("--patience", type=float, default=1.0, metavar="FACTOR")
    add("--known", type=Path, metavar="FILE", help="TOML file of differences that are on purpose")
    add("--json", type=Path, metavar="FILE")
    return made


def diff(words: Sequence[str]) -> int:
    """Run ``diff``; returns the exit status."""
    made = parser()
    wanted = made.parse_args(words)
    try:
        known = read_known(wanted.known.read_text("utf-8")) if wanted.known else []
        sides = [_side(wanted, text) for text in (wanted.first, wanted.second)]
    except (OSError, ValueError, argparse.ArgumentTypeError) as error:
        made.error(str(error))
    cases = select(ALL, wanted.only, wanted.tag, wanted.without)
    run = sides[0].settings.run
    sides[1] = dataclasses.replace(
        sides[1], settings=dataclasses.replace(sides[1].settings, run=run)
    )
    try:
        first, second = trio.run(_both, cases, sides)
    except UnreachableError as error:
        print(f"unreachable: {error}", file=sys.stderr)
        return UNREACHABLE
    found = judge(first, second, run, NUMBERS, known)
    tell(found)
    if wanted.json:
        wanted.json.write_text(as_json(found), "utf-8")
    return FAILED if found.unexplained or not found.played else PASSED


def _side(wanted: argparse.Namespace, text: str) -> Side:
    settings = Settings(
        profile=Profile(wanted.profile),
        destructive=wanted.destructive,
        start=text if wanted.start else None,
        options=tuple(wanted.option),
        home=wanted.home,
        patience=wanted.patience,
        keep_going=True,
    )
    return Side(settings=settings, target=None if wanted.start else Target(address(text)))


async def _both(
    cases: Sequence[Case], sides: Sequence[Side]
) -> tuple[list[Verdict], list[Verdict]]:
    for side in sides:
        wrong = None if side.target is None else await probe(side.target)
        if wrong is not None and side.target is not None:
            raise UnreachableError(f"{side.target.address} {wrong}")
    return await play_both(cases, NUMBERS, sides[0], sides[1])


def tell(found: Comparison, played: str = "cases") -> None:
    """Print what was found; ``played`` names what was compared."""
    for one in found.unexplained:
        print(f"DIFFERENT {one.case} ({one.step}) {one.field}")
        print(f"    A {shown(one.first)}\n    B {shown(one.second)}")
    for one, reason in found.explained:
        print(f"known     {one.case} ({one.step}) {one.field}: {reason.reason}")
    for reason in found.unused:
        print(f"not seen  {reason.case} {', '.join(reason.fields)}: {reason.reason}")
    print(
        f"{found.played} {played}: {len(found.unexplained)} differences, "
        f"{len(found.explained)} known ones, {len(found.unused)} known but not seen"
    )


def as_json(found: Comparison) -> str:
    """What was found, as JSON."""
    return json.dumps(
        {
            "played": found.played,
            "unexplained": [dataclasses.asdict(one) for one in found.unexplained],
            "explained": [
                dataclasses.asdict(one) | {"reason": reason.reason}
                for one, reason in found.explained
            ],
            "not_seen": [dataclasses.asdict(one) for one in found.unused],
        },
        indent=1,
        default=str,
    )
