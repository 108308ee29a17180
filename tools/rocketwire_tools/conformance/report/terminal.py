"""What a person reads on a terminal: the explanation of a case, verdicts and the summary."""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.controls import escape_lines
from rocketwire_tools.conformance.model.case import Case, Severity, VerdictKind
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.model.steps import Ask, Expect, Frame, Request, Send, Until
from rocketwire_tools.conformance.model.wording import (
    cut,
    describe_data,
    describe_outcome,
    describe_step,
)
from rocketwire_tools.conformance.report.report import (
    KINDS,
    by_severity,
    by_subject,
    extent,
    quota,
    skip_reasons,
)
from rocketwire_tools.conformance.run.executor import literal_bytes, request_bytes, with_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.conformance.model.outcomes import Outcome
    from rocketwire_tools.conformance.model.steps import Sendable, Step
    from rocketwire_tools.conformance.run.verdict import Verdict

RUN: Final = "example"
# Maximum bytes of a frame in hex.
MAX_BYTES: Final = 1024
# Maximum characters of a body.
_CHARACTERS: Final = 2000
_MEANING: Final = {
    Severity.MUST: "brokers, clients or tools fail without it",
    Severity.SHOULD: "a failure with --strict only",
    Severity.NOTE: "never a failure",
}


def explain(case: Case, out: IO[str]) -> None:
    print("\n".join(_lines(case, Names(RUN, case.number))), file=out)


def _lines(case: Case, names: Names) -> Iterator[str]:
    yield f"{case.id}  {case.requirement}"
    yield f"  severity  {case.severity.value} ({_MEANING[case.severity]})"
    yield f"  evidence  {case.evidence}"
    yield f"  profiles  {' '.join(sorted(profile.value for profile in case.profiles))}"
    yield f"  tags      {' '.join(sorted(case.all_tags)) or '-'}"
    if case.bystander:
        yield "  beside    another broker is registered before, and all of it is read afterwards"
    if case.needs_start:
        yield "  server    started by the suite (--start) for this case:"
        yield from _server(case)
    opaque = 0
    for index, item in enumerate((*case.steps, *case.cleanup), 1):
        yield ""
        last = "cleanup: " if index > len(case.steps) else ""
        yield f"  {index}. {last}{describe_step(item)}"
        for part in _parts(item):
            opaque += isinstance(part, Request)
            yield from _explain(part, names, opaque)
        for accepted in _outcomes(item):
            yield f"       accepted: {names.text(describe_outcome(accepted))}"


def _server(case: Case) -> Iterator[str]:
    for name, text in (case.options or {}).items():
        yield f"              property {name}={text}"
    for word in case.jvm:
        yield f"              system property {word}"
    if case.kv is not None:
        yield f"              KV file {json.dumps(case.kv, ensure_ascii=False)}"
    for file in case.files:
        yield f"              file {file}"
    if case.fresh:
        yield "              not used by another case"


def _parts(item: Step) -> Sequence[Sendable]:
    if isinstance(item, Send):
        return item.parts
    return (item.request,) if isinstance(item, (Ask, Until)) else ()


def _outcomes(item: Step) -> Sequence[Outcome]:
    if isinstance(item, (Ask, Expect)):
        return item.outcomes
    return (item.outcome,) if isinstance(item, Until) else ()


def _explain(part: Sendable, names: Names, opaque: int) -> Iterator[str]:
    if isinstance(part, Request):
        request = with_names(part, names)
        data = request_bytes(request, opaque if request.opaque is None else request.opaque)
        body = request.body if isinstance(request.body, bytes) else b""
        header = data[8 : len(data) - len(body)]
        form = "binary" if part.binary else "JSON"
    elif isinstance(part, Frame):
        data = literal_bytes(part, names)
        header, body = (
            names.text(text).encode() if isinstance(text, str) else text
            for text in (part.header, part.body)
        )
        form = {0: "JSON", 1: "binary"}.get(part.type, f"type {part.type}")
    else:
        yield f"       bytes of {describe_data(part)}"
        yield from _hex(part)
        return
    yield f"       header ({form}): {_readable(header)}"
    if body:
        yield f"       body: {_readable(body)}"
    yield f"       frame of {len(data)} bytes:"
    yield from _hex(data)


def _readable(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return cut(data.hex(" "), _CHARACTERS)
    printed = text if text.isprintable() else json.dumps(text, ensure_ascii=False)
    return cut(printed, _CHARACTERS)


def _hex(data: bytes) -> Iterator[str]:
    for line in textwrap.wrap(data[:MAX_BYTES].hex(" "), 96):
        yield f"         {line}"
    if len(data) > MAX_BYTES:
        yield f"         ... ({len(data)} bytes)"


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
