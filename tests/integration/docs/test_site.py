"""The documentation site builds without a warning: no dead link, no docstring that Sphinx rejects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.process
def test_the_site_has_no_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs the extra docs")

    words = ["-b", "dummy", "-q", "--fail-on-warning", "--keep-going", "--nitpicky"]
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, "docs", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (run.returncode, run.stderr)
