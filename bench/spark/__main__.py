"""Compares Spark with the engine, in turn in one run: ``python -m bench.spark``.

Times of different moments are not comparable on a shared machine, so each round runs everything
once, ratios are those of one round, and the medians of the rounds are printed. CPU is that of all
processes. The session is warm: a first round, which does not count, starts the workers and lets the
JVM compile; a cold start takes a few seconds more.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.spark import captures
from bench.spark.spent import Spent, measure
from rocketwire_tools.pcap.decode.decoder import Decoder
from rocketwire_tools.spark.stores.columns import default_columns
from rocketwire_tools.spark.stores.reading import BLOCK_SIZE
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.formats.arrow_rows import record_batch
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.selecting import passing_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

ENGINE: Final = "engine, one process"
NOOP: Final = "Spark to noop"
CORRELATE: Final = "Spark, correlate, to noop"
PARQUET: Final = "Spark to Parquet"
SKEWED: Final = "Spark to noop, one flow 85 %"
STORE_ENGINE: Final = "store: engine, one process"
STORE_NOOP: Final = "store: Spark to noop"
_IN_ONE: Final = (ENGINE, STORE_ENGINE)
RATES: Final = {NOOP: 250, CORRELATE: 220, PARQUET: 200}
"""Megabytes a second that are aimed at, at least, on two cores."""
MOST_CPU: Final = 2.0
MOST_MEMORY: Final = 320

Works = dict[str, "Callable[[], object]"]


def session(memory: str, more: Sequence[str]) -> SparkSession:
    """Start a session of two threads."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its packages hold the data source
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # G1 takes a quarter more CPU in all
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    } | dict(setting.split("=", 1) for setting in more)
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _engine(path: Path, frames: list[int]) -> None:
    decoder = Decoder(str(path))
    for _ in decoder:
        pass
    frames[:] = [decoder.totals.frames]


def _store_engine(root: Path) -> None:
    """The rows of a store as record batches, with the columns that Spark reads by default."""
    columns = [name for name in default_columns() if name != "store"]
    for scan in OpenedStore([root]).scans():
        scan.block_size = BLOCK_SIZE
        for rows in passing_rows(scan, Selection(), TopicNames()):
            record_batch(rows, columns)


def _noop(frames: DataFrame) -> None:
    frames.write.format("noop").mode("overwrite").save()


