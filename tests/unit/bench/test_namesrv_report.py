"""The benchmark's table says what the samples say."""

from __future__ import annotations

import pytest

from bench.namesrv import report, scenarios
from bench.namesrv.candidates import ALL
from bench.namesrv.report import Key, Results
from bench.namesrv.targets import ITSELF, JAVA, SECTIONS, C, Row, Target

READ = Row("closed:50x1:1", "rate", "k/s", "reads", higher=True, pinned=True)
COST = Row("register:same:zip", "cpu", "ms", "registrations")


def results(row: Row, **figures: list[float]) -> Results:
    found = Results()
    for name, values in figures.items():
        found.samples[Key(row.scenario, name.replace("_", "-"))] = [
            {row.metric: value, "others": 0.1 if value == max(values) else 0.0} for value in values
        ]
    return found


def test_java_is_pinned_for_reads_and_the_better_one_for_anything_else() -> None:
    assert results(READ, java=[5, 7, 6], java_free=[9]).java(READ) == 6
    assert results(COST, java=[5, 7, 6], java_free=[9]).java(COST) == 6
    assert results(COST, java=[5, 7, 6], java_free=[4]).java(COST) == 4
    assert results(COST, c=[1]).java(COST) is None


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target(2.2), 3.0),
        (Target(0.33, C), 0.3),
        (Target(1, JAVA, portable=True), 1.5),
        (Target(1, ITSELF), 30.0),
    ],
)
def test_a_target_is_compared_with_the_ratio_of_the_medians(
    target: Target, expected: float
) -> None:
    found = results(READ, c=[100], java=[10, 11, 9], portable=[15], reactor=[30, 31, 1])

    assert report.measured(found, READ, target) == pytest.approx(expected)


@pytest.mark.process
def test_a_row_shows_ratios_verdicts_and_noise() -> None:
    found = results(READ, c=[100_000], java=[10_000, 10_002], portable=[30_000])

    text = "\n".join(report.markdown(found, ["c", "java", "portable"], []))

    row = next(line for line in text.splitlines() if line.startswith("| 50 x 1, 1 broker (k/s)"))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [
        *("100", "10.0", "30.0", "3.00", "3.00", "0.30"),
        ">= 2.2 x Java<br>>= 0.33 x C<br>portable >= 1 x Java",
        "3.00 held<br>0.30 **MISSED**<br>3.00 held",
        *("0%", "3/4"),
    ]
    assert "- 3 of 4 samples noisy" in text
    assert "**2 of 3 targets held.**" in text
    assert "| Reads: 50 x 1, 1 broker | >= 0.33 x C | 0.30 | **MISSED** |" in text


def test_what_a_target_needs_is_measured_with_the_candidates_that_it_names() -> None:
    for row in (row for rows in SECTIONS.values() for row in rows):
        who = [name for name in ALL if scenarios.concerns(row.scenario, name, "reactor")]
        for target in row.targets:
            assert "reactor" in who
            assert target.of != C or "c" in who
            assert not target.portable or "portable" in who
            if target.of == JAVA:
                assert "java" in who if row.pinned else "java-free" in who
