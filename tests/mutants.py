"""Change the policies in a copy, one expression at a time, and count the changes that their tests notice.

Usage: ``python -m tests.mutants``.  ``[tool.mutmut]`` names the code and its tests.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Final

from tests.peers.cache import ROOT

FOLDER: Final = ROOT / "mutants"
LEAST_PERCENT: Final = 85
"""Equivalent mutants and texts of errors are the rest."""


def main() -> int:
    """Print the share of mutants that were noticed; return 1 if it is too small."""
    mutmut = f"{sys.prefix}/bin/mutmut"
    try:
        for command in ("run", "export-cicd-stats"):
            words = [mutmut, command]
            subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        counts = json.loads((FOLDER / "mutmut-cicd-stats.json").read_text())
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
    percent = 100 * counts["killed"] / counts["total"]
    print(f"{counts['killed']} of {counts['total']} mutants were noticed: {percent:.1f} %")
    return 0 if percent >= LEAST_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
