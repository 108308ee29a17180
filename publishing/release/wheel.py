"""What a wheel must and must not contain."""

from __future__ import annotations

import re
import tomllib
import zipfile
from email.parser import Parser
from typing import TYPE_CHECKING

from trove_classifiers import classifiers as trove

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

LARGEST_WHEEL = 3 * 1000 * 1000
"""Bytes that a wheel may have."""

BASE = {"construct", "crcmod", "orjson", "trio"}
"""The packages that are installed without an extra."""

_STRAY = re.compile(r"(^|/)(__pycache__|\.venv|\.cache|\.git|node_modules)(/|$)|\.(pyc|orig|rej)$")


def problems(wheel: Path, root: Path) -> list[str]:
    """What is wrong with a wheel; nothing if it may be released.

    Args:
        wheel: the file.
        root: the checkout that it was built from.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode("utf-8"))
    return [
        *_of_size(wheel),
        *_of_names(names, packages(root)),
        *_of_metadata(metadata, wheel, root),
    ]


def packages(root: Path) -> set[str]:
    """The packages at the top of the wheel, by ``pyproject.toml``."""
    tool = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]
    folders: list[str] = tool["hatch"]["build"]["targets"]["wheel"]["packages"]
    return {folder.rpartition("/")[2] for folder in folders}


def _of_size(wheel: Path) -> list[str]:
    size = wheel.stat().st_size
    too_large = f"{size:,} bytes, at most {LARGEST_WHEEL:,} are allowed"
    return [too_large] if size > LARGEST_WHEEL else []


def _of_names(names: list[str], expected: set[str]) -> list[str]:
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    found = [f"unexpected at the top: {top}" for top in sorted(tops - expected)]
    found += [f"missing at the top: {top}" for top in sorted(expected - tops)]
    found += [f"does not belong into a wheel: {name}" for name in names if _STRAY.search(name)]
    typed = {name.partition("/")[0] for name in names if name.endswith("/py.typed")}
    found += [
        f"no py.typed in {top}" for top in sorted(expected) if top in tops and top not in typed
    ]
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        found.append("no licence")
    return found


def _of_metadata(metadata: Message, wheel: Path, root: Path) -> list[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    version = re.search(
        r'^__version__ = "(.+)"$', (root / "rocketwire" / "__init__.py").read_text("utf-8"), re.M
    )
    assert version is not None
    found: list[str] = []
    if metadata["Version"] != version[1] or f"-{version[1]}-" not in wheel.name:
        found.append(f"version {metadata['Version']} of {wheel.name}, expected {version[1]}")
    for field, value in (
        ("Name", "rocketwire"),
        ("License-Expression", "Apache-2.0"),
        ("Requires-Python", project["requires-python"]),
        ("Description-Content-Type", "text/markdown"),
    ):
        if metadata[field] != value:
            found.append(f"{field} is {metadata[field]!r}, expected {value!r}")
    wrong = set(metadata.get_all("Classifier", [])) - set(trove)
    found += [f"unknown classifier: {each}" for each in sorted(wrong)]
    required = {
        re.split(r"[^\w.-]", line, maxsplit=1)[0]
        for line in metadata.get_all("Requires-Dist", [])
        if "extra ==" not in line
    }
    if required != BASE:
        found.append(f"base dependencies are {sorted(required)}, expected {sorted(BASE)}")
    return found
