"""Links of the pages, as the site needs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from publishing.site import sources

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "sources"
    sources.write(ROOT, folder)
    return folder


@pytest.mark.slow
def test_every_page_is_on_the_site_and_every_command_has_one(folder: Path) -> None:
    pages = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}

    assert {
        "index.md",
        "guide/client.md",
        "protocol/headers.md",
        "decisions/index.md",
        "reference/commands/rocketwire-pcap.md",
        "reference/commands/rocketwire-pcap/decode.md",
        "reference/commands/rocketwire-conformance/broker-diff.md",
    } <= pages
    assert not any(page.startswith(("changes.d", "site/")) for page in pages)


@pytest.mark.slow
def test_a_link_that_leaves_the_pages_becomes_the_path_in_the_sources(folder: Path) -> None:
    text = (folder / "guide" / "client.md").read_text("utf-8")

    assert "`rocketwire/client/instance/interfaces.py` in the sources" in text
    assert "](../../" not in text


@pytest.mark.slow
def test_a_folder_becomes_its_index(folder: Path) -> None:
    assert "](decisions/index.md)" in (folder / "design.md").read_text("utf-8")


@pytest.mark.slow
def test_the_sources_replace_those_of_the_run_before(tmp_path: Path) -> None:
    target = tmp_path / "sources"
    target.mkdir()
    (target / "old.md").write_text("# Old\n", "utf-8")

    sources.write(ROOT, target)

    assert not (target / "old.md").exists()
