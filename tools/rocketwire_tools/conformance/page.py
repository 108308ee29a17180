"""The matrix: several reports side by side, as one HTML page that needs nothing else, or as a Markdown table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLE: Final = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#1c2330;background:#fff}
table{border-collapse:collapse;width:100%}th,td{padding:.3em .6em;border-bottom:1px solid #dde2ea;text-align:left;vertical-align:top}
th{position:sticky;top:0;background:#f4f6f9}td.v{white-space:nowrap}code{font:12px ui-monospace,monospace}
.pass{color:#11702f}.fail{color:#b3141c;font-weight:600}.error{color:#8a2be2;font-weight:600}.skip{color:#7a8494}
pre{white-space:pre-wrap;word-break:break-all;font:12px/1.4 ui-monospace,monospace;background:#f4f6f9;padding:.6em;margin:.3em 0}
summary{cursor:pointer}
@media(prefers-color-scheme:dark){body{background:#14181f;color:#dfe4ec}th,pre{background:#1e242e}th,td{border-color:#2e3643}
.pass{color:#5fce80}.fail{color:#ff7b80}.error{color:#c89bff}.skip{color:#8e99aa}}
"""


def _by_address(reports: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any] | None]]:
    """For each address what each report says of it, None where it does not."""
    rows: dict[str, list[dict[str, Any] | None]] = {}
    for place, report in enumerate(reports):
        for case in report["cases"]:
            row = rows.setdefault(case["id"], [None] * len(reports))
            row[place] = case
    return rows


def html(reports: Sequence[dict[str, Any]]) -> str:
    """A page with one row for each case and one column for each report."""
    head = "".join(
        f"<th>{escape(report['target'])}<br><small>{escape(report['profile'])}</small></th>"
        for report in reports
    )
    rows = "\n".join(_row(cases) for cases in _by_address(reports).values())
    sums = "".join(f"<td>{escape(_sum(report))}</td>" for report in reports)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Name server conformance</title><style>{_STYLE}</style></head><body>"
        "<h1>Name server conformance</h1>"
        f"<table><thead><tr><th>case</th><th>requirement</th>{head}</tr></thead>"
        f"<tbody><tr><td></td><td>all</td>{sums}</tr>\n{rows}</tbody></table></body></html>\n"
    )


def _sum(report: dict[str, Any]) -> str:
    tally = report["verdicts"]
    kinds = ("pass", "fail", "error", "skip")
    return ", ".join(f"{tally[kind]} {kind}" for kind in kinds if tally.get(kind))


def _row(cases: Sequence[dict[str, Any] | None]) -> str:
    about = next(case for case in cases if case is not None)
    cells = "".join(_cell(case) for case in cases)
    return (
        f"<tr><td><code>{escape(about['id'])}</code><br><small>{escape(about['severity'])}</small></td>"
        f"<td>{escape(about['requirement'])}<br><small>{escape(about['evidence'])}</small></td>{cells}</tr>"
    )


def _cell(case: dict[str, Any] | None) -> str:
    if case is None:
        return "<td></td>"
    kind = case["verdict"]
    word = f'<span class="{kind}">{kind}</span>'
    if kind == "pass":
        return f'<td class="v">{word}</td>'
    lines = [f"{one['on']} {one['direction']} {one['text']}" for one in case["exchanges"]]
    lines += [f"acceptable: {one}" for one in case["acceptable"]]
    evidence = f"<pre>{escape(chr(10).join(lines))}</pre>" if lines else ""
    return (
        f"<td><details><summary>{word}</summary>{escape(case['reason'])}{evidence}</details></td>"
    )


def markdown(reports: Sequence[dict[str, Any]]) -> str:
    """A table with one row for each subject and one column for each report: passed of those that apply."""
    heads = [f"{report['target']} ({report['profile']})" for report in reports]
    lines = ["| cases | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    subjects: dict[str, list[list[dict[str, Any] | None]]] = {}
    for address, cases in _by_address(reports).items():
        subjects.setdefault(address.rpartition("/")[0], []).append(cases)
    for subject, rows in sorted(subjects.items()):
        columns = zip(*rows, strict=True)
        lines.append(f"| `{subject}` | " + " | ".join(_tally(column) for column in columns) + " |")
    totals = [_tally(tuple(report["cases"])) for report in reports]
    lines.append("| all | " + " | ".join(totals) + " |")
    return "\n".join(lines) + "\n"


def _tally(cases: Sequence[dict[str, Any] | None]) -> str:
    applied = [case for case in cases if case is not None and case["verdict"] != "skip"]
    passed = sum(case["verdict"] == "pass" for case in applied)
    if not applied:
        return "-"
    missed = [case["id"] for case in applied if case["verdict"] != "pass"]
    return f"{passed}/{len(applied)}" + (f" (not {', '.join(missed)})" if missed else "")
