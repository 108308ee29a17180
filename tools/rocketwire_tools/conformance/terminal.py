"""What the terminal shows: one line for each case as it ends, the evidence of failures, and the sum."""

from __future__ import annotations

import os
from collections import Counter
from typing import IO, TYPE_CHECKING, Final

from rocketwire_tools.conformance.case import Severity, VerdictKind
from rocketwire_tools.conformance.verdict import counts
from rocketwire_tools.conformance.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.case import Case
    from rocketwire_tools.conformance.verdict import Verdict

_COLOURS: Final = {
    VerdictKind.PASS: "32",
    VerdictKind.FAIL: "31",
    VerdictKind.SKIP: "90",
    VerdictKind.ERROR: "35",
}
LAST_EXCHANGES: Final = 12
"""Lines of evidence under a failure; ``--json`` has all."""


class Terminal:
    """Prints verdicts as they come.

    Attributes:
        quiet: print failures, errors and the sum only.
    """

    def __init__(
        self, out: IO[str], total: int, *, quiet: bool = False, colour: bool | None = None
    ) -> None:
        self.quiet = quiet
        self._out = out
        self._total = total
        self._done = 0
        wanted = out.isatty() and "NO_COLOR" not in os.environ
        self._colour = wanted if colour is None else colour

    def verdict(self, verdict: Verdict) -> None:
        """One case has ended."""
        self._done += 1
        bad = verdict.kind in {VerdictKind.FAIL, VerdictKind.ERROR}
        if self.quiet and not bad:
            return
        case = verdict.case
        word = self.paint(verdict.kind, f"{verdict.kind.value:5}")
        place = f"{self._done:3}/{self._total}"
        print(
            f"{place} {word} {case.id:16} {case.severity.value:6} {case.requirement}",
            file=self._out,
        )
        if verdict.reason:
            print(f"        {verdict.reason}", file=self._out)
        if bad:
            self._evidence(verdict)

    def _evidence(self, verdict: Verdict) -> None:
        for exchange in verdict.exchanges[-LAST_EXCHANGES:]:
            print(f"        {exchange}".replace("\n", "\n  "), file=self._out)
        for outcome in verdict.acceptable:
            print(f"        acceptable: {outcome}", file=self._out)
        print(f"        evidence: {verdict.case.evidence}", file=self._out)

    def paint(self, kind: VerdictKind, text: str) -> str:
        """The text in the colour of that kind, where colours are wanted."""
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self._colour else text

    def summary(self, name: str, verdicts: Sequence[Verdict], *, strict: bool) -> None:
        """The sum of a run."""
        kinds = Counter(verdict.kind for verdict in verdicts)
        text = ", ".join(f"{kinds[kind]} {kind.value}" for kind in VerdictKind if kinds[kind])
        failed = sum(counts(verdict, strict=strict) for verdict in verdicts)
        kind = VerdictKind.FAIL if failed else VerdictKind.PASS
        level = "MUST and SHOULD" if strict else "MUST"
        told = f"{failed} of {level} failed" if failed else f"no {level} failed"
        print(f"{name}: {text or 'no case'}; {self.paint(kind, told)}", file=self._out)


def list_cases(cases: Sequence[Case], out: IO[str]) -> None:
    """One line for each case."""
    for case in cases:
        tags = " ".join(sorted(case.all_tags))
        print(
            f"{case.id:16} {case.severity.value:6} {case.requirement}  [{tags}]".replace(
                "  []", ""
            ),
            file=out,
        )


def explain(case: Case, out: IO[str]) -> None:
    """All that a case says."""
    profiles = " ".join(sorted(profile.value for profile in case.profiles))
    meaning = {
        Severity.MUST: "somebody breaks without it",
        Severity.SHOULD: "a failure with --strict only",
        Severity.NOTE: "never a failure",
    }[case.severity]
    print(f"{case.id}  {case.requirement}", file=out)
    print(f"  severity  {case.severity.value} ({meaning})", file=out)
    print(f"  evidence  {case.evidence}\n  profiles  {profiles}", file=out)
    print(f"  tags      {' '.join(sorted(case.all_tags)) or '-'}", file=out)
    if case.needs_start:
        print(
            f"  started   options={dict(case.options or {})} jvm={case.jvm} kv={case.kv!r} files={case.files} fresh={case.fresh}",
            file=out,
        )
    for number, step in enumerate(case.steps, 1):
        print(f"  {number:2} {brief(step)}", file=out)
