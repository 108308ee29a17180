"""The matrix of several reports as one self-contained HTML page or as a Markdown table."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.report.report import (
    KINDS,
    WORDS,
    by_severity,
    by_subject,
    extent,
    quota,
    skip_reasons,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_STYLE: Final = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;
color:#1c2330;background:#fff}
table{border-collapse:collapse;width:100%;margin:0 0 1.5em}
th,td{padding:.3em .6em;border-bottom:1px solid #dde2ea;text-align:left;vertical-align:top}
thead th{background:#f4f6f9}table.cases thead th{position:sticky;top:0}td.v{white-space:nowrap}
code{font:12px ui-monospace,monospace}h2{font-size:1.15em;margin:1.6em 0 .5em}
.pass{color:#11702f}.fail{color:#b3141c;font-weight:600}.error{color:#7a1fc2;font-weight:600}
.skip{color:#667080}
pre{white-space:pre-wrap;word-break:break-all;font:12px/1.4 ui-monospace,monospace;
background:#f4f6f9;padding:.6em;margin:.3em 0}
summary{cursor:pointer}.view label{margin-right:1.2em}.note{border-left:4px solid #b3141c;
padding:.1em .8em;margin:1em 0}
#bad:checked~table.cases tr.good,#applied:checked~table.cases tr.skipped{display:none}
@media(prefers-color-scheme:dark){body{background:#14181f;color:#dfe4ec}
thead th,pre{background:#1e242e}th,td{border-color:#2e3643}
.pass{color:#5fce80}.fail{color:#ff7b80}.error{color:#c89bff}.skip{color:#8e99aa}}
@media(max-width:600px){body{overflow-wrap:anywhere}pre{white-space:pre-wrap}}
@media print{body{margin:0;max-width:none;font-size:10px;color:#000;background:#fff}
input,.view{display:none}
thead th{position:static!important;background:#eee}tr{break-inside:avoid}
details::details-content{content-visibility:visible}
th,td{border-color:#bbb}pre{background:#f6f6f6}}
"""

_VIEWS: Final = (
    ("all", "all cases", True),
    ("bad", "failures and errors only", False),
    ("applied", "without skipped cases", False),
)


def _by_address(reports: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any] | None]]:
    rows: dict[str, list[dict[str, Any] | None]] = {}
    for column, report in enumerate(reports):
        for case in report["cases"]:
            row = rows.setdefault(case["id"], [None] * len(reports))
            row[column] = case
    return rows


def html(reports: Sequence[dict[str, Any]]) -> str:
    heads = "".join(
        f"<th>{escape(report['target'])}<br><small>{escape(report['profile'])}</small></th>"
        for report in reports
    )
    rows = "\n".join(_row(cases) for cases in _by_address(reports).values())
    inputs = "".join(
        f'<input type="radio" name="view" id="{name}"{" checked" if checked else ""}>'
        f'<label for="{name}" class="view"> {text}</label> '
        for name, text, checked in _VIEWS
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Name server conformance</title><style>{_STYLE}</style></head><body>"
        "<h1>Name server conformance</h1>"
        f"{_runs(reports, heads)}{_notes(reports)}"
        f"{_sums('By severity', reports, heads, by_severity)}"
        f"{_sums('By subject', reports, heads, by_subject)}"
        f"{_skips(reports, heads)}<h2>Cases</h2>{inputs}"
        f'<table class="cases"><thead><tr><th>case</th><th>requirement</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></body></html>\n"
    )


def _runs(reports: Sequence[dict[str, Any]], heads: str) -> str:
    about: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
        ("result", _result),
        ("server", lambda report: escape(report.get("server") or report["target"])),
        ("server's version", lambda report: escape(report.get("server_version") or "-")),
        ("suite", lambda report: escape(f"rocketwire {report.get('suite_version') or '-'}")),
        ("date", lambda report: escape(report.get("started") or "-")),
        ("duration", lambda report: f"{report['seconds']:.1f} s"),
    )
    rows = "".join(
        f"<tr><th>{name}</th>{''.join(f'<td>{cell(report)}</td>' for report in reports)}</tr>"
        for name, cell in about
    )
    return f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _result(report: dict[str, Any]) -> str:
    words = (
        f'<span class="{verdict}">{report["verdicts"][verdict]} {WORDS[verdict]}</span>'
        for verdict in KINDS
        if report["verdicts"].get(verdict)
    )
    text = ", ".join(words)
    if not text:
        return '<span class="error">not run</span>'
    return f"{extent(report['cases'])}: {text}"


def _notes(reports: Sequence[dict[str, Any]]) -> str:
    notes: list[str] = []
    for report in reports:
        name = escape(report["target"])
        for text in report.get("problems") or ():
            first, _, output = text.partition("\n")
            details = f"<pre>{escape(output)}</pre>" if output else ""
            notes.append(f'<div class="note"><b>{name}</b>: {escape(first)}{details}</div>')
        notes += [f"<p>{name} {escape(text)}</p>" for text in report.get("left_behind") or ()]
    return "".join(notes)


