"""What is made of failures: tests with real peers are tried once more, comparisons are cut, and a list is left for the end.

Rules of this file: nothing is hidden.  A test that passes at its second attempt is listed as ``RERUN``, with what the first one met;
a test that has no real peer is never tried again, for it has no excuse.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.terminal import TerminalReporter

SUMMARY: Final = "ROCKETWIRE_TEST_SUMMARY"
"""Environment: a file to which failed and repeated tests are appended, a line or two each."""

LINES: Final = 12
"""Of one comparison; pytest itself cuts nothing where CI=true, and thousands of lines have buried the next failure."""

WIDTH: Final = 300
"""Characters of one of these lines."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let tests with Java's servers be tried once more; not beside a debugger, which wants the first failure."""
    if config.getoption("usepdb"):
        return
    for item in items:
        if item.get_closest_marker("java"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def shortened(lines: list[str] | None) -> list[str] | None:
    """A comparison in a few lines, none of them endless."""
    if lines is None:
        return None
    cut = [line if len(line) <= WIDTH else f"{line[:WIDTH]}..." for line in lines[:LINES]]
    return cut if len(lines) <= LINES else [*cut, f"... {len(lines) - LINES} lines more"]


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare() -> Generator[None, list[list[str] | None], list[list[str] | None]]:
    """Cut how comparisons differ, for the log of a machine that nobody can ask again."""
    compared = yield
    return [shortened(each) for each in compared]


def failures(reporter: TerminalReporter) -> list[str]:
    """A line for each test that failed or was tried again, and one for what it met."""
    lines: list[str] = []
    for outcome in ("rerun", "error", "failed"):
        for report in reporter.stats.get(outcome, ()):
            met = str(report.longrepr).strip().splitlines()
            reason = next((line[1:] for line in met if line.startswith("E ")), "".join(met[-1:]))
            lines.append(f"{outcome.upper()} {report.nodeid} ({report.when})")
            lines.append(f"    {reason.strip()[:WIDTH]}")
    return lines


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Append the list to the file that the environment names."""
    path, lines = os.environ.get(SUMMARY), failures(terminalreporter)
    if path and lines:
        with open(path, "a", encoding="utf-8") as summary:
            summary.write("\n".join(lines) + "\n")
