"""tshark, where it is installed: a second opinion on captures."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
"""No test may rest on it alone: a fresh machine has none."""
_PREFERENCES = ("tcp.try_heuristic_first:TRUE",)


def rows(
    capture: Path, fields: Sequence[str], *, script: Path | None = None, only: str = ""
) -> list[list[str]]:
    """The frames that tshark finds in a capture.

    Args:
        script: a dissector in Lua.
        only: a display filter.

    Returns:
        A row for each packet that the filter lets through; several values of a field are joined by
        commas.

    Raises:
        AssertionError: tshark reports an error, of the script or another one.
    """
    command = [str(TSHARK), "-n", "-r", str(capture), "-T", "fields"]
    for preference in _PREFERENCES:
        command += ["-o", preference]
    for field in fields:
        command += ["-e", field]
    if script is not None:
        command += ["-X", f"lua_script:{script}"]
    if only:
        command += ["-Y", only]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    complaints = [line for line in run.stderr.splitlines() if "could be dangerous" not in line]
    assert (0, []) == (run.returncode, [line for line in complaints if line])
    return [line.split("\t") for line in run.stdout.splitlines()]
