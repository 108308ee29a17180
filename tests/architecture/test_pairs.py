"""Unit tests stand where their modules stand: ``tests/unit`` has the folders of the source tree.

``unpaired.txt`` lists the modules without a unit test of their name.  It may only become shorter.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "tests" / "unit"
SOURCES = {
    ROOT / "rocketwire": UNIT,
    ROOT / "namesrv" / "rocketwire_namesrv": UNIT / "namesrv",
    ROOT / "broker" / "rocketwire_broker": UNIT / "broker",
    ROOT / "tools" / "rocketwire_tools": UNIT / "tools",
}
"""Source folder -> folder of its unit tests."""

OWN = {
    "connection",
    "support",
    "bench",
    "publishing/comparison",
    "publishing/pages",
    "publishing/release",
    "publishing/site",
    "limits",
    "namesrv/model",
    "broker/model",
}
"""Folders of ``tests/unit`` without a source folder: the modules at the top of the library, the tests' own
support, programs of the project that are never installed, the limits of all programs, and the models of the
name server and the broker."""

UNPAIRED = Path(__file__).with_name("unpaired.txt")


def modules() -> dict[str, Path]:
    """Source file, as a path from the project's root -> where its unit test would be."""
    tests: dict[str, Path] = {}
    for source, unit in SOURCES.items():
        for path in source.rglob("*.py"):
            if path.name.startswith("__"):
                continue
            rooms = path.parent.relative_to(source).parts
            folder = unit.joinpath(*(room.lstrip("_") for room in rooms))
            if path.parent == ROOT / "rocketwire":
                folder = UNIT / "connection"
            tests[str(path.relative_to(ROOT))] = folder / f"test_{path.stem.lstrip('_')}.py"
    return tests


def unpaired() -> set[str]:
    return {module for module, test in modules().items() if not test.exists()}


def test_every_folder_of_unit_tests_has_a_source_folder() -> None:
    folders = {test.parent for test in modules().values()}
    parents = {parent for folder in folders for parent in folder.parents}
    present = {path.parent for path in UNIT.rglob("test_*.py")}

    homeless = present - folders - parents - {UNIT / name for name in OWN}

    assert {str(path.relative_to(UNIT)) for path in homeless} == set()


def test_no_further_module_is_without_a_unit_test_of_its_name() -> None:
    listed = set(UNPAIRED.read_text("utf-8").split())

    assert unpaired() - listed == set()
    assert listed - unpaired() == set(), (
        "these have a test now, or are gone: take them off the list"
    )
