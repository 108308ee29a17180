"""The cost of a command: wall and CPU time of its processes, and the memory of the largest one."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOK_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost.

    Attributes:
        wall: seconds.
        cpu: seconds of all its processes.
        peak: largest resident memory of a process, in megabytes of 2^20 bytes.
    """

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str], output: Path) -> Spent:
    """Run a command.

    Memory is VmHWM, since ``ru_maxrss`` of a new process begins at the peak of the one that started
    it.

    Args:
        command: with its arguments.
        output: file for what it prints.

    Raises:
        RuntimeError: it failed.
    """
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
    return Spent(wall, usage.ru_utime + usage.ru_stime, peak / 1024)


def _peak(pid: int) -> int:
    """Most kilobytes that a process, or one that it started, had."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    lines = dict(line.split(":", 1) for line in status.splitlines())
    peak = int(lines["VmHWM"].split()[0]) if "VmHWM" in lines else 0
    return max([peak, *(_peak(int(child)) for child in children)])