def _sums(
    title: str,
    reports: Sequence[dict[str, Any]],
    heads: str,
    sums: Callable[[Sequence[dict[str, Any]]], dict[str, Counter[str]]],
) -> str:
    tallies = [sums(report["cases"]) for report in reports]
    rows = "".join(
        f"<tr><td>{escape(name)}</td>{''.join(_tally_cell(t.get(name)) for t in tallies)}</tr>"
        for name in sorted({name for tally in tallies for name in tally})
    )
    head = f"<thead><tr><th>{title.lower().removeprefix('by ')}</th>{heads}</tr></thead>"
    return f"<h2>{title}</h2><table>{head}<tbody>{rows}</tbody></table>"


def _tally_cell(tally: Counter[str] | None) -> str:
    if tally is None:
        return "<td>-</td>"
    verdict = "fail" if tally["fail"] else "error" if tally["error"] else "pass"
    skipped = f" <small>({tally['skip']} skipped)</small>" if tally["skip"] else ""
    return f'<td><span class="{verdict}">{quota(tally)}</span>{skipped}</td>'


def _skips(reports: Sequence[dict[str, Any]], heads: str) -> str:
    columns = [skip_reasons(report["cases"]) for report in reports]
    reasons = sorted({reason for column in columns for reason in column})
    if not reasons:
        return ""
    rows = "".join(
        f"<tr><td>{escape(reason)}</td>{''.join(f'<td>{c[reason]}</td>' for c in columns)}</tr>"
        for reason in reasons
    )
    head = f"<thead><tr><th>reason</th>{heads}</tr></thead>"
    return f"<h2>Skipped cases</h2><table>{head}<tbody>{rows}</tbody></table>"


def _row(cases: Sequence[dict[str, Any] | None]) -> str:
    about = next(case for case in cases if case is not None)
    cells = "".join(_cell(case) for case in cases)
    kinds = {case["verdict"] for case in cases if case is not None}
    classes = [] if kinds & {"fail", "error"} else ["good"]
    if kinds == {"skip"}:
        classes.append("skipped")
    return (
        f'<tr class="{" ".join(classes)}"><td><code>{escape(about["id"])}</code><br>'
        f"<small>{escape(about['severity'])}</small></td>"
        f"<td>{escape(about['requirement'])}<br>"
        f"<small>{escape(about['evidence'])}</small></td>{cells}</tr>"
    )


def _cell(case: dict[str, Any] | None) -> str:
    # One verdict; unless it is a pass, with reason and evidence (unfolded in print)
    if case is None:
        return "<td></td>"
    verdict = case["verdict"]
    word = f'<span class="{verdict}">{verdict}</span>'
    if verdict == "pass":
        return f'<td class="v">{word}</td>'
    lines = [
        f"{exchange['on']} {exchange['direction']} {exchange['text']}"
        for exchange in case["exchanges"]
    ]
    lines += [f"accepted: {exchange}" for exchange in case["acceptable"]]
    reason = escape(case["reason"])
    if not lines:
        return f"<td>{word}<br><small>{reason}</small></td>"
    evidence = f"<pre>{escape(chr(10).join(lines))}</pre>"
    return f"<td>{word}<br>{reason}<details><summary>evidence</summary>{evidence}</details></td>"


def markdown(reports: Sequence[dict[str, Any]]) -> str:
    """A table of subjects and reports: passed and applicable cases."""
    heads = [f"{report['target']} ({report['profile']})" for report in reports]
    lines = ["| cases | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    subjects: dict[str, list[list[dict[str, Any] | None]]] = {}
    for address, cases in _by_address(reports).items():
        subjects.setdefault(address.rpartition("/")[0], []).append(cases)
    for subject, rows in sorted(subjects.items()):
        columns = zip(*rows, strict=True)
        lines.append(f"| `{subject}` | " + " | ".join(_tally(column) for column in columns) + " |")
    sums = [_tally(tuple(report["cases"])) if report["cases"] else "not run" for report in reports]
    lines.append("| all | " + " | ".join(sums) + " |")
    return "\n".join(lines) + "\n"


def _tally(cases: Sequence[dict[str, Any] | None]) -> str:
    # ``22/23 (not ns/100/51)``; cases that were not run count neither as passed nor as failed
    applied = [case for case in cases if case is not None and case["verdict"] != "skip"]
    if not applied:
        return "-"
    notes = [
        f"{word} {', '.join(names)}"
        for verdict, word in (("fail", "not"), ("error", "not run:"))
        if (names := [case["id"] for case in applied if case["verdict"] == verdict])
    ]
    played = Counter(case["verdict"] for case in applied)
    text = f"{played['pass']}/{played['pass'] + played['fail']}"
    return text + (f" ({'; '.join(notes)})" if notes else "")
