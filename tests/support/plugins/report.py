"""The report of a run: each failure at once; at the end the CPU time of each folder, and commands that repeat the failures.

CPU time includes that of child processes: a JVM often takes more than the test that uses it.  Shared peers count for
the tests that use them; what they take to start counts for the first one.
"""

import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import PurePath
from typing import Final, cast

import pytest
from _pytest.terminal import TerminalReporter

TICK_SECONDS: Final = 1 / os.sysconf("SC_CLK_TCK")
PROPERTY: Final = "cpu_seconds"
"""The name of the user property that xdist hands to the process that reports."""

MAX_FOLDERS: Final = 40
MAX_LINES: Final = 12
"""Lines that are shown of a comparison; pytest itself cuts nothing if ``CI=true``."""
MAX_WIDTH: Final = 1500
"""Characters that are shown of one of these lines."""


def _processes() -> Iterator[tuple[int, int, float]]:
    """Yield pid, parent and seconds of CPU time, waited children included, of every process."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    words = file.read().rpartition(b") ")[2].split()
            except OSError:
                continue  # it has ended
            yield int(name), int(words[1]), TICK_SECONDS * sum(map(int, words[11:15]))


def children_seconds() -> float:
    """Return the seconds of CPU time of all descendants, ended or not."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    seconds_of: dict[int, float] = {}
    for pid, parent, seconds in _processes():
        children[parent].append(pid)
        seconds_of[pid] = seconds
    times = os.times()
    total, pids = times.children_user + times.children_system, list(children[os.getpid()])
    while pids:
        pid = pids.pop()
        total += seconds_of[pid]
        pids.extend(children[pid])
    return total


def _cpu_seconds(item: pytest.Item) -> float:
    has_children = any(map(item.get_closest_marker, ("java", "process")))
    return time.process_time() + (children_seconds() if has_children else 0.0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the setup and the call of a test; the teardown follows its last report and is left out."""
    start = _cpu_seconds(item)
    item.stash[_START] = start
    return (yield)


_START: Final = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the CPU time to the report of the last phase, which xdist hands on."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append((PROPERTY, _cpu_seconds(item) - item.stash[_START]))
    return report


class Reporter:
    """Prints for the process that reports; with xdist that is not one of those that run tests."""

    def __init__(self, terminal: TerminalReporter) -> None:
        self._terminal = terminal
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print a failure when it happens."""
        folder = str(PurePath(report.nodeid.partition("::")[0]).parent)
        for name, value in report.user_properties:
            if name == PROPERTY:
                self._seconds[folder] += cast("float", value)
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)
            self._terminal.write_line(report.longreprtext)

    def pytest_terminal_summary(self) -> None:
        """Print the CPU time of each folder, and the command that repeats what failed."""
        self._terminal.section(
            f"{sum(self._seconds.values()):.0f} s of CPU time in tests, by folder"
        )
        ranked = sorted(self._seconds.items(), key=lambda item: -item[1])
        for folder, seconds in ranked[:MAX_FOLDERS]:
            self._terminal.write_line(f"{seconds:8.1f} s  {folder}")
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
