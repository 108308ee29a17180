"""A stream whose driver and workers are killed reads each offset of Java's brokers once.

``make spark-kills`` reads a million messages and kills at twenty places.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.conftest import ROOT, without_spark
from tests.spark.topics_of_java import Topics
from tests.support.java.peers import OLD
from tests.support.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.support.java.cluster import JavaCluster

pytestmark = [
    pytest.mark.java,
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("ROCKETWIRE_SPARK_KILLS"),
        reason="drivers start for minutes: make spark-kills runs it",
    ),
]

IS_LONG = os.environ.get("ROCKETWIRE_SPARK_KILLS") == "long"
MESSAGES = 1_000_000 if IS_LONG else 40_000
KILLS = 20 if IS_LONG else 2
BATCHES = 40
SECONDS = 600


class Job:
    """A driver that is killed at places of its progress.

    Attributes:
        kills: kinds of what was killed, in order.
    """

    def __init__(self, topics: Topics, topic: str, folder: Path) -> None:
        self.folder = folder
        self.kills: list[str] = []
        limit = str(MESSAGES // BATCHES)
        module = "tests.spark.kill_job"
        self._command = [sys.executable, "-m", module, topics.address, topic, str(folder), limit]

    @contextlib.contextmanager
    def running(self) -> Generator[subprocess.Popen[bytes]]:
        """Run the driver, in a process group of its own."""
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                self._command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def logged(self, kind: str) -> int:
        """Number of batches in a log of the checkpoint: ``offsets`` or ``commits``."""
        folder = self.folder / "checkpoint" / kind
        return sum(path.name.isdecimal() for path in folder.glob("*"))

    def kill_driver(self, process: subprocess.Popen[bytes], chance: random.Random) -> None:
        """Kill the driver after it has planned one more batch, a moment later."""
        planned = self.logged("offsets")
        wait_until(lambda: self.logged("offsets") > planned or _ended(process), "a batch", SECONDS)
        time.sleep(chance.random() * 0.5)  # at any step of the batch
        self.kills.append("driver")

    def kill_worker(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process that reads, as if its machine had ended."""
        done = self.logged("commits")
        wait_until(lambda: bool(_workers(process.pid)) or _ended(process), "a worker", SECONDS)
        for pid in _workers(process.pid)[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self.kills.append("worker")
        wait_until(lambda: self.logged("commits") > done or _ended(process), "a batch", SECONDS)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def _workers(root: int) -> list[int]:
    """Python workers below a driver: the children of Spark's daemon."""
    parents: dict[int, int] = {}
    daemons: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            words = (entry / "stat").read_text().rpartition(") ")[2].split()
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        pid = int(entry.name)
        parents[pid] = int(words[1])
        if b"pyspark.daemon" in line and int(words[2]) != 0:
            daemons.add(pid)

    def is_below(pid: int) -> bool:
        while pid in parents:
            pid = parents[pid]
            if pid == root:
                return True
        return False

    return [pid for pid in sorted(daemons) if parents[pid] in daemons and is_below(pid)]


def test_each_offset_is_read_once_whatever_is_killed(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    without_spark()
    parquet: Any = importlib.import_module("pyarrow.parquet")  # it has no types
    java_cluster.broker("broker-old", version=OLD)
    topics = Topics(java_cluster.address, brokers=2)
    topic = topics.create("spark-kills", queues=8)
    stored = topics.fill(topic, [b"x" * 100] * MESSAGES)
    wait_until(lambda: sum(topics.ends(topic).values()) == MESSAGES, "all are in queues", 120)
    chance = random.Random(4)
    job = Job(topics, topic, tmp_path)
    while len(job.kills) < KILLS:
        with job.running() as process:
            if len(job.kills) % 3 == 1:
                job.kill_worker(process)
            job.kill_driver(process, chance)
            if _ended(process):
                break

    with job.running() as process:
        assert process.wait(SECONDS) == 0, (tmp_path / "log").read_text()[-3000:]

    assert "driver" in job.kills
    table: Any = parquet.read_table(_committed(tmp_path / "out"))
    columns: Any = (
        table.column(name).to_pylist() for name in ("brokerName", "queueId", "queueOffset")
    )
    assert Counter(zip(*columns, strict=True)) == Counter(stored)


def _committed(folder: Path) -> list[str]:
    """The files that the sink has committed; Spark leaves those of killed attempts."""
    import json

    names: set[str] = set()
    for log in (folder / "_spark_metadata").iterdir():
        if log.name.removesuffix(".compact").isdecimal():
            lines = log.read_text().splitlines()[1:]
            names |= {json.loads(line)["path"].rpartition("/")[2] for line in lines}
    return [str(folder / name) for name in sorted(names)]
