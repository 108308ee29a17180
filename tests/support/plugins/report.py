"""The report of a run: each failure at once, and at the end the command that repeats them."""

from collections.abc import Generator
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

MAX_LINES: Final = 12
"""Lines that are shown of a comparison; pytest itself cuts nothing if ``CI=true``."""
MAX_WIDTH: Final = 1500
"""Characters that are shown of one of these lines."""


class Reporter:
    """Prints for the process that reports; with xdist that is not one of those that run tests."""

    def __init__(self, terminal: TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)
            self._terminal.write_line(report.longreprtext)

    def pytest_terminal_summary(self) -> None:
        stats = self._terminal.stats
        failed = [r.nodeid for key in ("failed", "error") for r in stats.get(key, ())]
        if failed:
            self._terminal.section("repeat what failed")
            tests = " ".join(f"'{test}'" for test in dict.fromkeys(failed))
            self._terminal.write_line(f".venv/bin/python -m pytest {tests}")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print in the process with the terminal."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Reporter(terminal), "rocketwire-reporter")


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare() -> Generator[None, list[list[str] | None], list[list[str] | None]]:
    """Shorten how comparisons differ: thousands of lines have buried the next failure."""
    compared = yield
    return [None if lines is None else _shorten(lines) for lines in compared]


def _shorten(lines: list[str]) -> list[str]:
    shown = [line if len(line) <= MAX_WIDTH else f"{line[:MAX_WIDTH]}..." for line in lines]
    if len(shown) <= MAX_LINES:
        return shown
    return [*shown[:MAX_LINES], f"... {len(shown) - MAX_LINES} lines more"]
