"""A page is read from its top to its end, and what it shows is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from publishing.pages import shown
from publishing.pages.blocks import SHELL, Block, blocks, commands, is_program
from publishing.pages.folder import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from publishing.pages.shell import Ended, Shell

# Where the Python of a page goes that has no file name of its own.
PROGRAM = "page.py"


@dataclass(frozen=True)
class Problem:
    block: Block  #: it
    text: str  #: what is wrong

    def __str__(self) -> str:
        return f"{self.block.place}: {self.text}"


def read(page: Path, shell: Shell, folder: Path, *, long: bool = True) -> list[Problem]:
    """Do what a page shows.

    Args:
        page: its file.
        shell: runs its commands.
        folder: of the shell.
        long: whether blocks with the remark ``long`` run.
    """
    return list(_Reading(shell, folder, long=long).problems(blocks(page)))


class _Reading:
    def __init__(self, shell: Shell, folder: Path, *, long: bool) -> None:
        self._shell = shell
        self._folder = folder
        self._long = long
        self._program = ""
        self._before: str | None = None

    def problems(self, page: list[Block]) -> Iterator[Problem]:
        python = [block for block in page if is_program(block)]
        for block in page:
            if "not run" in block.remarks or ("long" in block.remarks and not self._long):
                self._before = None
            elif "file" in block.remarks:
                self._write(block)
            elif block in python:
                self._program += prepare(block.text)
                if block is python[-1]:
                    yield from self._run_program(block)
            elif block.language in SHELL:
                yield from self._run(block)
            elif "printed" in block.remarks and not self._printed(block):
                yield Problem(block, f"the commands print:\n{_end(self._before or '')}")

    def _printed(self, block: Block) -> bool:
        """Whether the commands before a block print it; also if they were not run."""
        if self._before is None:
            return True
        return shown.contain(self._before.splitlines(), block.text.splitlines())

    def _write(self, block: Block) -> None:
        path = self._folder / prepare(block.remarks["file"]).replace("~/", "")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(prepare(block.text))

    def _run_program(self, block: Block) -> Iterator[Problem]:
        (self._folder / PROGRAM).write_text(self._program, "utf-8")
        ended = self._shell.run(f"python -W error {PROGRAM}")
        self._before = ended.output
        if ended.status != 0:
            yield Problem(block, f"the Python of the page fails:\n{_end(ended.output)}")

    def _run(self, block: Block) -> Iterator[Problem]:
        if "background" in block.remarks:
            ready = block.remarks["background"]
            yield from self._judge(block, self._shell.start(prepare(block.text), ready))
            return
        for command in commands(block):
            ended = self._shell.run(prepare(command.text))
            problem = self._judge(block, ended)
            yield from problem
            if problem:
                return  # what follows builds on it
            if command.shown and not shown.agree(command.shown, ended.output.splitlines()):
                yield Problem(block, f"{command.text}\nprints:\n{_end(ended.output)}")

    def _judge(self, block: Block, ended: Ended) -> list[Problem]:
        self._before = ended.output
        status = int(block.remarks.get("status", "0"))
        if ended.status == status:
            return []
        command = ended.failed or block.text
        return [Problem(block, f"status {ended.status} of {command}\n{_end(ended.output)}")]


def _end(output: str) -> str:
    return "".join(f"{line[:300]}\n" for line in output.splitlines()[-20:])
