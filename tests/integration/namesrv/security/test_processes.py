"""CVE-2023-33246: nothing in the server can start a process, and nothing that it is sent makes it try."""

import ast
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


def names_of(node: ast.AST) -> list[str]:
    # The modules that a node imports, or the function that it calls.
    match node:
        case ast.Import(names=aliases):
            return [alias.name.partition(".")[0] for alias in aliases]
        case ast.ImportFrom(module=module):
            return [(module or "").partition(".")[0]]
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return [name] if name in CALLS or name.startswith(("exec", "spawn")) else []
        case ast.Attribute() if (text := ast.unparse(node)).startswith("ctypes."):
            return [text]
        case _:
            return []


def test_T_33246_nothing_that_starts_a_process_or_runs_a_text_is_imported_or_called() -> None:
    uses = {
        (str(path.relative_to(package.parent)), name)
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        for name in names_of(node)
        if name in STARTERS or name in CALLS or name.startswith(("exec", "spawn", "ctypes."))
    }

    # of the C library nothing but its allocator is called
    allocator = ("ctypes", "ctypes.CDLL", "ctypes.CDLL(None).mallopt")
    assert uses - {(GENERATED, "exec")} == {(ALLOCATOR, name) for name in allocator}
