"""Totals of a run by severity and by subject, and reasons of skipped cases.

They are computed from the cases of a JSON report, so that ``matrix`` supports reports of other
versions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
