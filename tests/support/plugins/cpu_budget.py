"""How much CPU time a test takes: over a quarter of a second it needs the marker ``slow``.

The time is that of the process, so that a loaded machine changes little.  A test over the budget is
listed at the end; one over ``LIMIT`` fails.  The gap between the two is for what comes on top by
chance: the import of a large package in the first test that needs it, a garbage collection of all
that thousands of tests have left, and a machine that is busy with other work.  Nothing is measured under coverage.
"""

from __future__ import annotations

import time
from sys import gettrace
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.terminal import TerminalReporter

BUDGET: Final = 0.25
"""Seconds of CPU time without the marker ``slow``."""

LIMIT: Final = 5.0
"""Seconds of CPU time at which such a test fails."""

EXEMPT: Final = ("slow", "process", "java", "chaos")
"""Markers of tests that may take longer."""

PROPERTY: Final = "cpu_seconds"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Measure a test without its fixtures."""
    start = time.process_time()
    yield
    seconds = time.process_time() - start
    if seconds < BUDGET or gettrace() or any(map(item.get_closest_marker, EXEMPT)):
        return
    item.user_properties.append((PROPERTY, seconds))
    if seconds > LIMIT:
        reason = f"takes {seconds:.1f} s of CPU time: make it faster, or add @pytest.mark.slow"
        pytest.fail(reason, pytrace=False)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """List the tests over the budget, slowest first."""
    over = [
        (value, report.nodeid)
        for report in terminalreporter.stats.get("passed", ())
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if over:
        terminalreporter.section(f"over {BUDGET} s of CPU time without the marker slow")
        for seconds, test in sorted(over, reverse=True):
            terminalreporter.line(f"{seconds:6.2f} s {test}")
