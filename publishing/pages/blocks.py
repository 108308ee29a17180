"""The code blocks of a page, and the remarks on them that only this program reads.

A remark is an HTML comment on the line before a block, so readers of the page do not see it:

* ``<!-- not run: REASON -->``: the block is not run; ``REASONS`` lists the reasons.
* ``<!-- background: TEXT -->``: the commands keep running; the next block follows once they print
  TEXT.  Ctrl-C ends them when another block starts in the background, and at the end of the page.
* ``<!-- status: N -->``: the exit status of the block is N.
* ``<!-- file: NAME -->``: the block is the content of a file; a second block is appended to it.
* ``<!-- printed -->``: the block is part of what the commands before it print.
* ``<!-- long -->``: the block takes more than ten seconds; only ``make test-all`` runs it.

Two remarks stand alone.  ``<!-- then: CODE -->`` is Python that runs after the blocks above it, for
example a call of the functions that they define.  ``<!-- a cluster runs -->`` after the title of a
page assumes a cluster at the default ports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Languages of blocks with commands: a script, and commands after ``$`` with their output.
SHELL = ("sh", "console")

# Why a block may stay unrun.
REASONS = {
    "checkout": "needs a clone of the project, or changes it",
    "docker": "needs a container engine",
    "hosts": "names hosts of the reader's network",
    "java": "needs the programs of a Java installation of RocketMQ",
    "kubernetes": "needs a Kubernetes cluster",
    "root": "changes the machine: users, services, captures of its traffic",
    "spark": "needs a Spark cluster; tests/spark runs what the job does",
    "wireshark": "needs Wireshark",
}

REMARKS = ("not run", "background", "status", "file", "printed", "long")

CLUSTER = "<!-- a cluster runs -->"

_FENCE = re.compile(r"^( *)```(\S*)$")
_REMARK = re.compile(r"^ *<!-- ([a-z ]+?)(?:: (.*?))? -->$")
_THEN = re.compile(r"^<!-- then:\s*(.*?)\s*-->$", re.MULTILINE | re.DOTALL)


class PageError(Exception):
    """A page has a block that cannot be read, or a remark that does not exist."""


@dataclass(frozen=True)
class Block:
    page: Path  #: its file
    line: int  #: of its first line of code, from 1
    language: str  #: after the fence; ``then`` for hidden Python
    text: str  #: its lines, each with a line feed
    remarks: dict[str, str] = field(default_factory=dict[str, str])  #: name -> value

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in their order.

    Raises:
        PageError: a block without an end, or an unknown remark.
    """
    return list(_blocks(page, page.read_text("utf-8").splitlines()))


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    number, remarks = 0, dict[str, str]()
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("<!-- then:"):
            first = number
            while number < len(lines) and not lines[number - 1].endswith("-->"):
                number += 1
            hidden = _THEN.match("\n".join(lines[first - 1 : number]))
            if hidden is None:
                raise PageError(f"{page.name}:{first}: a comment that does not end")
            yield Block(page, first, "then", f"{hidden[1]}\n")
        elif (remark := _REMARK.match(line)) and remark[1] in REMARKS:
            remarks[remark[1]] = remark[2] or ""
            continue
        elif fence := _FENCE.match(line):
            first = number
            while number < len(lines) and lines[number].strip() != "```":
                number += 1
            if number == len(lines):
                raise PageError(f"{page.name}:{first}: a block that does not end")
            indent = len(fence[1])
            text = "".join(f"{line[indent:]}\n" for line in lines[first:number])
            yield Block(page, first + 1, fence[2], text, remarks)
            number += 1
        elif remarks:
            raise PageError(f"{page.name}:{number}: a remark without a block")
        remarks = {}


def has_cluster(page: Path) -> bool:
    return CLUSTER in page.read_text("utf-8").splitlines()


def is_program(block: Block) -> bool:
    return block.language in ("python", "then") and not {"not run", "file"} & set(block.remarks)


def runs(page: Path) -> bool:
    return any(
        is_program(block) or (block.language in SHELL and "not run" not in block.remarks)
        for block in blocks(page)
    )


@dataclass(frozen=True)
class Command:
    text: str  #: of it
    shown: tuple[str, ...] = ()  #: the lines that the block shows as its output


def commands(block: Block) -> list[Command]:
    """The commands of a block: those after ``$`` one by one, or a whole script."""
    if block.language != "console":
        return [Command(block.text)]
    result: list[Command] = []
    continued = False
    for line in block.text.splitlines():
        if continued:
            result[-1] = Command(f"{result[-1].text}\n{line}")
        elif line.startswith("$ "):
            result.append(Command(line[2:]))
        elif result:
            result[-1] = Command(result[-1].text, (*result[-1].shown, line))
        else:
            raise PageError(f"{block.place}: output before the first command")
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return result
