"""Blocks of README and the guides are run, or have a reason why not; their links exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from publishing.pages.blocks import REASONS, SHELL, blocks
from publishing.pages.readers import PAGES

ROOT = Path(__file__).parents[2]
SOURCES = ("rocketwire", "namesrv", "broker", "tools", "bench", "publishing")
NOTES = {ROOT / "CONTRIBUTING.md", ROOT / "docs" / "performance.md"}
"""Pages with commands of the project itself, which need a clone."""

GENERATED = ("reference", "protocol")
"""Folders of ``docs`` with pages that the build of the site writes."""

LINKED = [
    *sorted(ROOT.glob("*.md")),
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.relative_to(ROOT).parts[1] not in GENERATED
    ),
]
"""Pages whose links are checked."""


LANGUAGES = {
    "sh",
    "console",
    "python",
    "py",
    "sql",
    "java",
    "text",
    "properties",
    "toml",
    "yaml",
    "json",
}
"""Of the blocks of pages; ``py`` and ``sql`` are what tests/spark runs."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_has_a_language(page: Path) -> None:
    languages = {block.language for block in blocks(page)}

    assert languages - LANGUAGES - {"then"} == set()


def test_programs_of_a_clone_are_installed() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    installed = {path.name for path in Path(sys.prefix, "bin").iterdir()}

    for match in re.finditer(r"\.venv/bin/([\w-]+)", text):
        assert match[1] in installed, match[1]


def test_files_of_typical_changes_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, _, changes = text.partition("## Typical changes")
    named = re.findall(r"`([\w.]+/[\w./]+)`", changes.partition("\n## ")[0])

    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == ["ns/103/4"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_that_is_not_run_has_a_reason_of_the_list(page: Path) -> None:
    reasons = {
        block.place: block.remarks["not run"]
        for block in blocks(page)
        if "not run" in block.remarks
    }

    assert {place: reason for place, reason in reasons.items() if reason not in REASONS} == {}


def test_every_reason_is_one_of_a_block() -> None:
    reasons = {block.remarks.get("not run", "") for page in PAGES for block in blocks(page)}

    assert reasons - {""} == set(REASONS)


def test_all_pages_with_commands_are_run() -> None:
    commands = {page for page in LINKED if any(block.language in SHELL for block in blocks(page))}

    assert commands - set(PAGES) - NOTES == set()


TRANSLATIONS = sorted((ROOT / "docs" / "zh").glob("*.md"))


@pytest.mark.parametrize("page", TRANSLATIONS, ids=lambda page: page.name)
def test_translation_has_the_commands_of_its_english_page(page: Path) -> None:
    link = re.search(r"译自英文页 \[[\w.-]+\]\((.+?)\) 的修订 [0-9a-f]{8}", page.read_text("utf-8"))
    assert link is not None
    english = (page.parent / link[1]).resolve()

    commands, originals = (
        [block.text for block in blocks(each) if block.language in SHELL]
        for each in (page, english)
    )

    assert commands == originals


def without_code(text: str) -> str:
    return re.sub(r"^(```+).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    result: set[str] = set()
    for heading in re.findall(
        r"^#{1,6} (.+)$", without_code(page.read_text("utf-8")), re.MULTILINE
    ):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        result.add(slug if slug not in result else f"{slug}-1")
    return result


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_to_a_page_and_to_one_of_its_headings(page: Path) -> None:
    text = re.sub(r"`[^`\n]+`", "", without_code(page.read_text("utf-8")))
    dead: list[str] = []
    for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        path = page.parent / target if target else page
        is_dead_anchor = bool(anchor) and path.suffix == ".md" and path.is_file()
        if not path.exists() or (is_dead_anchor and anchor not in anchors(path)):
            dead.append(f"{target}#{anchor}")

    assert dead == []


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
        if path.suffix == ".py" and path.is_file() and path.name != "schema.py"  # it writes pages
        for page in re.findall(r"[\w-]+\.md\b", path.read_text("utf-8"))
    }

    assert len(named) > 5
    assert [pair for pair in sorted(named) if pair[1] not in pages] == []
