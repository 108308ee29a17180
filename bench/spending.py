"""The cost of a command: wall and CPU time of its processes, and the memory of the largest one."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.machine import status_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOK_SECONDS: Final = 0.02


class Spent(NamedTuple):
    wall: float
    """Seconds."""
    cpu: float
    """Seconds of all its processes."""
    peak: float
    """Largest resident memory of a process, in MiB."""


def run(command: Sequence[str], output: Path) -> Spent:
    """Run a command, and write its standard output to a file; ``RuntimeError`` if it failed."""
    peak = 0
    start = time.monotonic()
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            peak = max(peak, _peak(process.pid))
            time.sleep(_LOOK_SECONDS)
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}")
    return Spent(wall, usage.ru_utime + usage.ru_stime, peak / 2**20)


def _peak(pid: int) -> int:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return max([status_bytes(pid, "VmHWM"), *(_peak(int(child)) for child in children)])