def _rounds(works: Works, rounds: int) -> dict[str, list[Spent]]:
    """Run everything in turn; round 0 does not count."""
    spent: dict[str, list[Spent]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            spent_once = measure(work)
            if number:
                spent[name].append(spent_once)
            progress = (
                f"round {number} of {rounds}: {name}: {spent_once.wall:.1f} s, CPU"
                f" {spent_once.cpu:.1f} s, {spent_once.java:.1f} s of it JVM"
            )
            print(progress, file=sys.stderr)
    return spent


def _table(spent: dict[str, list[Spent]], sizes: dict[str, float]) -> None:
    """Print the cost of each candidate; the last rate assumes two idle cores."""
    print(
        f"{'medians':30} {'MB/s':>6} {'best':>6} {'CPU s':>7} {'of JVM':>7}"
        f" {'MB/s by CPU':>12} {'worker MB':>10}"
    )
    for name, rounds in spent.items():
        wall = statistics.median(round_.wall for round_ in rounds)
        best = min(round_.wall for round_ in rounds)
        cpu = statistics.median(round_.cpu for round_ in rounds)
        java = statistics.median(round_.java for round_ in rounds)
        worker = max(round_.worker for round_ in rounds) if name not in _IN_ONE else 0
        cores = 1 if name in _IN_ONE else 2
        size = sizes[name]
        print(
            f"{name:30} {size / wall:6.0f} {size / best:6.0f} {cpu:7.2f} {java:7.2f}"
            f" {size * cores / cpu:12.0f} {worker:10.0f}"
        )


def _verdict(text: str, value: float, bound: float, *, is_maximum: bool = False) -> None:
    good = value <= bound if is_maximum else value >= bound
    sign = "<=" if is_maximum else ">="
    print(f"{text:46} {value:8.2f}   target {sign} {bound:<5g} {'met' if good else 'MISSED'}")


def _verdicts(spent: dict[str, list[Spent]], sizes: dict[str, float], memory: float) -> None:
    for name, bound in RATES.items():
        wall = statistics.median(round_.wall for round_ in spent[name])
        _verdict(f"{name}, MB/s", sizes[name] / wall, bound)
    for name in (NOOP, CORRELATE, PARQUET):
        both = zip(spent[name], spent[ENGINE], strict=True)
        ratio = statistics.median(ours.cpu / engine.cpu for ours, engine in both)
        if name == NOOP:
            _verdict(f"{name}, CPU over that of the engine", ratio, MOST_CPU, is_maximum=True)
        else:
            print(f"{name + ', CPU over that of the engine':46} {ratio:8.2f}")
    if STORE_NOOP in spent:
        both = zip(spent[STORE_NOOP], spent[STORE_ENGINE], strict=True)
        ratio = statistics.median(ours.cpu / engine.cpu for ours, engine in both)
        text = f"{STORE_NOOP}, CPU over that of the engine"
        _verdict(text, ratio, MOST_CPU, is_maximum=True)
    _verdict("memory of a Python worker, one flow 85 %, MB", memory, MOST_MEMORY, is_maximum=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    import pyspark

    from pyspark_rocketwire import correlate

    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("capture", nargs="?", type=Path, help="default: a generated one of 1 GB")
    parser.add_argument("--store", type=Path, help="a store, which is read too, as by bench.store")
    parser.add_argument(
        "--stores",
        nargs="*",
        type=Path,
        metavar="STORE",
        help="stores beside the engine, and nothing else; default: the two of bench.store",
    )
    parser.add_argument(
        "--query", action="append", default=[], help="one of those of --stores; default: all"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--split-size", help="as option splitSize; default: that of the source")
    parser.add_argument("--driver-memory", default="2g")
    parser.add_argument(
        "--conf", action="append", default=[], metavar="NAME=VALUE", help="of Spark"
    )
    parser.add_argument(
        "--topics", action="store_true", help="topics beside Java's pull client, and nothing else"
    )
    options = parser.parse_args(arguments)
    if options.topics:
        from bench.spark import topics

        topics.run(options.rounds)
        return
    if options.stores is not None:
        from bench.spark import stores

        spark = session(options.driver_memory, options.conf)
        stores.run(spark, options.stores or stores.of_java(), options.rounds, options.query)
        spark.stop()
        return
    path: Path = captures.mixed() if options.capture is None else options.capture
    skewed = captures.skewed()
    spark = session(options.driver_memory, options.conf)
    reader = spark.read.format("rocketmq-pcap")
    if options.split_size is not None:
        reader = reader.option("splitSize", options.split_size)
    frames, skewed_frames = reader.load(str(path)), reader.load(str(skewed))
    count: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        works: Works = {
            SKEWED: lambda: _noop(skewed_frames),
            ENGINE: lambda: _engine(path, count),
            NOOP: lambda: _noop(frames),
            CORRELATE: lambda: _noop(correlate(frames)),
            PARQUET: lambda: frames.write.mode("overwrite").parquet(out),
        }
        if options.store is not None:
            messages = spark.read.format("rocketmq-store").load(str(options.store))
            works[STORE_ENGINE] = lambda: _store_engine(options.store)
            works[STORE_NOOP] = lambda: _noop(messages)
        # in front of the others, so that no worker is larger because of another capture
        memory = measure(works[SKEWED]).worker
        spent = _rounds(works, options.rounds)
        rows = spark.read.parquet(out).count()
    sizes = dict.fromkeys(works, path.stat().st_size / 1e6)
    if options.store is not None:
        log = sum(file.size for file in OpenedStore([options.store]).folder.commit_log)
        sizes[STORE_ENGINE] = sizes[STORE_NOOP] = log / 1e6
    sizes[SKEWED] = skewed.stat().st_size / 1e6
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python"
        f" {platform.python_version()}, "
        f"PySpark {pyspark.__version__}, local[2], driver {options.driver_memory}, splitSize"
        f" {options.split_size or 'not given'} {' '.join(options.conf)}; "
        f"{options.rounds} rounds; {path.name}, {sizes[NOOP]:.0f} MB"
    )
    _table(spent, sizes)
    _verdicts(spent, sizes, memory)
    print(f"rows: engine {count[0]}, Spark to Parquet {rows}")
    spark.stop()


if __name__ == "__main__":
    main()
