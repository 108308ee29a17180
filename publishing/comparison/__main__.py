"""``python -m publishing.comparison``: write ``docs/comparison.md``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("projects.toml")
PAGE = ROOT / "docs" / "comparison.md"

_HEAD = """# Comparison

Written by `python -m publishing.comparison` from `projects.toml` beside it; do not edit.

What other projects are and do is what they say of themselves, read on {read}. Follow the links:
a project may have changed since. If a statement is wrong, please open an issue.
"""

_MEASURED = """
## Measured

Each command measures all its columns in one run, on one machine.
[Performance](performance.md) has the machines, the methods and the spread.
A dash was not measured.
"""


def page(data: dict[str, Any]) -> str:
    """The page, in Markdown."""
    projects: list[dict[str, str]] = data["project"]
    text = _HEAD.format(read=data["read"])
    for project in projects:
        text += f"\n## {project['name']}\n\n<{project['url']}>\n\n| | |\n|---|---|\n"
        text += "".join(f"| {row['title']} | {project[row['id']]} |\n" for row in data["row"])
    measured: list[dict[str, Any]] = data["measured"]
    columns = [each for each in projects if any(each["id"] in row["values"] for row in measured)]
    text += _MEASURED
    text += "\n| What | " + " | ".join(each["name"] for each in columns) + " | Command |\n"
    text += "|---|" + "--:|" * len(columns) + "---|\n"
    for row in measured:
        values = " | ".join(row["values"].get(each["id"], "-") for each in columns)
        text += f"| {row['title']} | {values} | `{row['command']}` |\n"
    return text


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(tomllib.loads(DATA.read_text("utf-8"))), "utf-8")
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
