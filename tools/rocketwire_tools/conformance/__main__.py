"""The command line of ``rocketwire-conformance``.

Exit status: 0 success, 1 failures, 2 invalid command line or start command, 3 the server cannot be
reached or does not start.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire import __version__
from rocketwire.controls import escape_lines
from rocketwire.os_errors import os_error_text
from rocketwire.program import ProgramParser
from rocketwire_tools.conformance.commands import (
    BROKERS,
    FAILED,
    FILE_STATUSES,
    NAME_SERVERS,
    PASSED,
    USAGE,
    Suite,
    add_run_options,
    add_start_options,
    address,
    diff,
    failure,
    output,
    settings_of,
    start_command,
    until_interrupted,
)
from rocketwire_tools.conformance.model.case import Case, VerdictKind
from rocketwire_tools.conformance.report import page, report, terminal
from rocketwire_tools.conformance.report.terminal import explain
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.runner import SuiteRun, skip_reason
from rocketwire_tools.conformance.run.target import NotStartedError, Target
from rocketwire_tools.conformance.vectors.vectors import NoVectorsError, export

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_EPILOG: Final = """\
examples:
  rocketwire-conformance 127.0.0.1:9876 --html report.html
  rocketwire-conformance --start 'rocketwire-namesrv -c {config}'

other commands:
  rocketwire-conformance broker HOST:PORT
  rocketwire-conformance broker diff A B [--known FILE]
  rocketwire-conformance diff A B [--start] [--known FILE]
  rocketwire-conformance matrix REPORT.json... [--html FILE] [--markdown FILE]
  rocketwire-conformance vectors --export DIR

Without --start, cases about a server's options, files and start are skipped.

exit status: 0 passed, 1 failed, 2 invalid usage, 3 the server cannot be reached or does not start
"""


_BROKER_EPILOG: Final = """\
The cases use topics, groups and clients of their own, and remove them: you may run them against a
broker that is in use. A broker shows its configuration (26), and cases that need another one, such
as enablePropertyFilter=true for SQL92, are skipped with the reason.

other command:
  rocketwire-conformance broker diff A B [--known FILE]

