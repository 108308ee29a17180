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
_PLANNER: Final = "pyspark.sql.worker."
"""Modules of the Python processes that plan; those of tasks run ``pyspark.worker``."""
_COMPILERS: Final = ("C1 ", "C2 ")
_COLLECTORS: Final = ("GC ", "G1 ", "VM Thread", "VM Periodic")
"""First letters of names of the JVM's threads."""

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
        driver: seconds of this process.
        planners: seconds of the Python processes that plan.
        workers: seconds of the Python processes of tasks.
        compiling: seconds of the JVM in its compilers.
        collecting: seconds of the JVM in its garbage collector.
    """

    wall: float
    cpu: float
    java: float
    worker: float
    driver: float
    planners: float
    workers: float
    compiling: float
    collecting: float


def _stat(path: Path) -> list[str] | None:
    """Name and numbers of a process or thread, from the third on; None if it has ended."""
    try:
        front, _, numbers = (path / "stat").read_text().rpartition(") ")
    except OSError:
        return None
    return [front.partition("(")[2], *numbers.split()]


def _stats(folder: Path) -> dict[int, list[str]]:
    """The same of each process or thread of a folder."""
    try:
        entries = [entry for entry in folder.iterdir() if entry.name.isdecimal()]
    except OSError:
        return {}
    stats = {int(entry.name): _stat(entry) for entry in entries}
    return {pid: words for pid, words in stats.items() if words is not None}


def _ticks(words: list[str]) -> int:
    return int(words[12]) + int(words[13])


class _Family:
    """A process and those that it started.

    Args:
        root: number of the process.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self.ticks: dict[Process, int] = {}
        self._kinds: dict[Process, str] = {}
        self.worker = 0.0
        self.look()

    def look(self) -> None:
        """Take down what they have used by now."""
        stats = _stats(Path("/proc"))
        members = [self._root]
        for child in members:
            members += [pid for pid, words in stats.items() if int(words[2]) == child]
        for pid in members:
            words = stats[pid]
            process = pid, words[20]
            self.ticks[process] = _ticks(words)
            if process not in self._kinds or words[0] == "java":
                self._kinds[process] = "driver" if pid == self._root else _kind(pid, words[0])
            if words[0] == "java":
                self._look_at_threads(pid)
            if words[0].startswith("python") and pid != self._root:
                self.worker = max(self.worker, _most_resident(pid))

    def _look_at_threads(self, pid: int) -> None:
        for thread, words in _stats(Path(f"/proc/{pid}/task")).items():
            kind = "compiling" if words[0].startswith(_COMPILERS) else ""
            kind = "collecting" if words[0].startswith(_COLLECTORS) else kind
            if kind:
                key = thread, f"{words[20]} {kind}"
                self.ticks[key] = _ticks(words)
                self._kinds[key] = kind

    def seconds(self, kind: str) -> float:
        """CPU of one kind, ended ones included."""
        ticks = (count for process, count in self.ticks.items() if self._kinds[process] == kind)
        return sum(ticks) / _TICKS


PROCESSES: Final = ("driver", "java", "workers", "planners")


def _kind(pid: int, name: str) -> str:
    """What a child is for."""
    if name == "java":
        return "java"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        command = ""
    return "planners" if _PLANNER in command else "workers"


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

    kinds = (*PROCESSES, "compiling", "collecting")
    before = {kind: family.seconds(kind) for kind in kinds}
    watching = threading.Thread(target=watch)
    watching.start()
    wall = time.monotonic()
    work()
    wall = time.monotonic() - wall
    ended.set()
    watching.join()
    family.look()
    spent = {kind: family.seconds(kind) - before[kind] for kind in kinds}
    return Spent(
        wall=wall,
        cpu=sum(spent[kind] for kind in PROCESSES) - looking[0],
        driver=spent["driver"] - looking[0],
        java=spent["java"],
        worker=family.worker,
        planners=spent["planners"],
        workers=spent["workers"],
        compiling=spent["compiling"],
        collecting=spent["collecting"],
    )
