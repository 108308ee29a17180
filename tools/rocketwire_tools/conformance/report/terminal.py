"""Terminal output: one line per case, the evidence of failures, and a summary."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.controls import escape_lines
from rocketwire_tools.conformance.model.case import Case, VerdictKind
from rocketwire_tools.conformance.report.report import (
    KINDS,
    by_severity,
    by_subject,
    extent,
    quota,
    skip_reasons,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.run.verdict import Verdict

_COLOURS: Final = {
    VerdictKind.PASS: "32",
    VerdictKind.FAIL: "31",
    VerdictKind.SKIP: "90",
    VerdictKind.ERROR: "35",
}
# Maximum lines of evidence of a failure; ``--json`` has all.
MAX_EXCHANGES: Final = 12


class Terminal:
    def __init__(
        self, out: IO[str], total: int, *, quiet: bool = False, colour: bool | None = None
    ) -> None:
        self.quiet = quiet  # print only failures, errors and the summary
        # numbers of cases that will be skipped, by reason
        self.skip_reasons: Counter[str] = Counter()
        self._out = out
        self._total = total
        self._done = 0
        default = out.isatty() and "NO_COLOR" not in os.environ
        self._colour = default if colour is None else colour

    def verdict(self, verdict: Verdict) -> None:
        """Print the verdict of a case; before the first one, which cases are skipped."""
        if not self._done and self.skip_reasons and not self.quiet:
            run = self._total - self.skip_reasons.total()
            print(f"{run} of {self._total} cases are run", file=self._out)
            self._print_skipped(self.skip_reasons)
        self._done += 1
        bad = verdict.kind in {VerdictKind.FAIL, VerdictKind.ERROR}
        if self.quiet and not bad:
            return
        case = verdict.case
        word = self.paint(verdict.kind, f"{verdict.kind.value:5}")
        progress = f"{self._done:3}/{self._total}"
        print(
            f"{progress} {word} {case.id:16} {case.severity.value:6} {case.requirement}",
            file=self._out,
        )
        if verdict.reason:
            self._print(f"        {verdict.reason}")
        if bad:
            self._evidence(verdict)

    def _evidence(self, verdict: Verdict) -> None:
        for exchange in verdict.exchanges[-MAX_EXCHANGES:]:
            self._print(f"        {exchange}".replace("\n", "\n  "))
        for outcome in verdict.acceptable:
            print(f"        accepted: {outcome}", file=self._out)
        print(f"        evidence: {verdict.case.evidence}", file=self._out)

    def paint(self, verdict: VerdictKind, text: str) -> str:
        return f"\x1b[{_COLOURS[verdict]}m{text}\x1b[0m" if self._colour else text

    def summary(self, report: dict[str, Any]) -> None:
        failed, errors = report["failed"], report["errors"]
        verdict = VerdictKind.FAIL if failed else VerdictKind.ERROR if errors else VerdictKind.PASS
        level = "MUST and SHOULD" if report["strict"] else "MUST"
        failures = f"{failed or 'no'} {level} failed"
        if errors:
            failures += f", {errors} not run"
        cases = report["cases"]
        tally = report["verdicts"]
        text = ", ".join(f"{tally[name]} {name}" for name in KINDS if tally.get(name))
        print(
            f"{report['target']}: {extent(cases)}: {text or 'no case'}; "
            f"{self.paint(verdict, failures)}",
            file=self._out,
        )
        severities = by_severity(cases).items()
        self._wrap("passed", [f"{key} {quota(sums)}" for key, sums in severities])
        subjects = sorted(by_subject(cases).items())
        self._wrap("subjects", [f"{key} {quota(sums)}" for key, sums in subjects])
        self._print_skipped(skip_reasons(cases))
        version = f"server version {report['server_version'] or 'unknown'}"
        suite = f"suite {report['suite_version']}, profile {report['profile']}"
        when = f"{report['started']}, {report['seconds']:.1f} s"
        self._wrap("run", [suite, version, when])
        for text in report["left_behind"]:
            self._print(f"{report['target']}: {text}")
        for text in report["problems"]:
            self._print(text)

    def _print_skipped(self, reasons: Counter[str]) -> None:
        for reason, count in reasons.most_common():
            self._wrap("skipped", [f"{count}: {reason}"])

    def _print(self, text: str) -> None:
        print(escape_lines(text), file=self._out)

    def _wrap(self, title: str, parts: Sequence[str]) -> None:
        lines = textwrap.wrap(", ".join(parts), 100, break_on_hyphens=False)
        for line in lines:
            self._print(f"  {title:9} {line}")
            title = ""


def list_cases(cases: Sequence[Case], out: IO[str]) -> None:
    for case in cases:
        tags = " ".join(sorted(case.all_tags))
        print(
            f"{case.id:16} {case.severity.value:6} {case.requirement}  [{tags}]".replace(
                "  []", ""
            ),
            file=out,
        )