exit status: 0 passed, 1 failed, 2 invalid usage, 3 the broker cannot be reached
"""


def parser(suite: Suite = NAME_SERVERS) -> argparse.ArgumentParser:
    result = ProgramParser(
        prog=suite.program,
        description=f"Compare the behaviour of a RocketMQ {suite.kind} with Java's.",
        epilog=_EPILOG if suite.is_started else _BROKER_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    text = f"address of a running {suite.kind}"
    add("target", nargs="?", type=address, metavar="HOST:PORT", help=text)
    if suite.is_started:
        add(
            "--start",
            type=start_command,
            metavar="COMMAND",
            help="command to start servers instead; replaces {port} {config} {kv} {home} {jvm}",
        )
        add_start_options(result)
    add_run_options(result)
    add("--strict", action="store_true", help="also fail if a SHOULD fails")
    add("--list", action="store_true", help="list the cases and exit")
    add("--explain", metavar="ID", help="show the details of a case and exit")
    add("--json", type=output, metavar="FILE", help="write a JSON report with all exchanges")
    add("--junit", type=output, metavar="FILE", help="write a JUnit report for build servers")
    add("--html", type=output, metavar="FILE", help="write a report as one HTML page")
    add("--name", help="name of the server in reports (default: its address)")
    add("--quiet", action="store_true", help="print only failures and the summary")
    add("--version", action="version", version=__version__)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    first = words[0] if words else ""
    try:
        command = COMMANDS.get(first)
        return run(words) if command is None else command(words[1:])
    except SystemExit as ended:  # argparse has printed the reason
        return ended.code if isinstance(ended.code, int) else USAGE
    except (BrokenPipeError, ExceptionGroup) as error:
        if isinstance(error, ExceptionGroup) and error.split(BrokenPipeError)[1] is not None:
            raise
        sys.stderr.close()  # the reader of our output is gone
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return FAILED


def run(words: Sequence[str], suite: Suite = NAME_SERVERS) -> int:
    arguments_parser = parser(suite)
    args = arguments_parser.parse_args(words)
    cases = suite.select(args)
    if args.explain is not None:
        return _explain(args.explain, suite)
    if not cases:
        arguments_parser.error(
            "no case matches --only, --tag and --without; --list shows all cases"
        )
    if args.list:
        terminal.list_cases(cases, sys.stdout)
        return PASSED
    start = args.start if suite.is_started else None
    if (args.target is None) == (start is None):
        choice = " or --start COMMAND" if suite.is_started else ""
        arguments_parser.error(f"{'either ' if choice else ''}HOST:PORT{choice} is required")
    settings = settings_of(args, start=start)
    target = None if args.target is None else Target(args.target)
    printer = terminal.Terminal(sys.stdout, len(cases), quiet=args.quiet)
    reasons = (skip_reason(case, settings) for case in cases)
    printer.skip_reasons = Counter(reason for reason in reasons if reason is not None)
    suite_run = suite.run(settings, printer.verdict, target)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    clock = time.monotonic()
    status, problem = trio.run(_run, suite_run, cases)
    if problem:
        print(escape_lines(problem), file=sys.stderr)
    run_report = report.Report(
        target=args.name or (str(args.target) if args.target else "started"),
        profile=settings.profile.value,
        verdicts=sorted(suite_run.verdicts, key=lambda verdict: verdict.case.number),
        seconds=time.monotonic() - clock,
        started=started,
        server=str(args.target or start),
        version=suite_run.version,
        left_behind=suite_run.left_behind,
        problems=[problem, *suite_run.problems] if problem else suite_run.problems,
    )
    summary = report.as_json(run_report, strict=args.strict)
    if run_report.verdicts:
        printer.summary(summary | {"problems": suite_run.problems})
    _write(args, run_report)
    return status or (FAILED if summary["failed"] or summary["errors"] else PASSED)


def broker(words: Sequence[str]) -> int:
    return diff(words[1:], BROKERS) if words[:1] == ["diff"] else run(words, BROKERS)


async def _run(suite_run: SuiteRun, cases: Sequence[Case]) -> tuple[int, str]:
    # Run cases; returns an exit status for a run that ended early, and the reason
    try:
        wrong = await suite_run.probe_target()
        if wrong is not None:
            return FAILED, f"{wrong}; no case can be run"
        if await until_interrupted(partial(suite_run.cases, cases)):
            skipped = sum(verdict.kind is VerdictKind.SKIP for verdict in suite_run.verdicts)
            played = len(suite_run.verdicts) - skipped
            counts = f"{played} of {len(cases)} cases were run, {skipped} skipped"
            return FAILED, f"interrupted: {counts}"
    except (UnreachableError, NotStartedError) as error:
        return failure(error)
    return PASSED, ""


def _explain(case_id: str, suite: Suite) -> int:
    for case in suite.cases:
        if case.id == case_id:
            explain(case, sys.stdout)
            return PASSED
    print(f"unknown case {case_id}; --list shows all cases", file=sys.stderr)
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
    arguments_parser = ProgramParser(
        prog="rocketwire-conformance matrix",
        description="Show the reports of several servers as one table: a row for each case.",
        epilog="example:\n  rocketwire-conformance matrix java.json ours.json --html matrix.html"
        f"\n\n{FILE_STATUSES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = arguments_parser.add_argument
    add("reports", nargs="+", type=Path, metavar="REPORT.json", help="a file that --json wrote")
    add("--html", type=output, metavar="FILE", help="write the table as an HTML page")
    add(
        "--markdown",
        type=output,
        metavar="FILE",
        help="write the table as Markdown (default: print it, unless there is --html)",
    )
    args = arguments_parser.parse_args(words)
    try:
        reports = [report for path in args.reports for report in _reports(path)]
    except (OSError, ValueError) as error:
        arguments_parser.error(os_error_text(error))
    if args.html:
        args.html.write_text(page.html(reports), "utf-8")
    if args.markdown:
        args.markdown.write_text(page.markdown(reports), "utf-8")
    if not args.html and not args.markdown:
        print(escape_lines(page.markdown(reports)), end="")
    return PASSED


def _reports(path: Path) -> list[Any]:
    try:
        return list(json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not a report of --json: {error}") from error


def vectors(words: Sequence[str]) -> int:
    arguments_parser = ProgramParser(
        prog="rocketwire-conformance vectors",
        description="Write the golden vectors as JSON lines, for tests of codecs in any language.",
        epilog="exit status: 0 success, 1 the folder cannot be written, 2 invalid usage",
    )
    text = "output folder; created if it is missing"
    arguments_parser.add_argument("--export", required=True, type=Path, metavar="DIR", help=text)
    folder: Path = arguments_parser.parse_args(words).export
    try:
        count = export(folder)
    except (NoVectorsError, OSError) as error:
        print(f"no vectors: {os_error_text(error)}", file=sys.stderr)
        return FAILED
    print(f"{count} vectors in {folder}; see {folder / 'README.md'} for the format")
    return PASSED


COMMANDS: Final[dict[str, Callable[[Sequence[str]], int]]] = {
    "broker": broker,
    "diff": diff,
    "matrix": matrix,
    "vectors": vectors,
}


if __name__ == "__main__":
    sys.exit(main())
