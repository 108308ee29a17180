"""How much CPU time each file of tests takes, with the processes that it starts: ``pytest --cpu=20``.

The time of a JVM is often more than that of the test that uses it, and wall time says little on a
machine that does other work too.  The time of a child counts where it is used, so a peer that
several tests share counts for each of them by its work, and its start for the first one.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from _pytest.terminal import TerminalReporter

TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


ATTRIBUTE: Final = "cpu_spent"
"""Of a report, which xdist hands on: seconds in this process and in its children."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--cpu",
        type=int,
        default=0,
        metavar="N",
        help="list the N files and tests that take most CPU time, with that of child processes",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Measure only if it is asked for."""
    if lines := cast("int", config.getoption("--cpu")):
        config.pluginmanager.register(_Meter(lines), "cpu-meter")


def _processes() -> Iterator[tuple[int, int, float]]:
    """Pid, parent and seconds of CPU time, with those of waited children, of every process."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    words = file.read().rpartition(b") ")[2].split()
            except OSError:
                continue  # it has ended
            yield int(name), int(words[1]), TICK * sum(map(int, words[11:15]))


def children_seconds() -> float:
    """Seconds of CPU time of all descendants, ended or not."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    spent: dict[int, float] = {}
    for pid, parent, seconds in _processes():
        children[parent].append(pid)
        spent[pid] = seconds
    ended = os.times()
    total, open_ = ended.children_user + ended.children_system, list(children[os.getpid()])
    while open_:
        pid = open_.pop()
        total += spent[pid]
        open_.extend(children[pid])
    return total


class _Meter:
    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._seconds: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        setattr(report, ATTRIBUTE, self._spent)
        return report

    def _measured(self, item: pytest.Item) -> Generator[None]:
        has_children = any(map(item.get_closest_marker, ("java", "process")))
        others = children_seconds() if has_children else 0.0
        own = time.process_time()
        try:
            yield
        finally:
            self._spent = [time.process_time() - own, 0.0]
            if has_children:
                self._spent[1] = children_seconds() - others

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        """Measure the fixtures."""
        return (yield from self._measured(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Measure the test."""
        return (yield from self._measured(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        """Measure the end of the fixtures."""
        return (yield from self._measured(item))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a process that runs tests has measured."""
        spent: list[float] = getattr(report, ATTRIBUTE, [0.0, 0.0])
        test = report.nodeid.partition("[")[0]
        for name in (report.nodeid.partition("::")[0], f"{test} ({report.when})"):
            for place, seconds in enumerate(spent):
                self._seconds[name][place] += seconds

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """List files, then tests, the most time first."""
        files = {name: each for name, each in self._seconds.items() if "::" not in name}
        tests = {name: each for name, each in self._seconds.items() if "::" in name}
        own, others = (sum(each[place] for each in files.values()) for place in (0, 1))
        terminalreporter.section(f"seconds of CPU time: {own:.1f} here, {others:.1f} in children")
        for table in (files, tests):
            ranked = sorted(table.items(), key=lambda each: -sum(each[1]))[: self._lines]
            for name, (here, there) in ranked:
                terminalreporter.line(f"{here:8.2f} {there:8.2f}  {name}")
