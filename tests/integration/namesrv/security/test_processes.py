"""CVE-2023-33246: nothing in the server can start a process, and nothing that it is sent makes it try."""

import ast
from functools import cache
from pathlib import Path

import rocketwire
import rocketwire_namesrv

PACKAGES = tuple(
    Path(package_module.__path__[0]) for package_module in (rocketwire, rocketwire_namesrv)
)
STARTERS = {"subprocess", "multiprocessing", "pty", "commands", "ctypes", "cffi", "runpy", "code"}
CALLS = {
    *("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"),
    *("eval", "exec", "__import__"),
}
GENERATED = "rocketwire/wire/values/frozen.py"
"""Constructors of values, from text that is all its own."""
ALLOCATOR = "rocketwire/serving/process_tuning.py"
"""Let the C library's allocator return large blocks to the system, which Python has no function for."""


@cache
def parse_sources() -> dict[str, list[ast.AST]]:
    return {
        str(path.relative_to(package.parent)): list(ast.walk(ast.parse(path.read_bytes())))
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
    }


def test_T_33246_nothing_that_starts_a_process_is_imported() -> None:
    uses = {
        (path, name.partition(".")[0])
        for path, nodes in parse_sources().items()
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }

    assert {(path, name) for path, name in uses if name in STARTERS} == {(ALLOCATOR, "ctypes")}


def test_T_33246_of_the_c_library_nothing_but_the_allocator_is_called() -> None:
    texts = [
        ast.unparse(node) for node in parse_sources()[ALLOCATOR] if isinstance(node, ast.Attribute)
    ]

    assert {text for text in texts if text.startswith("ctypes.")} == {
        "ctypes.CDLL",
        "ctypes.CDLL(None).mallopt",
    }


def test_T_33246_nothing_that_starts_a_process_or_runs_a_text_is_called() -> None:
    functions = {
        (path, node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id)
        for path, nodes in parse_sources().items()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name)
    }
    uses = {
        (path, name)
        for path, name in functions
        if name in CALLS or name.startswith(("exec", "spawn"))
    }

    assert uses <= {(GENERATED, "exec")}
