"""Reports: totals, date, versions, reasons of skips, and errors apart from failures, in each form."""

import io
import re
from collections import Counter
from datetime import datetime
from xml.etree import ElementTree

import pytest

from rocketwire import __version__
from rocketwire_tools.conformance.model.case import Case, VerdictKind
from rocketwire_tools.conformance.report import page, report
from rocketwire_tools.conformance.report.terminal import Terminal
from rocketwire_tools.conformance.run.verdict import Verdict

DATE = "2026-11-23T20:40:00+00:00"


def verdict(case: str, outcome: VerdictKind, reason: str = "", word: str = "MUST") -> Verdict:
    return Verdict(
        case=Case(id=case, requirement=f"It {word}.", evidence="", steps=()),
        kind=outcome,
        reason=reason,
    )


MADE = report.Report(
    target="mine",
    profile="java-5.5",
    seconds=1.5,
    started=DATE,
    server="10.0.0.1:9876",
    version="V5_5_0",
    left_behind=["leaves something behind"],
    problems=["a server with a=b did not start: it ended\n    out of luck"],
    verdicts=[
        verdict("ns/1/1", VerdictKind.PASS),
        verdict("ns/1/2", VerdictKind.FAIL, "wrong <code>"),
        verdict("ns/1/3", VerdictKind.ERROR, "the target is gone"),
        verdict("ns/2/1", VerdictKind.SKIP, "needs a server of its own"),
        verdict("ns/2/2", VerdictKind.SKIP, "needs a server of its own"),
        verdict("ns/2/3", VerdictKind.FAIL, "wrong", "SHOULD"),
    ],
)


def test_json_has_all_totals_with_their_subjects() -> None:
    details = report.as_json(MADE, strict=False)

    assert datetime.fromisoformat(details["started"]).tzinfo is not None
    assert (details["suite_version"], details["server"], details["server_version"]) == (
        __version__,
        "10.0.0.1:9876",
        "V5_5_0",
    )
    assert (details["failed"], details["errors"]) == (1, 1)
    assert report.as_json(MADE, strict=True)["failed"] == 2
    assert details["verdicts"] == {"pass": 1, "fail": 2, "error": 1, "skip": 2}
    assert details["by_severity"]["SHOULD"] == {"fail": 1}
    assert details["by_subject"] == {
        "ns/1": {"pass": 1, "fail": 1, "error": 1},
        "ns/2": {"skip": 2, "fail": 1},
    }
    assert details["skip_reasons"] == {"needs a server of its own": 2}
    assert details["left_behind"] == ["leaves something behind"]


@pytest.mark.parametrize(
    "text",
    [
        "mine: 3 of 6 cases: 1 pass, 2 fail, 1 error, 2 skip; 1 MUST failed, 1 not run",
        "passed    MUST 1/2 and 1 not run, SHOULD 0/1",
        "subjects  ns/1 1/2 and 1 not run, ns/2 0/1",
        "skipped   2: needs a server of its own",
        f"suite {__version__}, profile java-5.5, server version V5_5_0, {DATE}, 1.5 s",
        "mine: leaves something behind",
        "out of luck",
    ],
)
def test_the_terminal_ends_with_all_totals(text: str) -> None:
    out = io.StringIO()
    Terminal(out, 6).summary(report.as_json(MADE, strict=False))

    assert text in out.getvalue()


@pytest.mark.parametrize("quiet", [False, True])
def test_the_terminal_begins_with_skipped_cases_unless_quiet(quiet: bool) -> None:
    out = io.StringIO()
    terminal = Terminal(out, 6, quiet=quiet)
    terminal.skip_reasons = Counter({"needs its own server (--start)": 2})
    terminal.verdict(MADE.verdicts[0])

    begin = "4 of 6 cases are run\n  skipped   2: needs its own server (--start)\n"
    assert out.getvalue().startswith(begin) is not quiet


def test_junit_has_errors_apart_from_failures_and_the_totals_as_properties() -> None:
    (suite,) = ElementTree.fromstring(report.junit([MADE], strict=True))
    properties = {element.get("name"): element.get("value") for element in suite.iter("property")}

    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "1", "skipped": "2"}
    assert suite.get("timestamp") == DATE
    assert properties["subject ns/1"] == "1 passed, 1 failed, 1 not run"
    assert properties["severity MUST"] == "1 passed, 1 failed, 1 not run, 2 skipped"
    assert properties["skipped: needs a server of its own"] == "2"
    assert properties["suite_version"] == __version__
    assert properties["extent"] == "3 of 6 cases"
    assert "out of luck" in (suite.findtext("system-err") or "")


def test_the_page_can_show_failures_and_errors_only_and_be_printed() -> None:
    text = page.html([report.as_json(MADE, strict=False)])

    assert "<script" not in text
    assert "#bad:checked~table.cases tr.good" in text
    assert "@media print" in text
    rows = re.findall(r'<tr class="([^"]*)"><td><code>([^<]*)', text)
    assert {case for outcome, case in rows if "good" not in outcome} == {
        "ns/1/2",
        "ns/1/3",
        "ns/2/3",
    }
    assert {case for outcome, case in rows if "skipped" in outcome} == {"ns/2/1", "ns/2/2"}
    for details in (
        DATE,
        __version__,
        "10.0.0.1:9876",
        "V5_5_0",
        "wrong &lt;code&gt;",
        "out of luck",
    ):
        assert details in text
    assert '<td>3 of 6 cases: <span class="pass">1 passed</span>' in text
    assert '<span class="error">1 not run</span>' in text
    assert "<td>needs a server of its own</td><td>2</td>" in text


def test_the_matrix_counts_errors_apart_from_failures() -> None:
    table = page.markdown([report.as_json(MADE, strict=False)])

    assert "| `ns/1` | 1/2 (not ns/1/2; not run: ns/1/3) |" in table
    assert "| all | 1/3 (not ns/1/2, ns/2/3; not run: ns/1/3) |" in table


def test_the_matrix_reads_reports_of_versions_that_wrote_less() -> None:
    details = report.as_json(MADE, strict=False)
    old = {key: details[key] for key in ("target", "profile", "seconds", "verdicts", "cases")}

    assert "not run" in page.html([old, details])
