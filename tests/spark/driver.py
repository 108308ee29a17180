"""A driver of Spark, its executors and its Python as processes that a test kills.

Rules of this file: a place is the step at which the driver was killed, read from its checkpoint afterwards.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from tests.spark.conftest import ROOT
from tests.spark.distribution import distribution

SECONDS: Final = 900.0
"""For each step of a driver on a busy machine."""
_POLL: Final = 0.005
"""Seconds between looks at a checkpoint: the steps of a micro-batch follow each other in a hundredth."""
_JVM: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""JVMs that live for seconds do without the compiler that makes them fast in minutes."""
_PAUSE: Final = 0.2
_STARTS: Final = 5
"""Drivers of a job that may end by themselves before a kill: Spark gives Python ten seconds to start."""


class Process(NamedTuple):
    pid: int
    parent: int
    command: str


class Steps(NamedTuple):
    planned: int  #: those with an entry in Spark's log of offsets
    written: int  #: those that the sink has committed
    committed: int  #: those with an entry in Spark's log of commits

    @property
    def place(self) -> str:
        if self.planned == self.committed:
            return "between micro-batches" if self.planned else "before the first micro-batch"
        return (
            "sink committed, Spark not" if self.written == self.planned else "planned, not written"
        )


class Drivers:
    """The drivers of one job, one after the other.

    Args:
        folder: of the job: logs, Spark's distribution, and what the job writes.
        job: what ``tests.spark.job`` runs.
    """

    def __init__(self, folder: Path, job: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        #: number of kills by what was killed, and of drivers by place, too
        self.killed: Counter[str] = Counter()
        master = str(job["master"])
        self._has_executors = "cluster" in master
        self._home = distribution(folder)
        self._command = [sys.executable, "-m", "tests.spark.job", json.dumps(job)]
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    @property
    def kills(self) -> int:
        return self.killed["driver"] + self.killed["executor"] + self.killed["planner"]

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")[-5000:]

    def log_count(self, text: str) -> int:
        path = self.folder / "log"
        return path.read_text("utf-8", "replace").count(text) if path.exists() else 0

    def report(self, what: str) -> None:
        sys.stdout.write(f"\n{what}; killed: {dict(self.killed)}\n")

    # ------------------------------------------------------------------ a driver

    def start(self) -> None:
        # Start a driver; executors of an earlier one may still be there, as after a real end.
        environment = {**os.environ, "JAVA_TOOL_OPTIONS": _JVM, "SPARK_HOME": str(self._home)}
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)

    @property
    def runs(self) -> bool:
        return bool(self._processes) and self._processes[-1].poll() is None

    def run_to_end(self) -> None:
        # Wait for the end of the job; one whose driver has failed goes on with another driver.
        for remaining in reversed(range(5)):
            if not self.runs:
                self.start()
            if self._processes[-1].wait(SECONDS) == 0:
                return
            assert remaining, self.log

    def wait(self, condition: Callable[[], bool], pause: float = _POLL) -> bool:
        # Start drivers until a condition holds while one runs; False if a job ends by itself.
        deadline = time.monotonic() + SECONDS
        for _ in range(_STARTS):
            if not self.runs:
                self.start()
            while self.runs:
                if condition():
                    return True
                assert time.monotonic() < deadline, self.log
                time.sleep(pause)
            if self._processes[-1].returncode == 0:
                return False
        raise AssertionError(self.log)

    # ------------------------------------------------------------------ kills

    def kill_driver(self, place: str = "") -> None:
        # Kill Spark's JVM and its Python, without a word to executors and workers.
        process = self._processes[-1]
        below = _below(process.pid)
        jvms = [process.pid for process in below if "deploy.SparkSubmit" in process.command]
        for pid in [*jvms, process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        self.killed["driver"] += 1
        if place:
            self.killed[place] += 1

    def kill_executor(self) -> None:
        """Kill an executor with its Python, as if its machine had ended; without executors, a worker.

        A driver that has none yet gets some first.
        """
        assert self.wait(lambda: bool(self._victims()), _PAUSE), "the job has ended"
        for pid in self._victims():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.killed["executor"] += 1

    def _victims(self) -> list[int]:
        # An executor and what is below it, or a worker; nothing if there are none.
        below = _below(self._processes[-1].pid)
        if self._has_executors:
            executors = [process.pid for process in below if "ExecutorBackend" in process.command]
            return [pid for first in executors[:1] for pid in (first, *_pids(_below(first)))]
        daemons = {process.pid for process in below if "pyspark.daemon" in process.command}
        return [process.pid for process in below if process.parent in daemons][:1]

    def kill_planner(self) -> None:
        # Kill the Python process in which the driver runs the data source; the query fails.
        planners = [
            process.pid
            for process in _below(self._processes[-1].pid)
            if "python_streaming_source_runner" in process.command
        ]
        for pid in planners:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.killed["planner"] += bool(planners)


def _below(root: int) -> list[Process]:
    every: dict[int, Process] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(") ")[2].split()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                every[int(entry.name)] = Process(int(entry.name), int(words[1]), command)

    def is_below(process: Process | None) -> bool:
        while process is not None:
            if process.parent == root:
                return True
            process = every.get(process.parent)
        return False

    return [process for _, process in sorted(every.items()) if is_below(process)]


def _pids(processes: list[Process]) -> list[int]:
    return [process.pid for process in processes]


def steps_of(folder: Path, sink: Path) -> Steps:
    return Steps(next_of(folder / "offsets"), next_of(sink), next_of(folder / "commits"))


def next_of(log: Path, suffix: str = "") -> int:
    # Number of the next entry of a log: its files have numbers, and Spark deletes old ones.
    with contextlib.suppress(FileNotFoundError):
        names = os.listdir(log)  # fast: it is asked a thousand times a second
        numbers = (
            int(n.partition(".")[0]) for n in names if n[0].isdecimal() and n.endswith(suffix)
        )
        return 1 + max(numbers, default=-1)
    return 0
