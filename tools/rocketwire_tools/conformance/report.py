"""Reports for machines: JSON, which ``matrix`` reads again, and JUnit's XML."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from rocketwire_tools.conformance.case import VerdictKind
from rocketwire_tools.conformance.verdict import counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """One run against one target.

    Attributes:
        target: what the target is called.
        profile: the measure.
        verdicts: one for each selected case.
        seconds: how long the run took.
    """

    target: str
    profile: str
    verdicts: Sequence[Verdict]
    seconds: float = 0.0


def as_json(report: Report, *, strict: bool) -> dict[str, Any]:
    """The report as JSON: all that was seen, bytes as hex digits."""
    kinds = Counter(verdict.kind.value for verdict in report.verdicts)
    return {
        "target": report.target,
        "profile": report.profile,
        "seconds": round(report.seconds, 3),
        "strict": strict,
        "failed": sum(counts(verdict, strict=strict) for verdict in report.verdicts),
        "verdicts": dict(kinds),
        "cases": [_case_json(verdict) for verdict in report.verdicts],
    }


def _case_json(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {
        "id": case.id,
        "requirement": case.requirement,
        "severity": case.severity.value,
        "evidence": case.evidence,
        "profiles": sorted(profile.value for profile in case.profiles),
        "tags": sorted(case.all_tags),
        "verdict": verdict.kind.value,
        "reason": verdict.reason,
        "seconds": round(verdict.seconds, 3),
        "acceptable": list(verdict.acceptable),
        "exchanges": [
            {"on": one.link, "direction": one.direction, "text": one.text, "bytes": one.data.hex()}
            for one in verdict.exchanges
        ],
    }


def to_text(reports: Sequence[Report], *, strict: bool) -> str:
    """The reports as a JSON list."""
    return json.dumps([as_json(report, strict=strict) for report in reports], indent=1) + "\n"


def junit(reports: Sequence[Report], *, strict: bool) -> str:
    """The reports as JUnit's XML; what does not count is a skipped test there."""
    root = ElementTree.Element("testsuites")
    for report in reports:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"rocketwire-conformance {report.target}",
            tests=str(len(report.verdicts)),
            time=f"{report.seconds:.3f}",
        )
        tally: Counter[str] = Counter()
        for verdict in report.verdicts:
            tally[_junit_case(suite, verdict, strict=strict)] += 1
        for attribute in ("failure", "error", "skipped"):
            plural = attribute if attribute == "skipped" else attribute + "s"
            suite.set(plural, str(tally[attribute]))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_case(suite: ElementTree.Element, verdict: Verdict, *, strict: bool) -> str:
    """Add one test; returns the name of what it holds."""
    subject, _, number = verdict.case.id.rpartition("/")
    test = ElementTree.SubElement(
        suite,
        "testcase",
        classname=subject.replace("/", "."),
        name=f"{number} {verdict.case.requirement}",
        time=f"{verdict.seconds:.3f}",
    )
    if verdict.kind is VerdictKind.PASS:
        return "pass"
    outcome = "skipped"
    if counts(verdict, strict=strict):
        outcome = "error" if verdict.kind is VerdictKind.ERROR else "failure"
    inner = ElementTree.SubElement(test, outcome, message=_printable(verdict.reason))
    inner.text = _printable("\n".join(str(exchange) for exchange in verdict.exchanges))
    return outcome


def _printable(text: str) -> str:
    """The text without what XML cannot hold."""
    return "".join(one if one in "\n\t" or (one >= " " and one < "\ufffe") else "?" for one in text)
