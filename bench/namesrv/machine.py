"""The machine: its CPUs, the CPU time and memory of a process, and the CPU time of other
processes."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Final, NamedTuple

NOISY: Final = 0.08
"""Share of one CPU that other processes may use before a sample is marked."""
_CPUCLOCK_SCHED: Final = 2
_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


class Cpus(NamedTuple):
    """The CPUs of each process, in the form of ``taskset -c``.

    Attributes:
        server: of every server that is pinned.
        load: of the load generator while rates are measured.
        feeder: of the feeder and of this program.
        every: all of them.
    """

    server: str
    load: str
    feeder: str
    every: str


def cpus(layout: str) -> Cpus:
    """Choose CPUs: with the layout ``shared`` load and server share one, with ``split`` they do
    not."""
    allowed = sorted(os.sched_getaffinity(0))
    first, last = str(allowed[0]), str(allowed[-1])
    every = ",".join(map(str, allowed))
    return Cpus(last, last if layout == "shared" else first, first, every)


def on(cpu: str, *command: str) -> list[str]:
    """The command line that runs a command on these CPUs."""
    return ["taskset", "-c", cpu, *command]


@functools.cache
def may_be_realtime() -> bool:
    """Whether this user may use SCHED_FIFO, with which the load generator never waits for the
    CPU."""
    completed = subprocess.run(["chrt", "-f", "50", "true"], capture_output=True, check=False)
    return completed.returncode == 0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and all its threads, including ended ones.

    It is the sum of utime and stime in ``/proc/PID/stat``, read from the underlying clock, which is
    not rounded to 10 ms.
    """
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


def stat_seconds(pid: int) -> float:
    """The same out of ``/proc/PID/stat``."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK


def resident_bytes(pid: int) -> int:
    """Physical memory of a process."""
    resident = re.search(
        r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE
    )
    return int(resident[1]) * 1024 if resident else 0


def busy_seconds() -> float:
    """Time that all CPUs have been busy since boot; what a hypervisor took away counts."""
    fields = [int(ticks) for ticks in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, irq, soft, steal = fields
    return (user + nice + system + irq + soft + steal) * _TICK


class Bystanders:
    """Tells how busy other processes were meanwhile."""

    def __init__(self, *measured: int) -> None:
        self._known = (os.getpid(), *measured)
        self._start = time.monotonic()
        self._before = self._others()

    def _others(self) -> float:
        return busy_seconds() - sum(map(cpu_seconds, self._known))

    def share(self) -> float:
        """CPUs that others have used since the beginning."""
        return max(0.0, self._others() - self._before) / (time.monotonic() - self._start)


def description() -> list[str]:
    """The machine and the versions in use, a line each."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    optimized = "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS"))
    return [
        f"{os.cpu_count()} CPUs ({model[1] if model else platform.machine()}), {memory:.0f}"
        f" GiB, Linux {platform.release()}",
        f"{platform.python_implementation()} {platform.python_version()},"
        f" {'built' if optimized else 'not built'} with profile-guided optimization",
        _first_line("java", "-version"),
        _first_line("gcc", "--version"),
    ]


def _first_line(*command: str) -> str:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return f"no {command[0]}"
    return (completed.stdout or completed.stderr).split("\n", 1)[0]


def python() -> str:
    """The interpreter that the benchmark and our name server run on."""
    return sys.executable
