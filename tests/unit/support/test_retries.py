"""What is tried again and what is not, and how much of a failure is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.plugins import retries

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


PROGRAM = """
import pytest

attempts, started = [], []

@pytest.fixture(scope="module")
def peer():
    started.append(1)
    if len(started) == 1:
        raise OSError("the peer does not start")
    return len(started)

@pytest.mark.java
def test_that_fails_at_first():
    attempts.append(1)
    assert len(attempts) == 2

@pytest.mark.java
def test_whose_peer_starts_the_second_time(peer):
    assert peer == 2

@pytest.mark.java
def test_that_shares_the_peer(peer):
    assert peer == 2

@pytest.mark.java
def test_that_always_fails():
    assert "one" == "other"

def test_without_a_peer():
    attempts.clear()
    assert attempts

def test_of_long_lists():
    assert list(range(1000)) == list(range(1, 1001))
"""


def test_only_tests_with_real_peers_are_tried_again_and_none_of_it_is_hidden(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    summary = tmp_path / "summary"
    monkeypatch.setenv(retries.SUMMARY, str(summary))
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile(test_program=PROGRAM)

    result = pytester.runpytest_inprocess(
        *("-raR", "-p", "no:randomly", "-o", "markers=java"), plugins=[retries]
    )

    counts = {"passed": 3, "failed": 3, "rerun": 3}
    assert {key: result.parseoutcomes()[key] for key in counts} == counts
    shown = result.stdout.str()
    for test in (
        "RERUN test_program.py::test_that_fails_at_first",
        "RERUN test_program.py::test_whose_peer_starts_the_second_time",
        "FAILED test_program.py::test_that_always_fails",
        "FAILED test_program.py::test_without_a_peer",
    ):
        assert test in shown
    assert "RERUN test_program.py::test_without_a_peer" not in shown
    assert "At index 0 diff: 0 != 1" in shown
    assert "lines more" in shown
    assert len(result.outlines) < 150
    listed = summary.read_text("utf-8")
    assert "RERUN test_program.py::test_that_fails_at_first (call)\n    assert 1 == 2\n" in listed
    assert "(setup)\n    OSError: the peer does not start" in listed
    assert "FAILED test_program.py::test_without_a_peer (call)" in listed


def test_a_short_comparison_is_left_alone() -> None:
    assert retries.shortened(["one", "other"]) == ["one", "other"]
    assert retries.shortened(None) is None
    assert retries.shortened(["x" * 1000]) == ["x" * retries.WIDTH + "..."]
