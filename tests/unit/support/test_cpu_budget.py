"""A test that takes long says so with a marker."""

from __future__ import annotations

import pytest

from tests.support.plugins import cpu_budget


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
from tests.support.plugins.cpu_budget import time

def test_within_the_budget():
    time.spend(0.24)

def test_over_the_budget():
    time.spend(0.26)

def test_further_over_the_budget():
    time.spend(0.5)

def test_over_the_limit():
    time.spend(5.1)

@pytest.mark.slow
def test_that_is_marked():
    time.spend(2)

@pytest.fixture
def costly():
    time.spend(2)

def test_whose_fixture_is_costly(costly):
    pass
"""


def outcome(pytester: pytest.Pytester, tracer: object) -> pytest.RunResult:
    """Run the program with a clock of its own, which this test itself must not be measured with."""
    pytester.makepyfile(test_program=PROGRAM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu_budget, "time", Clock())
        patch.setattr(cpu_budget, "gettrace", lambda: tracer)
        return pytester.runpytest_inprocess(
            *("-p", "no:randomly", "-o", "markers=slow"), plugins=[cpu_budget]
        )


def test_a_test_over_the_budget_is_listed_and_over_the_limit_it_fails(
    pytester: pytest.Pytester,
) -> None:
    result = outcome(pytester, None)

    result.assert_outcomes(passed=5, failed=1)
    assert "takes 5.1 s of CPU time: make it faster, or add" in result.stdout.str()
    assert [line for line in result.outlines if " s test_program.py::" in line] == [
        "  0.50 s test_program.py::test_further_over_the_budget",
        "  0.26 s test_program.py::test_over_the_budget",
    ]


def test_nothing_is_measured_under_coverage(pytester: pytest.Pytester) -> None:
    outcome(pytester, print).assert_outcomes(passed=6)
