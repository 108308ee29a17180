"""The command line of ``rocketwire-conformance``.

Exit status: 0 nothing that counts has failed, 1 something has, 2 the command line is wrong or the command that starts the server
cannot be run, 3 the server cannot be reached or does not start.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from rocketwire import __version__
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
from rocketwire_tools.conformance.compare.diff_command import diff
from rocketwire_tools.conformance.compare.record_command import record_command, replay_command
from rocketwire_tools.conformance.interrupts import until_interrupted
from rocketwire_tools.conformance.model.case import Profile, VerdictKind
from rocketwire_tools.conformance.report import page, report, terminal
from rocketwire_tools.conformance.report.explain import explain
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.probe import PROBE_SECONDS, probe
from rocketwire_tools.conformance.run.runner import Run, Settings
from rocketwire_tools.conformance.run.target import CommandError, NotStartedError, Target
from rocketwire_tools.conformance.run.verdict import Verdict
from rocketwire_tools.conformance.selection import select
from rocketwire_tools.conformance.vectors.command import vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.conformance.model.case import Case

_EPILOG: Final = """\
other commands:
  rocketwire-conformance diff A B [--start] [--known FILE]
  rocketwire-conformance matrix REPORT.json... [--html FILE] [--markdown FILE]
  rocketwire-conformance record --listen HOST:PORT --target HOST:PORT -o FILE
  rocketwire-conformance replay FILE HOST:PORT [--exact] [--known FILE]
  rocketwire-conformance vectors --export DIR

