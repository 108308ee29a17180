"""Sums of a run: what came of its cases, in all, by severity and by subject, and why cases were skipped.

They are taken from the cases of a JSON report, so that ``matrix`` has them of reports that other versions wrote.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

KINDS: Final = ("pass", "fail", "error", "skip")
WORDS: Final = {"pass": "passed", "fail": "failed", "error": "not carried out", "skip": "skipped"}


def by_severity(cases: Iterable[dict[str, Any]]) -> dict[str, Counter[str]]:
    """How many cases of each severity came to what."""
    return _by(cases, lambda case: case["severity"])


def by_subject(cases: Iterable[dict[str, Any]]) -> dict[str, Counter[str]]:
    """How many cases of each subject (``ns/103``) came to what."""
    return _by(cases, lambda case: case["id"].rpartition("/")[0])


def _by(
    cases: Iterable[dict[str, Any]], key: Callable[[dict[str, Any]], str]
) -> dict[str, Counter[str]]:
    sums: dict[str, Counter[str]] = {}
    for case in cases:
        sums.setdefault(key(case), Counter())[case["verdict"]] += 1
    return sums


def skip_reasons(cases: Iterable[dict[str, Any]]) -> Counter[str]:
    """How many cases were skipped for which reason."""
    return Counter(case["reason"] for case in cases if case["verdict"] == "skip")


def carried_out(tally: Counter[str]) -> str:
    """``12/13`` passed of those that were carried out, with what else there is."""
    played = tally["pass"] + tally["fail"]
    text = f"{tally['pass']}/{played}" if played else "-"
    return text + (f" and {tally['error']} not carried out" if tally["error"] else "")


def sentence(tally: dict[str, int]) -> str:
    """``370 passed, 2 failed``."""
    return ", ".join(
        f"{tally[verdict]} {WORDS[verdict]}" for verdict in KINDS if tally.get(verdict)
    )


def counting(cases: Iterable[dict[str, Any]], verdict: str, *, strict: bool) -> int:
    """How many cases that make a run fail came to ``fail`` or ``error``."""
    severities: Sequence[str] = ("MUST", "SHOULD") if strict else ("MUST",)
    return sum(case["verdict"] == verdict and case["severity"] in severities for case in cases)
