"""The imports between the modules of this project, read from their source."""

from __future__ import annotations

import ast
import subprocess
from collections import defaultdict
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[2]
SOURCE_ROOTS = (
    "rocketwire",
    "namesrv/rocketwire_namesrv",
    "broker/rocketwire_broker",
    "tools/rocketwire_tools",
)


class Time(IntEnum):
    """When an import runs."""

    IMPORT = 0
    """When the module is imported."""
    CALL = 1
    """When a function is called."""
    NEVER = 2
    """Below ``if TYPE_CHECKING``: type checkers read it."""


Imports = dict[str, dict[str, Time]]
"""For each module, the modules that it imports, and when."""


@cache
def source_files() -> dict[str, Path]:
    """Every module of the product by its dotted name."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SOURCE_ROOTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / line for line in listing.stdout.splitlines() if line.endswith(".py")]
    return {module_name(path): path for path in paths if path.is_file()}


def module_name(path: Path) -> str:
    """The dotted name of a source file."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] in {"namesrv", "broker", "tools"}:
        del parts[0]
    if parts[-1] == "__init__":
        del parts[-1]
    return ".".join(parts)


def is_package(module: str) -> bool:
    return source_files()[module].name == "__init__.py"


@cache
def imports() -> Imports:
    """All imports between modules of the product."""
    graph: Imports = {}
    for module, path in source_files().items():
        targets: dict[str, Time] = {}
        for target, time in _imports_of(ast.parse(path.read_text("utf-8")), Time.IMPORT):
            if target != module:
                targets[target] = min(time, targets.get(target, time))
        graph[module] = targets
    return graph


def _imports_of(node: ast.AST, time: Time) -> Iterator[tuple[str, Time]]:
    """The modules that a part of a module imports, and when."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for target in _targets_of(node):
            yield target, time
    elif isinstance(node, ast.If) and _is_type_checking(node.test):
        for statement in node.body:
            yield from _imports_of(statement, Time.NEVER)
        for statement in node.orelse:
            yield from _imports_of(statement, time)
    else:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            time = max(time, Time.CALL)
        for child in ast.iter_child_nodes(node):
            yield from _imports_of(child, time)


def _targets_of(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules of the product that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in source_files())
        return
    assert not node.level, "imports of this project are absolute"
    for alias in node.names:
        submodule = f"{node.module}.{alias.name}"
        if submodule in source_files():
            yield submodule
        elif node.module in source_files():
            yield node.module


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def cycles(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other (Tarjan's algorithm), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            start = stack.index(node)
            group = stack[start:]
            del stack[start:]
            if len(group) > 1:
                groups.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return groups


def module_cycles(latest: Time) -> list[list[str]]:
    """Cycles of imports between modules, counting imports up to a time."""
    return cycles(
        {
            module: [target for target, time in targets.items() if time <= latest]
            for module, targets in imports().items()
        }
    )


def room_of(module: str, rooms: frozenset[str]) -> str:
    """The innermost room that a module belongs to; a module outside of packages is its own."""
    while module not in rooms and "." in module:
        module = module.rpartition(".")[0]
    return module


def room_imports(rooms: frozenset[str]) -> defaultdict[str, dict[str, list[str]]]:
    """For each room, the rooms that it imports, with the modules that do."""
    arrows: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for module, targets in imports().items():
        room = room_of(module, rooms)
        for target in targets:
            other = room_of(target, rooms)
            if other != room:
                arrows[room].setdefault(other, []).append(module)
    return arrows
