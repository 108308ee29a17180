"""Every command of the README, the tutorials and the quick starts works as it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs.conftest import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.docs.conftest import Reader

pytestmark = [pytest.mark.process, pytest.mark.slow]

PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorials" / "first-message.md",
    ROOT / "docs" / "tutorials" / "first-capture.md",
    ROOT / "docs" / "tutorials" / "first-test.md",
    ROOT / "docs" / "zh" / "quick-start.md",
]
ELSEWHERE = re.compile(r"^(make|pip install) |^rocketwire dev$")
"""What has been done when the test begins: the installation, and the start of the cluster."""


def commands(page: Path) -> list[str]:
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if not ELSEWHERE.match(line)]


def write_programs(page: Path, reader: Reader) -> None:
    """Save the program of a page under the name that the page gives it."""
    named = re.search(r"`(\w+\.py)`", page.read_text("utf-8"))
    name = named[1] if named else "program.py"
    programs = blocks(page, "python")
    (reader.folder / name).write_text(reader.text("\n".join(programs)), "utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_work(page: Path, reader: Reader) -> None:
    write_programs(page, reader)
    failed: list[str] = []

    for line in commands(page):
        run = reader.type(line)
        if run.returncode != 0:
            failed.append(
                f"{line}: status {run.returncode}\n{run.stdout[-500:]}{run.stderr[-500:]}"
            )

    assert failed == []


def test_the_program_of_the_chinese_quick_start_reads_its_own_message(reader: Reader) -> None:
    page = ROOT / "docs" / "zh" / "quick-start.md"
    reader.type("seq 3 | rocketwire-admin produce -n 127.0.0.1:9876 -t orders")
    program = reader.text("\n".join(blocks(page, "python"))).replace('"readers"', '"others"')
    (reader.folder / "program.py").write_text(program, "utf-8")

    run = reader.type("python program.py")

    assert (0, "") == (run.returncode, run.stderr)
    assert run.stdout.startswith("SEND_OK ")


def test_the_three_programs_of_the_readme_send(reader: Reader) -> None:
    program = "\n".join(
        [
            *blocks(ROOT / "README.md", "python"),
            "import asyncio, trio",
            f"address = {reader.address!r}",
            "print(asyncio.run(send(address)))",
            "print(trio.run(send_ordered, address))",
            "print(send_and_read(address))",
        ]
    )
    (reader.folder / "program.py").write_text(program, "utf-8")

    run = reader.type("python -W error program.py")

    assert (0, "") == (run.returncode, run.stderr)
    assert run.stdout.splitlines()[-1] in {"b'17'", "b'18'", "b'19'"}


def test_every_page_for_beginners_has_commands() -> None:
    assert all(len(commands(page)) >= 1 for page in PAGES)
