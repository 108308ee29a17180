"""The shape of the house: source roots, sizes, pairing of tests, and what may not be in any file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LONG_FILES: dict[str, str] = {}
"""Files of more than 800 lines, each with its reason."""

FORBIDDEN_WORDS = re.compile(
    r"(?<![\w.])/(?:work|farm|root|home)/(?!rocketmq/)[a-z]|/tmp/[a-z]|\bTODO\b|\bFIXME\b|NotImplementedError"
)

SUPPRESSION = re.compile(
    r"# (?:(?:type|pyright): ignore(?:\[[^]]*\])?|noqa(?:: [A-Z0-9]+(?:, [A-Z0-9]+)*)?|pragma: no \w+)(?P<rest>.*)"
)
"""What keeps a checker silent, and the rest of its line."""

REASON = re.compile(r"(?: - |  # (?!type:|pyright:|noqa|pragma))\S")


def tracked(*patterns: str) -> list[Path]:
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


def test_no_source_file_is_longer_than_its_budget() -> None:
    long = {
        str(path.relative_to(ROOT))
        for path in tracked("rocketwire/*.py", "namesrv/*.py", "broker/*.py", "tools/*.py")
        if len(path.read_text("utf-8").splitlines()) > 800
    }

    assert long == set(LONG_FILES)


@pytest.mark.slow
def test_no_tracked_file_holds_a_path_of_a_machine_or_an_open_end() -> None:
    here = Path(__file__)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in tracked("*.py", "*.md", "*.toml", "*.java", "*.xml", "Makefile", ".ci/run")
        if path != here
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if FORBIDDEN_WORDS.search(line)
    ]

    assert found == []


@pytest.mark.slow
def test_every_suppression_has_a_reason() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[-80:]}"
        for path in tracked("*.py")
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (found := SUPPRESSION.search(line)) and not REASON.search(found["rest"])
    ]

    assert bare == []
