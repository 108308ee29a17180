"""No cycle of imports between modules, imports inside functions and for type checkers included."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOTS = {
    ROOT / "rocketwire": ROOT,
    ROOT / "namesrv" / "rocketwire_namesrv": ROOT / "namesrv",
    ROOT / "broker" / "rocketwire_broker": ROOT / "broker",
    ROOT / "tools" / "rocketwire_tools": ROOT / "tools",
}
"""Top package -> folder of its source root."""


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def targets(tree: ast.Module, modules: dict[str, Path]) -> set[str]:
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            imported |= {name if name in modules else node.module or "" for name in names}
    return imported & modules.keys()


def test_no_modules_import_each_other() -> None:
    modules = {
        module_name(path.relative_to(root)): path
        for package, root in ROOTS.items()
        for path in package.rglob("*.py")
    }
    graph = {
        name: targets(ast.parse(path.read_text("utf-8")), modules) - {name}
        for name, path in modules.items()
    }

    assert len(graph) > 500
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_benchmarks_import_only_the_peers_of_the_tests() -> None:
    imports = [
        node.module or ""
        for path in (ROOT / "bench").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]
    of_tests = {name for name in imports if name.split(".")[0] == "tests"}
    assert of_tests
    assert all(name.startswith("tests.peers") for name in of_tests), of_tests
