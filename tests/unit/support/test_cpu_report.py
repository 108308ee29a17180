"""``pytest --cpu`` lists what takes CPU time, in the test itself and in its child processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.plugins import cpu_report

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """CPU time that passes when a test spends it."""

    def __init__(self) -> None:
        self.now = 0.0

    def process_time(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


PROGRAM = """
import pytest
from tests.support.plugins.cpu_report import children_seconds, time

@pytest.fixture
def server():
    children_seconds.__self__.spend(5)
    yield
    time.spend(1)

@pytest.mark.parametrize("seconds", [2, 3])
def test_itself(seconds):
    time.spend(seconds)

@pytest.mark.process
def test_with_a_child(server):
    children_seconds.__self__.spend(6)
"""


@pytest.fixture
def run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], pytest.RunResult]:
    """Run the program with clocks of its own."""
    pytester.makepyfile(test_program=PROGRAM)
    monkeypatch.setattr(cpu_report, "time", Clock())
    monkeypatch.setattr(cpu_report, "children_seconds", Clock().process_time)
    return lambda option: pytester.runpytest_inprocess(
        *("-p", "no:randomly", "-o", "markers=process", option), plugins=[cpu_report]
    )


def test_files_and_tests_are_listed_the_most_cpu_time_first(
    run: Callable[[str], pytest.RunResult],
) -> None:
    result = run("--cpu=3")

    heading = next(place for place, line in enumerate(result.outlines) if "of CPU time" in line)
    assert "6.0 here, 11.0 in children" in result.outlines[heading]
    assert [line.split() for line in result.outlines[heading + 1 : heading + 5]] == [
        ["6.00", "11.00", "test_program.py"],
        ["0.00", "6.00", "test_program.py::test_with_a_child", "(call)"],
        ["5.00", "0.00", "test_program.py::test_itself", "(call)"],
        ["0.00", "5.00", "test_program.py::test_with_a_child", "(setup)"],
    ]


def test_nothing_is_listed_unless_it_is_asked_for(run: Callable[[str], pytest.RunResult]) -> None:
    assert "of CPU time" not in run("--cpu=0").stdout.str()
