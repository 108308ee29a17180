"""The machine: its CPUs, and the CPU time and memory of a process."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
import time
from pathlib import Path
from typing import Final, NamedTuple

_CPUCLOCK_SCHED: Final = 2


class Cpus(NamedTuple):
    server: str
    """A server that is pinned, and the load generator."""
    brokers: str
    """This program, which plays the brokers."""
    every: str


def choose_cpus() -> Cpus:
    allowed = sorted(os.sched_getaffinity(0))
    return Cpus(str(allowed[-1]), str(allowed[0]), ",".join(map(str, allowed)))


def on(cpu: str, *command: str) -> list[str]:
    return ["taskset", "-c", cpu, *command]


@functools.cache
def may_be_realtime() -> bool:
    completed = subprocess.run(["chrt", "-f", "50", "true"], capture_output=True, check=False)
    return completed.returncode == 0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and all its threads, including ended ones.

    It is the sum of utime and stime in ``/proc/PID/stat``, read from the underlying clock, which is
    not rounded to 10 ms.
    """
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


def status_bytes(pid: int, name: str) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    line = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    return int(line[1]) * 1024 if line else 0


def resident_bytes(pid: int) -> int:
    return status_bytes(pid, "VmRSS")


def describe() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    return (
        f"{os.cpu_count()} CPUs ({model[1] if model else platform.machine()}), load"
        f" {os.getloadavg()[0]:.1f}, Linux {platform.release()}, Python"
        f" {platform.python_version()}, {java.stderr.partition(chr(10))[0]}"
    )
