"""The command line of ``rocketwire-conformance``.

Exit status: 0 nothing that counts has failed, 1 something has, 2 the command line is wrong, 3 the target cannot be reached.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from rocketwire import __version__
from rocketwire_tools.conformance import page, report, terminal
from rocketwire_tools.conformance.arguments import (
    FAILED,
    NUMBERS,
    PASSED,
    UNREACHABLE,
    USAGE,
    add_start_options,
    address,
)
from rocketwire_tools.conformance.case import Profile, VerdictKind
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.diff_command import diff
from rocketwire_tools.conformance.play import UnreachableError
from rocketwire_tools.conformance.record_command import record_command, replay_command
from rocketwire_tools.conformance.runner import PROBE_SECONDS, Run, Settings, probe
from rocketwire_tools.conformance.selection import select
from rocketwire_tools.conformance.target import Target
from rocketwire_tools.conformance.vectors_command import vectors
from rocketwire_tools.conformance.verdict import Verdict, counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.conformance.case import Case

_EPILOG: Final = """\
other commands:
  rocketwire-conformance diff A B [--start] [--known FILE]
  rocketwire-conformance matrix REPORT.json... [--html FILE] [--markdown FILE]
  rocketwire-conformance record --listen HOST:PORT --target HOST:PORT -o FILE
  rocketwire-conformance replay FILE HOST:PORT [--exact] [--known FILE]
  rocketwire-conformance vectors --export DIR

exit status: 0 passed, 1 failed, 2 wrong usage, 3 target not reached
"""


def parser() -> argparse.ArgumentParser:
    """The parser of a run."""
    made = argparse.ArgumentParser(
        prog="rocketwire-conformance",
        description="Ask a RocketMQ name server whether it behaves as Java's does.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("target", nargs="?", type=address, metavar="HOST:PORT", help="a server that runs already")
    add(
        "--start",
        metavar="COMMAND",
        help="start servers with this command instead: {port} {config} {kv} {home} {jvm} are put in",
    )
    add_start_options(made)
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
    add("--profile", default=Profile.JAVA_5_5.value, choices=[one.value for one in Profile])
    add("--strict", action="store_true", help="a SHOULD that fails counts")
    add(
        "--destructive",
        action="store_true",
        help="also what touches the server's configuration or other people's brokers",
    )
    add("--patience", type=float, default=1.0, metavar="FACTOR", help="factor for all deadlines")
    add("--list", action="store_true", help="list the cases and end")
    add("--explain", metavar="ID", help="tell all about one case and end")
    add("--json", type=Path, metavar="FILE", help="write a report with all that was exchanged")
    add("--junit", type=Path, metavar="FILE", help="write a report for build servers")
    add("--html", type=Path, metavar="FILE", help="write a report that is one page")
    add("--name", help="what the target is called in reports")
    add("--quiet", action="store_true", help="print failures and the sum only")
    add("--version", action="version", version=__version__)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        command = COMMANDS.get(words[0]) if words else None
        return run(words) if command is None else command(words[1:])
    except SystemExit as ended:  # argparse has printed why
        return ended.code if isinstance(ended.code, int) else USAGE
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return FAILED


def run(words: Sequence[str]) -> int:
    """Run cases against one target, or tell about them."""
    made = parser()
    wanted = made.parse_args(words)
    cases = select(ALL, wanted.only, wanted.tag, wanted.without)
    if wanted.explain is not None:
        return _explain(wanted.explain)
    if not cases:
        made.error("no case is selected")
    if wanted.list:
        terminal.list_cases(cases, sys.stdout)
        return PASSED
    if (wanted.target is None) == (wanted.start is None):
        made.error("give either HOST:PORT or --start COMMAND")
    settings = Settings(
        profile=Profile(wanted.profile),
        destructive=wanted.destructive,
        start=wanted.start,
        options=tuple(wanted.option),
        home=wanted.home,
        patience=wanted.patience,
    )
    name = wanted.name or (str(wanted.target) if wanted.target else "started")
    target = None if wanted.target is None else Target(wanted.target)
    shown = terminal.Terminal(sys.stdout, len(cases), quiet=wanted.quiet)
    try:
        verdicts, seconds = trio.run(_run, cases, settings, target, shown)
    except UnreachableError as error:
        print(f"unreachable: {error}", file=sys.stderr)
        return UNREACHABLE
    shown.summary(name, verdicts, strict=wanted.strict)
    made_report = report.Report(name, settings.profile.value, verdicts, seconds)
    _write(wanted, made_report)
    return FAILED if any(counts(one, strict=wanted.strict) for one in verdicts) else PASSED


async def _run(
    cases: Sequence[Case], settings: Settings, target: Target | None, shown: terminal.Terminal
) -> tuple[list[Verdict], float]:
    started = trio.current_time()
    verdicts: list[Verdict]
    limit = PROBE_SECONDS * settings.patience
    wrong = None if target is None else await probe(target, limit)
    if wrong is None:
        verdicts = await Run(settings, shown.verdict, target).cases(cases, NUMBERS)
    else:
        print(f"the target {wrong}; no case can be carried out", file=sys.stderr)
        kind = VerdictKind.ERROR
        verdicts = [Verdict(case=case, kind=kind, reason=f"the target {wrong}") for case in cases]
    return verdicts, trio.current_time() - started


def _explain(case_id: str) -> int:
    for case in ALL:
        if case.id == case_id:
            terminal.explain(case, sys.stdout)
            return PASSED
    print(f"there is no case {case_id}", file=sys.stderr)
    return USAGE


def _write(wanted: argparse.Namespace, made: report.Report) -> None:
    reports = [made]
    if wanted.json:
        wanted.json.write_text(report.to_text(reports, strict=wanted.strict), "utf-8")
    if wanted.junit:
        wanted.junit.write_text(report.junit(reports, strict=wanted.strict), "utf-8")
    if wanted.html:
        wanted.html.write_text(page.html([report.as_json(made, strict=wanted.strict)]), "utf-8")


def matrix(words: Sequence[str]) -> int:
    """Put several JSON reports side by side."""
    made = argparse.ArgumentParser(prog="rocketwire-conformance matrix")
    made.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    made.add_argument("--html", type=Path, metavar="FILE")
    made.add_argument("--markdown", type=Path, metavar="FILE")
    wanted = made.parse_args(words)
    try:
        reports = [one for path in wanted.reports for one in json.loads(path.read_text("utf-8"))]
    except (OSError, ValueError) as error:
        made.error(str(error))
    if wanted.html:
        wanted.html.write_text(page.html(reports), "utf-8")
    if wanted.markdown:
        wanted.markdown.write_text(page.markdown(reports), "utf-8")
    if not wanted.html and not wanted.markdown:
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