exit status: 0 passed, 1 failed, 2 wrong usage, 3 the server cannot be reached or does not start
"""


def parser() -> argparse.ArgumentParser:
    """The parser of a run."""
    result = argparse.ArgumentParser(
        prog="rocketwire-conformance",
        description="Ask a RocketMQ name server whether it behaves as Java's does.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("target", nargs="?", type=address, metavar="HOST:PORT", help="a server that runs already")
    add(
        "--start",
        type=start_command,
        metavar="COMMAND",
        help="start servers with this command instead: {port} {config} {kv} {home} {jvm} are put in",
    )
    add_start_options(result)
    add(
        "--only",
        action="append",
        default=[],
        metavar="PREFIX",
        help="cases under this address, as ns, ns/103 or ns/103/4",
    )
    add("--tag", action="append", default=[], help="cases with this tag")
    add(
        "--without",
        action="append",
        default=[],
        metavar="TAG",
        help="leave cases with this tag out",
    )
    add("--profile", default=Profile.JAVA_5_5.value, choices=[profile.value for profile in Profile])
    add("--strict", action="store_true", help="a SHOULD that fails counts")
    add(
        "--destructive",
        action="store_true",
        help="also what touches the server's configuration or other people's brokers",
    )
    add_patience(result)
    add("--list", action="store_true", help="list the cases and end")
    add("--explain", metavar="ID", help="tell all about one case and end")
    add("--json", type=output, metavar="FILE", help="write a report with all that was exchanged")
    add("--junit", type=output, metavar="FILE", help="write a report for build servers")
    add("--html", type=output, metavar="FILE", help="write a report that is one page")
    add("--name", help="what the target is called in reports")
    add("--quiet", action="store_true", help="print failures and the sum only")
    add("--version", action="version", version=__version__)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        command = COMMANDS.get(words[0]) if words else None
        return run(words) if command is None else command(words[1:])
    except SystemExit as ended:  # argparse has printed why
        return ended.code if isinstance(ended.code, int) else USAGE
    except (BrokenPipeError, ExceptionGroup) as error:
        if isinstance(error, ExceptionGroup) and error.split(BrokenPipeError)[1] is not None:
            raise
        sys.stderr.close()  # the reader of our output has ended
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return FAILED


def run(words: Sequence[str]) -> int:
    """Run cases against one target, or tell about them."""
    arguments_parser = parser()
    args = arguments_parser.parse_args(words)
    cases = select(ALL, args.only, args.tag, args.without)
    if args.explain is not None:
        return _explain(args.explain)
    if not cases:
        arguments_parser.error("no case is selected")
    if args.list:
        terminal.list_cases(cases, sys.stdout)
        return PASSED
    if (args.target is None) == (args.start is None):
        arguments_parser.error("give either HOST:PORT or --start COMMAND")
    settings = Settings(
        profile=Profile(args.profile),
        destructive=args.destructive,
        start=args.start,
        options=tuple(args.option),
        home=args.home,
        patience=args.patience,
    )
    target = None if args.target is None else Target(args.target)
    shown = terminal.Terminal(sys.stdout, len(cases), quiet=args.quiet)
    outcome = trio.run(_run, cases, settings, target, shown)
    if outcome.problem:
        print(outcome.problem, file=sys.stderr)
    run_report = report.Report(
        target=args.name or (str(args.target) if args.target else "started"),
        profile=settings.profile.value,
        verdicts=outcome.verdicts,
        seconds=outcome.seconds,
        started=outcome.started,
        server=str(args.target or args.start),
        version=outcome.version,
        left=outcome.left,
        problems=[outcome.problem, *outcome.problems] if outcome.problem else outcome.problems,
    )
    summary = report.as_json(run_report, strict=args.strict)
    if outcome.verdicts:
        shown.summary(summary | {"problems": outcome.problems})
    _write(args, run_report)
    return outcome.status or (FAILED if summary["failed"] or summary["errors"] else PASSED)


@dataclass(slots=True)
class _Done:
    """What came of a run.

    Attributes:
        verdicts: one for each case; fewer if it was interrupted.
        started: when it began, as ISO 8601 in UTC.
        seconds: how long it took.
        version: the protocol version of the server.
        left: what stays in the server.
        problems: servers that did not start though others did.
        problem: why the run ended early or did not begin; empty if neither.
        status: the exit status, if not that of the verdicts.
    """

    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    started: str = ""
    seconds: float = 0.0
    version: str = ""
    left: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    problem: str = ""
    status: int = PASSED


async def _run(
    cases: Sequence[Case], settings: Settings, target: Target | None, shown: terminal.Terminal
) -> _Done:
    outcome = _Done(started=datetime.now(UTC).isoformat(timespec="seconds"))
    started = trio.current_time()
    run = Run(settings, shown.verdict, target)
    try:
        if target is not None:
            probed = await probe(target, PROBE_SECONDS * settings.patience)
            outcome.version = probed.version
            if probed.wrong is not None:
                outcome.problem = f"{target.address} {probed.wrong}; no case can be carried out"
                outcome.status = FAILED
                return outcome
        if await until_interrupted(partial(run.cases, cases, NUMBERS)):
            played = sum(verdict.kind is not VerdictKind.SKIP for verdict in run.verdicts)
            skipped = len(run.verdicts) - played
            outcome.problem = (
                f"interrupted: {played} of {len(cases)} cases were carried out, {skipped} skipped"
            )
            outcome.status = FAILED
        outcome.verdicts, outcome.left, outcome.problems = run.verdicts, run.left, run.problems
        order = {case.id: place for place, case in enumerate(cases)}
        outcome.verdicts.sort(key=lambda verdict: order[verdict.case.id])
    except UnreachableError as error:
        outcome.problem, outcome.status = f"unreachable: {error}", UNREACHABLE
    except NotStartedError as error:
        outcome.problem = f"the server did not start: {error.told}"
        outcome.status = USAGE if isinstance(error, CommandError) else UNREACHABLE
    outcome.version = outcome.version or run.version
    outcome.seconds = trio.current_time() - started
    return outcome


def _explain(case_id: str) -> int:
    for case in ALL:
        if case.id == case_id:
            explain(case, NUMBERS[case.id], sys.stdout)
            return PASSED
    print(f"there is no case {case_id}", file=sys.stderr)
    return USAGE


def _write(args: argparse.Namespace, run_report: report.Report) -> None:
    reports = [run_report]
    if args.json:
        args.json.write_text(report.to_text(reports, strict=args.strict), "utf-8")
    if args.junit:
        args.junit.write_text(report.junit(reports, strict=args.strict), "utf-8")
    if args.html:
        args.html.write_text(page.html([report.as_json(run_report, strict=args.strict)]), "utf-8")


def matrix(words: Sequence[str]) -> int:
    """Put several JSON reports side by side."""
    arguments_parser = argparse.ArgumentParser(prog="rocketwire-conformance matrix")
    arguments_parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    arguments_parser.add_argument("--html", type=output, metavar="FILE")
    arguments_parser.add_argument("--markdown", type=output, metavar="FILE")
    args = arguments_parser.parse_args(words)
    try:
        reports = [
            report for path in args.reports for report in json.loads(path.read_text("utf-8"))
        ]
    except (OSError, ValueError) as error:
        arguments_parser.error(str(error))
    if args.html:
        args.html.write_text(page.html(reports), "utf-8")
    if args.markdown:
        args.markdown.write_text(page.markdown(reports), "utf-8")
    if not args.html and not args.markdown:
        print(page.markdown(reports), end="")
    return PASSED


COMMANDS: Final[dict[str, Callable[[Sequence[str]], int]]] = {
    "diff": diff,
    "matrix": matrix,
    "record": record_command,
    "replay": replay_command,
    "vectors": vectors,
}
"""Those that are named by the first word."""

if __name__ == "__main__":
    sys.exit(main())
