"""The cost of work: wall time, CPU of all its processes, memory of Python workers."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_EVERY: Final = 0.2
"""Seconds between looks at the processes; a process that ends counts as at the last look."""

Process = tuple[int, str]
"""Number and start time: numbers are reused."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of some work.

    Attributes:
        wall: seconds.
        cpu: seconds of all processes: this one, the JVM, the workers.
        java: seconds of the JVM among them.
        worker: largest resident memory of a Python worker, in megabytes.
    """

    wall: float
    cpu: float
    java: float
    worker: float


def _stats() -> dict[int, list[str]]:
    """Name and numbers of each process, as /proc/PID/stat has them from the third on."""
    stats: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                front, _, numbers = (entry / "stat").read_text().rpartition(") ")
            except OSError:
                continue
            stats[int(entry.name)] = [front.partition("(")[2], *numbers.split()]
    return stats


class _Family:
    """A process and those that it started.

    Args:
        root: number of the process.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self.ticks: dict[Process, int] = {}
        self.java: set[Process] = set()
        self.worker = 0.0
        self.look()

    def look(self) -> None:
        """Take down what they have used by now."""
        stats = _stats()
        members = [self._root]
        for child in members:
            members += [pid for pid, words in stats.items() if int(words[2]) == child]
        for pid in members:
            words = stats[pid]
            process = pid, words[20]
            self.ticks[process] = int(words[12]) + int(words[13])
            if words[0] == "java":
                self.java.add(process)
            if words[0].startswith("python") and pid != self._root:
                self.worker = max(self.worker, _most_resident(pid))

    def seconds(self) -> tuple[float, float]:
        """CPU of all, and of the JVM among them; ended ones included."""
        every = sum(self.ticks.values())
        return every / _TICKS, sum(self.ticks[pid] for pid in self.java) / _TICKS


def _most_resident(pid: int) -> float:
    """Most memory that a process has had resident, in megabytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    sizes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(sizes[0]) / 1024 if sizes else 0.0


def measure(work: Callable[[], object]) -> Spent:
    """Run something."""
    family = _Family(os.getpid())
    ended = threading.Event()
    looking = [0.0]

    def watch() -> None:
        while not ended.wait(_EVERY):
            family.look()
        looking[0] = time.thread_time()

    watching = threading.Thread(target=watch)
    watching.start()
    (cpu_before, java), wall = family.seconds(), time.monotonic()
    work()
    wall = time.monotonic() - wall
    ended.set()
    watching.join()
    family.look()
    cpu, java_after = family.seconds()
    return Spent(wall, cpu - cpu_before - looking[0], java_after - java, family.worker)
