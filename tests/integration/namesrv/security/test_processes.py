"""CVE-2023-33246: nothing in the server can start a process, and nothing that it is sent makes it try."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import rocketwire
import rocketwire_namesrv

PACKAGES = tuple(Path(each.__path__[0]) for each in (rocketwire, rocketwire_namesrv))
STARTERS = {"subprocess", "multiprocessing", "pty", "commands", "ctypes", "cffi", "runpy", "code"}
CALLS = {
    "system",
    "popen",
    "fork",
    "forkpty",
    "posix_spawn",
    "posix_spawnp",
    "startfile",
    "eval",
    "exec",
    "__import__",
}
GENERATED = {
    "rocketwire/wire/values/frozen.py"  # constructors of values, from text that is all its own
}

ALLOCATOR = "rocketwire/serving/process_tuning.py"
"""Let the C library's allocator return large blocks to the system, which Python has no function for."""


@cache
def sources() -> list[tuple[str, ast.Module]]:
    """Every module of the library and the server, by its path."""
    return [
        (str(path.relative_to(package.parent)), ast.parse(path.read_bytes()))
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
    ]


def list_imports(tree: ast.Module) -> set[str]:
    """The first parts of all names imported anywhere in a module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def list_calls(tree: ast.Module) -> set[str]:
    """The last parts of all names called anywhere in a module."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        func.attr if isinstance(func, ast.Attribute) else func.id
        for func in calls
        if isinstance(func, ast.Attribute | ast.Name)
    }


def test_T_33246_nothing_that_starts_a_process_is_imported() -> None:
    found = {path: found for path, tree in sources() if (found := list_imports(tree) & STARTERS)}

    assert found == {ALLOCATOR: {"ctypes"}}


def test_T_33246_of_the_c_library_nothing_but_the_allocator_is_called() -> None:
    tree = dict(sources())[ALLOCATOR]
    libraries = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).startswith("ctypes.")
    ]

    assert [ast.unparse(each) for each in libraries] == ["ctypes.CDLL(None).mallopt"]
    assert {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "ctypes"
    } == {"ctypes.CDLL"}


def test_T_33246_nothing_that_starts_a_process_or_runs_a_text_is_called() -> None:
    found = {
        (path, name)
        for path, tree in sources()
        for name in list_calls(tree)
        if name in CALLS or name.startswith(("exec", "spawn"))
    }

    assert {path for path, _ in found} <= GENERATED
    assert {name for _, name in found} <= {"exec"}
