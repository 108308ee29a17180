"""``docs/design.md`` names every room, and each room imports only the rooms that its row allows."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import NamedTuple

import pytest

from tests.support.import_graph import ROOT, is_package, room_imports, source_files

pytestmark = pytest.mark.slow  # the first test reads every module

PAGE = ROOT / "docs" / "design.md"
MODULES_IN_A_ROOM = 15
ONE_PER_NOUN = frozenset({"messages", "commands", "cases", "admin"})
"""Packages in which each module is one noun of the protocol or one command: they may have many."""

_PROGRAM = re.compile(r"^### `([\w.]+)`", re.MULTILINE)
_ROW = re.compile(r"^\| (`[^|]+`) \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)
_NAME = re.compile(r"`([\w.]+)`")


class Row(NamedTuple):
    """A row of a table: rooms, and the rooms that they may import."""

    rooms: list[str]
    allowed: list[str]


@cache
def tables() -> dict[str, list[Row]]:
    """The table of each program, with full names."""
    _, *parts = _PROGRAM.split(PAGE.read_text("utf-8"))
    return {
        program: [
            Row(
                [f"{program}.{name}" for name in _NAME.findall(rooms)],
                [f"{program}.{name}" for name in _NAME.findall(allowed)],
            )
            for rooms, _, allowed in _ROW.findall(text)
        ]
        for program, text in zip(parts[::2], parts[1::2], strict=True)
    }


def rooms_of(program: str) -> frozenset[str]:
    return frozenset(room for row in tables()[program] for room in row.rooms)


def is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def members(program: str) -> set[str]:
    """The packages and modules directly below a program, and packages below those without a table of their own."""
    others = [other for other in tables() if other.startswith(f"{program}.")]
    return {
        module
        for module in source_files()
        if module.startswith(f"{program}.")
        and (is_package(module) or "." not in module.removeprefix(f"{program}."))
        and (module in others or not any(is_below(module, other) for other in others))
    }


@pytest.mark.parametrize("program", tables())
def test_the_page_names_each_room_of_a_program(program: str) -> None:
    assert rooms_of(program) == members(program)


@pytest.mark.parametrize("program", tables())
def test_rooms_import_only_what_the_page_allows(program: str) -> None:
    rooms = rooms_of(program)
    arrows = room_imports(rooms | {program})

    surplus = {
        f"{room} -> {other}": modules
        for row in tables()[program]
        for room in row.rooms
        for other, modules in arrows[room].items()
        if other in rooms and other not in row.allowed
    }

    assert surplus == {}


@pytest.mark.parametrize("program", tables())
def test_the_page_allows_no_import_that_no_module_needs(program: str) -> None:
    arrows = room_imports(rooms_of(program) | {program})

    unused = [
        f"{' | '.join(row.rooms)} -> {other}"
        for row in tables()[program]
        for other in row.allowed
        if not any(other in arrows[room] for room in row.rooms)
    ]

    assert unused == []


def test_no_room_has_more_modules_than_a_reader_can_take_in_at_a_glance() -> None:
    sizes = Counter(
        module.rpartition(".")[0] for module in source_files() if not is_package(module)
    )

    crowded = {
        package: size
        for package, size in sizes.items()
        if size > MODULES_IN_A_ROOM and package.rpartition(".")[2] not in ONE_PER_NOUN
    }

    assert crowded == {}
