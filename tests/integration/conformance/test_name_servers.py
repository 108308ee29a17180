"""The suite against Java's name server and ours, and the two compared."""

import re
from pathlib import Path

import pytest

from rocketwire_tools.conformance.compare.diff import KnownDifference, judge, read_differences
from tests.integration.conformance.runs import NAMES, PROFILES, Played, java_played
from tests.peers.peers import CURRENT

SUPPORT = Path(__file__).parents[3] / "docs" / "differences.md"


def read_known() -> list[KnownDifference]:
    return read_differences(["rocketwire"])


@pytest.mark.process
def test_our_name_server_meets_every_requirement(our_run: Played) -> None:
    different = {entry.case for entry in read_known()}

    assert our_run.bad(but_for=different) == []


@pytest.mark.java
def test_javas_name_server_meets_every_requirement_of_its_profile(java_run: Played) -> None:
    assert java_run.bad() == []


@pytest.mark.java
@pytest.mark.full
@pytest.mark.parametrize("version", [item for item in PROFILES if item != CURRENT])
def test_an_older_release_meets_every_requirement_of_its_profile(version: str) -> None:
    assert java_played(version).bad() == []


@pytest.mark.java
def test_ours_differs_from_javas_only_as_documented(java_run: Played, our_run: Played) -> None:
    result = judge(java_run.verdicts, our_run.verdicts, NAMES, read_known())

    assert [str(item) for item in result.unexplained] == []
    assert [entry.reason for entry in result.unused] == []


def test_every_known_difference_is_in_the_list_of_differences() -> None:
    documented = set(re.findall(r"^\| ([^|]+) \|", SUPPORT.read_text("utf-8"), re.MULTILINE))

    assert {entry.reason for entry in read_known()} - documented == set()
