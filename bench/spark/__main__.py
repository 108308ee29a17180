"""Spark beside the engine on one capture: ``python -m bench.spark CAPTURE``.

Both run in turn in one run, because figures of different moments cannot be compared on a machine that does other things too.
CPU is that of all processes: the JVM, PySpark's workers, and this one.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.engine import Decoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Spent:
    """What something took.

    Attributes:
        wall: seconds.
        cpu: seconds of all processes.
        worker: largest resident memory of a Python worker, in megabytes.
    """

    wall: float
    cpu: float
    worker: float = 0.0


def _family(root: int) -> list[int]:
    """A process and all processes that it started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for one in found:
        found += parents.get(one, [])
    return found


def _cpu(root: int) -> float:
    """CPU seconds of a process and all that it started, ended ones included."""
    total = 0
    for pid in _family(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


def _largest_worker(root: int) -> float:
    """Most resident memory that a Python worker has had, in megabytes."""
    most = 0
    for pid in _family(root)[1:]:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        words = dict(line.split(":", 1) for line in status.splitlines())
        if words["Name"].strip().startswith("python"):
            most = max(most, int(words["VmHWM"].split()[0]))
    return most / 1024


def measure(work: Callable[[], object]) -> Spent:
    """Run something."""
    me = os.getpid()
    ended = threading.Event()
    workers = [0.0]

    def watch() -> None:
        while not ended.wait(0.2):
            workers.append(_largest_worker(me))

    watching = threading.Thread(target=watch)
    watching.start()
    wall, cpu = time.monotonic(), _cpu(me)
    work()
    spent = Spent(time.monotonic() - wall, _cpu(me) - cpu)
    ended.set()
    watching.join()
    spent.worker = max(workers)
    return spent


def _engine(path: str) -> None:
    for _ in Decoder(path):
        pass


def _noop(frames: DataFrame) -> None:
    frames.write.format("noop").mode("overwrite").save()


def main() -> None:
    """Measure and print."""
    from pyspark.sql import SparkSession

    from pyspark_rocketwire import correlate

    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("capture")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--split-size", default="64m")
    arguments = parser.parse_args()
    path: str = arguments.capture
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    frames = spark.read.format("rocketmq-pcap").option("splitSize", arguments.split_size).load(path)
    with tempfile.TemporaryDirectory() as folder:
        works: dict[str, Callable[[], object]] = {
            "engine, one process": lambda: _engine(path),
            "Spark to noop": lambda: _noop(frames),
            "Spark and correlate to noop": lambda: _noop(correlate(frames)),
            "Spark to Parquet": lambda: frames.write.mode("overwrite").parquet(f"{folder}/out"),
        }
        spent: dict[str, list[Spent]] = {name: [] for name in works}
        frames.limit(1).collect()  # starts the workers
        for _ in range(arguments.rounds):
            for name, work in works.items():
                spent[name].append(measure(work))
    size = Path(path).stat().st_size / 1e6
    base = min(one.cpu for one in spent["engine, one process"])
    for name, found in spent.items():
        wall, cpu = min(one.wall for one in found), min(one.cpu for one in found)
        worker = max(one.worker for one in found)
        print(
            f"{name:28} {size / wall:7.0f} MB/s  {cpu:6.2f} s CPU  {cpu / base:5.2f} x engine  worker {worker:4.0f} MB"
        )
    spark.stop()


if __name__ == "__main__":
    main()
