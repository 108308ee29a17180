"""Licences of the packages that an installation brings."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PERMITTED = (
    "Apache",
    "BSD",
    "0BSD",
    "HPND",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Mozilla Public License 2.0",
    "PSF",
    "Python Software Foundation",
    "Python-2.0",
    "Zlib",
)
"""Words of the licences that a user of an Apache-licensed program may combine with it."""

_PROGRAM = """
import importlib.metadata as metadata, json
print(json.dumps([
    [d.metadata["Name"], d.version, d.metadata.get("License-Expression") or "",
     d.metadata.get("License") or "", d.metadata.get_all("Classifier") or []]
    for d in metadata.distributions()
]))
"""


def of_environment(python: Path) -> dict[str, str]:
    """Package and version -> licence, of everything that is installed beside an interpreter."""
    run = subprocess.run([str(python), "-c", _PROGRAM], check=True, capture_output=True, text=True)
    return {
        f"{name} {version}": licence(expression, text, classifiers)
        for name, version, expression, text, classifiers in json.loads(run.stdout)
    }


def licence(expression: str, text: str, classifiers: Sequence[str]) -> str:
    """The licence of a package in a few words: the expression, a classifier, or the free text."""
    if expression:
        return expression
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License ::")]
    named = [each for each in named if each != "OSI Approved"]
    if named:
        return ", ".join(named)
    return text.strip().partition("\n")[0][:80] or "unknown"


def refused(licences: dict[str, str]) -> list[str]:
    """The packages whose licence is not permitted."""
    return [
        f"{package}: {name}"
        for package, name in sorted(licences.items())
        if not any(word.lower() in name.lower() for word in PERMITTED)
    ]
