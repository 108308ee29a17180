"""The shape of the house: source roots, sizes of rooms, and what may not be in any file."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.architecture import house

ROOT = Path(__file__).parents[2]

FORBIDDEN_WORDS = re.compile(
    r"(?<![\w.])/(?:work|farm|root|home)/(?!rocketmq/)[a-z]|/tmp/[a-z]|\bTODO\b|\bFIXME\b|NotImplementedError"
)

SUPPRESSION = re.compile(
    r"# (?:(?:type|pyright): ignore(?:\[[^]]*\])?|noqa(?:: [A-Z0-9]+(?:, [A-Z0-9]+)*)?|pragma: no \w+)(?P<rest>.*)"
)
"""A comment that silences a checker, and the rest of its line."""

REASON = re.compile(r"(?: - |  # (?!type:|pyright:|noqa|pragma))\S")


def list_files(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


@pytest.fixture(autouse=True)
def _needs_a_checkout() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the house is looked at in a checkout")


def test_the_source_roots_are_no_packages_themselves() -> None:
    assert not (ROOT / "namesrv" / "__init__.py").exists()
    assert not (ROOT / "tools" / "__init__.py").exists()


def count_lines(room: dict[str, Any]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in house.paths_of(room))


@pytest.mark.parametrize("room", house.CONFIG["room"], ids=lambda room: room["name"])
def test_a_room_stays_within_its_lines(room: dict[str, Any]) -> None:
    lines = count_lines(room)

    assert lines <= room.get("ratchet", room.get("lines", lines))


@pytest.mark.parametrize("name", house.CONFIG["sums"])
def test_product_and_tests_stay_within_their_lines(name: str) -> None:
    lines = sum(count_lines(room) for room in house.CONFIG["room"] if room.get("sum") == name)

    assert lines <= house.CONFIG.get("ratchet", house.CONFIG["sums"])[name]


def test_no_folder_and_no_file_is_too_large() -> None:
    too_large = [
        line
        for room in house.CONFIG["room"]
        for line in house.size_excesses(room, house.paths_of(room))
    ]

    assert too_large == []


def test_no_tracked_file_holds_a_path_of_a_machine_or_an_open_end() -> None:
    here = Path(__file__)
    match = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in list_files("*.py", "*.md", "*.toml", "*.java", "*.xml", "Makefile", ".ci/run")
        if path != here
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if FORBIDDEN_WORDS.search(line)
    ]

    assert match == []


def test_every_suppression_has_a_reason() -> None:
    unexplained = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[-80:]}"
        for path in list_files("*.py")
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (match := SUPPRESSION.search(line)) and not REASON.search(match["rest"])
    ]

    assert unexplained == []
