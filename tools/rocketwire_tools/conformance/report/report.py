"""Machine-readable reports: JSON (the input of ``matrix``) and JUnit XML.

Totals are computed from the cases of a JSON report, so that ``matrix`` supports reports of other
versions.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

from rocketwire import __version__
from rocketwire_tools.conformance.run.verdict import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rocketwire_tools.conformance.run.verdict import Verdict


KINDS: Final = ("pass", "fail", "error", "skip")
WORDS: Final = {"pass": "passed", "fail": "failed", "error": "not run", "skip": "skipped"}


def by_severity(cases: Iterable[dict[str, Any]]) -> dict[str, Counter[str]]:
    return _by(cases, lambda case: case["severity"])


def by_subject(cases: Iterable[dict[str, Any]]) -> dict[str, Counter[str]]:
    return _by(cases, lambda case: case["id"].rpartition("/")[0])


def _by(
    cases: Iterable[dict[str, Any]], key: Callable[[dict[str, Any]], str]
) -> dict[str, Counter[str]]:
    sums: dict[str, Counter[str]] = {}
    for case in cases:
        sums.setdefault(key(case), Counter())[case["verdict"]] += 1
    return sums


def skip_reasons(cases: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(case["reason"] for case in cases if case["verdict"] == "skip")


def extent(cases: Sequence[dict[str, Any]]) -> str:
    run = sum(case["verdict"] in {"pass", "fail"} for case in cases)
    return f"{run} of {len(cases)} cases"


def quota(tally: Counter[str]) -> str:
    played = tally["pass"] + tally["fail"]
    text = f"{tally['pass']}/{played}" if played else "-"
    return text + (f" and {tally['error']} not run" if tally["error"] else "")


def sentence(tally: dict[str, int]) -> str:
    return ", ".join(
        f"{tally[verdict]} {WORDS[verdict]}" for verdict in KINDS if tally.get(verdict)
    )


def counting(cases: Iterable[dict[str, Any]], verdict: str, *, strict: bool) -> int:
    severities: Sequence[str] = ("MUST", "SHOULD") if strict else ("MUST",)
    return sum(case["verdict"] == verdict and case["severity"] in severities for case in cases)


@dataclass(frozen=True, slots=True)
class Report:
    target: str  # name of the target
    profile: str
    verdicts: Sequence[Verdict]  # one for each selected case
    seconds: float = 0.0  # duration of the run
    started: str = ""  # start time in ISO 8601, UTC
    server: str = ""  # address of the server, or the command that starts it
    version: str = ""  # version in the server's responses, such as ``V5_5_0``
    left_behind: Sequence[str] = ()  # data that remains in the server, one sentence each
    # why all cases, or those of one server, could not be run; with the last output
    problems: Sequence[str] = ()


def as_json(report: Report, *, strict: bool) -> dict[str, Any]:
    cases = [_case_json(verdict) for verdict in report.verdicts]
    return {
        "target": report.target,
        "server": report.server,
        "server_version": report.version,
        "profile": report.profile,
        "suite_version": __version__,
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "strict": strict,
        "failed": counting(cases, "fail", strict=strict),
        "errors": counting(cases, "error", strict=strict),
        "extent": extent(cases),
        "verdicts": dict(Counter(case["verdict"] for case in cases)),
        "by_severity": {name: dict(tally) for name, tally in by_severity(cases).items()},
        "by_subject": {name: dict(tally) for name, tally in by_subject(cases).items()},
        "skip_reasons": dict(skip_reasons(cases)),
        "left_behind": list(report.left_behind),
        "problems": list(report.problems),
        "cases": cases,
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
            {
                "on": exchange.link,
                "direction": exchange.direction,
                "text": exchange.text,
                "bytes": exchange.data.hex(),
            }
            for exchange in verdict.exchanges
        ],
    }


def to_text(reports: Sequence[Report], *, strict: bool) -> str:
    return json.dumps([as_json(report, strict=strict) for report in reports], indent=1) + "\n"


def junit(reports: Sequence[Report], *, strict: bool) -> str:
    """The reports as JUnit XML; a failure that does not count is a skipped test."""
    root = ElementTree.Element("testsuites")
    for report in (as_json(report, strict=strict) for report in reports):
        cases, problems = report["cases"], report["problems"]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"rocketwire-conformance {report['target']}",
            tests=str(len(cases)),
            time=f"{report['seconds']:.3f}",
        )
        if report["started"]:
            suite.set("timestamp", report["started"])
        _junit_properties(suite, report)
        tally = Counter(_junit_case(suite, case, strict=strict) for case in cases)
        for attribute in ("failure", "error", "skipped"):
            plural = attribute if attribute == "skipped" else attribute + "s"
            suite.set(plural, str(tally[attribute]))
        if problems and not cases:
            _junit_start(suite, problems)
        else:
            _junit_text(suite, "system-err", problems)
        _junit_text(suite, "system-out", report["left_behind"])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_text(suite: ElementTree.Element, name: str, lines: Sequence[str]) -> None:
    if lines:
        ElementTree.SubElement(suite, name).text = _printable("\n".join(lines))


def _junit_properties(suite: ElementTree.Element, report: dict[str, Any]) -> None:
    # Add totals that JUnit's format does not have
    properties = {
        name: str(report[name])
        for name in ("server", "server_version", "profile", "suite_version", "strict", "extent")
    }
    for name in ("by_severity", "by_subject"):
        for key, tally in report[name].items():
            properties[f"{name.removeprefix('by_')} {key}"] = sentence(tally)
    for reason, count in report["skip_reasons"].items():
        properties[f"skipped: {reason}"] = str(count)
    element = ElementTree.SubElement(suite, "properties")
    for name, value in properties.items():
        ElementTree.SubElement(element, "property", name=name, value=_printable(value))


def _junit_start(suite: ElementTree.Element, problems: Sequence[str]) -> None:
    # Add one failed test for all cases, because build servers accept a suite without tests
    suite.set("tests", "1")
    suite.set("errors", "1")
    test = ElementTree.SubElement(suite, "testcase", classname="start", name="the server starts")
    text = "\n".join(problems)
    error = ElementTree.SubElement(test, "error", message=_printable(text.partition("\n")[0]))
    error.text = _printable(text)


def _junit_case(suite: ElementTree.Element, case: dict[str, Any], *, strict: bool) -> str:
    subject, _, number = case["id"].rpartition("/")
    test = ElementTree.SubElement(
        suite,
        "testcase",
        classname=subject.replace("/", "."),
        name=f"{number} {case['requirement']}",
        time=f"{case['seconds']:.3f}",
    )
    if case["verdict"] == "pass":
        return "pass"
    counts = counting((case,), case["verdict"], strict=strict) and case["verdict"] != "skip"
    outcome = {"error": "error", "fail": "failure"}[case["verdict"]] if counts else "skipped"
    inner = ElementTree.SubElement(test, outcome, message=_printable(case["reason"]))
    exchanges = (
        Exchange(one["on"], one["direction"], one["text"], bytes.fromhex(one["bytes"]))
        for one in case["exchanges"]
    )
    inner.text = _printable("\n".join(map(str, exchanges)))
    return outcome


def _printable(text: str) -> str:
    return "".join(
        character if character in "\n\t" or (character >= " " and character < "\ufffe") else "?"
        for character in text
    )
