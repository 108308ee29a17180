"""``make check`` runs every file of tests in one of several processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support import shares

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_file_of_tests_is_in_one_share(count: int) -> None:
    files = shares.test_files(shares.ROOT)
    parts = shares.split(files, {files[0]: 40.0, files[-1]: 2.0}, count)

    assert len(parts) == count
    assert sorted(file for part in parts for file in part) == files


def test_no_file_of_tests_has_a_name_that_shares_do_not_know() -> None:
    other = (shares.ROOT / "tests").rglob("*_test.py")  # pytest would collect it

    assert [path for path in other if not path.name.startswith("test_")] == []


def test_shares_take_equal_time_and_a_folder_belongs_to_one() -> None:
    seconds = {"a/1": 3.0, "a/2": 3.0, "b/1": 5.0, "c/1": 2.0, "c/2": 1.0}

    assert shares.split(seconds, seconds, 2) == [["a/1", "a/2"], ["b/1", "c/1", "c/2"]]


def test_a_new_file_counts_like_the_average_one() -> None:
    known = {"a/1": 1.0, "b/1": 3.0}

    assert shares.split([*known, "c/new"], known, 2) == [["b/1"], ["c/new", "a/1"]]


def test_without_figures_shares_have_as_many_files() -> None:
    assert shares.split(["a/1", "b/1", "b/2", "c/1"], {}, 2) == [["b/1", "b/2"], ["a/1", "c/1"]]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [([0, 0], 0), ([0, 1], 1), ([2, 0], 2), ([5, 0], 0), ([5, 1], 1), ([5, 5], 5), ([], 5)],
)
def test_a_run_fails_if_a_share_fails_and_has_no_tests_if_none_has(
    statuses: list[int], expected: int
) -> None:
    assert shares.status(statuses) == expected


def test_a_share_that_a_signal_ended_has_failed() -> None:
    assert shares.status([0, -9]) == -9


def test_tests_that_failed_before_stay_listed_until_a_share_passes_them() -> None:
    results = [["old", "new in the first"], ["old", "passed in the first", "new in the second"]]

    assert shares.joined(["old", "passed in the first"], results) == [
        "new in the first",
        "new in the second",
        "old",
    ]


@pytest.mark.parametrize(
    ("option", "alone"),
    [
        ("--lf", True),
        ("--pdb", True),
        ("tests/unit", True),
        ("tests/unit/support/test_shares.py::test_nothing", True),
        ("-q", False),
        ("tests or units", False),
    ],
)
def test_options_that_choose_files_or_need_the_terminal_run_in_one_process(
    option: str, alone: bool
) -> None:
    assert shares.is_alone(["-q", option]) is alone


PASSES = "def test_passes(): pass\n"
FAILS = "def test_passes(): pass\ndef test_fails(): assert 3 == 4\n"


@pytest.mark.process
def test_shares_print_their_results_and_leave_times_and_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("a", PASSES), ("b", FAILS)):
        file = tmp_path / "tests" / name / f"test_{name}.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.setenv("PYTHONPATH", str(shares.ROOT))
    monkeypatch.setattr(shares, "ROOT", tmp_path)
    monkeypatch.setattr(shares, "CACHE", tmp_path / ".cache" / "shares")

    assert shares.run(2, ["-q", "-p", "no:randomly"]) == 1

    printed = capfd.readouterr().out
    assert "1 passed in" in printed
    assert "1 failed, 1 passed in" in printed
    assert "assert 3 == 4" in printed
    assert set(json.loads((shares.CACHE / "seconds.json").read_text())) == {
        "tests/a/test_a.py",
        "tests/b/test_b.py",
    }
    failed = json.loads((tmp_path / ".pytest_cache" / shares.LAST_FAILED).read_text())
    assert list(failed) == ["tests/b/test_b.py::test_fails"]
