"""What README and the guides show is run, so that it stays true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("rocketwire", "namesrv", "broker", "tools", "bench")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_examples_of_a_page_run_from_top_to_bottom(page: Path) -> None:
    code = "\n".join(blocks(page, "python"))

    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (run.returncode, run.stderr)


@pytest.mark.parametrize(
    "page",
    [*PAGES, *sorted((ROOT / "docs").glob("*.md")), ROOT / "docs/deploy/README.md"],
    ids=lambda page: page.name,
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_first_screen_of_the_readme_names_both_commands() -> None:
    first_screen = (ROOT / "README.md").read_text("utf-8").splitlines()[:25]

    assert any(line.startswith("make run") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)


def test_every_page_that_the_code_names_is_in_the_project() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "*.md", *(f"{root}/*.py" for root in SOURCES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    tracked = [ROOT / line for line in listing.stdout.splitlines()]
    pages = {path.name for path in tracked if path.suffix == ".md"}
    named = {
        (str(path.relative_to(ROOT)), page)
        for path in tracked
        if path.suffix == ".py" and path.is_file()
        for page in re.findall(r"[\w-]+\.md\b", path.read_text("utf-8"))
    }

    assert len(named) > 5
    assert [each for each in sorted(named) if each[1] not in pages] == []
