"""The source folder of the site: pages of ``docs/`` with links that hold there, and built pages."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from publishing.site import interfaces, programs
from rocketwire_tools.codec.schema.markdown import write_pages
from rocketwire_tools.codec.schema.schema import schema

if TYPE_CHECKING:
    from publishing.site.programs import Help

UNPUBLISHED = ("changes.d", "site")
"""Folders of ``docs/`` that are no pages."""

_CONTENTS = ("tutorials", "how-to", "reference", "explanation")
"""Pages that list others."""

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def write(root: Path, folder: Path) -> None:
    """Write the sources of the site.

    Args:
        root: the checkout.
        folder: replaced.
    """
    shutil.rmtree(folder, ignore_errors=True)
    docs = root / "docs"
    shutil.copytree(docs, folder, ignore=shutil.ignore_patterns(*UNPUBLISHED))
    shutil.copytree(docs / "site", folder, dirs_exist_ok=True)
    write_pages(str(folder / "protocol"), schema())
    for page in sorted(folder.rglob("*.md")):
        original = docs / page.relative_to(folder)
        if original.exists():
            page.write_text(_with_site_links(page.read_text("utf-8"), original, root), "utf-8")
    _list_other_guides(folder)
    _write_decisions(folder / "decisions")
    _write_helps(root, folder / "reference" / "commands")
    for document, text in interfaces.pages():
        path = folder / f"{document}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _with_site_links(text: str, page: Path, root: Path) -> str:
    """The text of a page. A link to what is no page becomes the path of the file or folder in the
    project; the folder of decisions becomes its index."""
    docs = root / "docs"

    def replaced(match: re.Match[str]) -> str:
        picture, label, target, anchor = match.groups()
        path = Path(os.path.normpath(page.parent / target))
        is_published = path.is_relative_to(docs) and not any(
            path.is_relative_to(docs / folder) for folder in UNPUBLISHED
        )
        if path == root / "README.md":
            return f"[{label}]({os.path.relpath(docs / 'index.md', page.parent)})"
        if path == docs / "decisions":
            return f"[{label}]({os.path.relpath(path / 'index.md', page.parent)})"
        if not is_published or path.is_dir():
            return f"{label} (`{path.relative_to(root)}` in the sources)"
        return f"{picture}[{label}]({target}{anchor or ''})"

    return _LINK.sub(replaced, text)


def _list_other_guides(folder: Path) -> None:
    """Add the guides that the page of guides does not name yet."""
    page = folder / "how-to.md"
    tables = "\n".join((folder / f"{name}.md").read_text("utf-8") for name in _CONTENTS)
    named = set(re.findall(r"^guide/[\w-]+$", tables, re.MULTILINE))
    guides = [f"guide/{path.stem}" for path in sorted((folder / "guide").glob("*.md"))]
    others = "\n".join(guide for guide in guides if guide not in named)
    if others:
        text = page.read_text("utf-8")
        text += f"\n```{{toctree}}\n:maxdepth: 1\n:caption: More\n\n{others}\n```\n"
        page.write_text(text, "utf-8")


def _write_decisions(folder: Path) -> None:
    entries = "\n".join(page.stem for page in sorted(folder.glob("0*.md")))
    (folder / "index.md").write_text(
        "# Decisions\n\nEach page explains one choice: the decision, its reason and its cost.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n",
        "utf-8",
    )


def _write_helps(root: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    programs_in_order: list[str] = []
    for helps in programs.helps(root):
        program, verbs = helps[0], helps[1:]
        programs_in_order.append(program.name)
        text = _help_page(program)
        if verbs:
            (folder / program.name).mkdir()
            text += "\n| Command | Meaning |\n|---|---|\n"
            text += "".join(
                f"| [{verb.name}]({program.name}/{_file(verb)}.md) | {_cell(verb.summary)} |\n"
                for verb in verbs
            )
        (folder / f"{program.name}.md").write_text(text, "utf-8")
        for verb in verbs:
            page = folder / program.name / f"{_file(verb)}.md"
            above = "---\norphan: true\n---\n\n"
            below = f"\nAll commands: [{program.name}](../{program.name}.md)\n"
            page.write_text(above + _help_page(verb) + below, "utf-8")
    entries = "\n".join(programs_in_order)
    (folder / "index.md").write_text(
        "# Commands\n\nThe page of a command shows its `--help`.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n",
        "utf-8",
    )


def _file(verb: Help) -> str:
    return "-".join(verb.words[1:])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _help_page(each: Help) -> str:
    summary = each.summary[:1].upper() + each.summary[1:]
    lead = f"{_cell(summary)}.\n\n" if summary else ""
    return f"# {each.name}\n\n{lead}```console\n$ {each.name} --help\n{each.text.rstrip()}\n```\n"
