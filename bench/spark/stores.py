"""Stores in Spark beside the engine: ``python -m bench.spark --stores``.

Java's message store writes two stores, as for ``python -m bench.store``. The engine makes the
columns of a query from the log as record batches, in one process; Spark runs the query. Both do so
in turn in one run. Figures are CPU seconds, user and system, of a warm session: the first rounds do
not count, in which the JVM compiles and the workers start.

``floor`` is the same query on the engine's own record batches, which a data source of a few lines
sends from memory-mapped files: what Spark takes for the rows of any Python data source. ``Parquet``
is the same query on a Parquet file of these rows, which only the JVM reads.

The target is that all of Spark takes at most twice the CPU of the engine. What the source answers
for are the Python processes, workers and planners; the JVM's part is that of the floor. So the
report judges both, and compares Spark with engine and floor together: 1 means that the source
costs nothing beside the two.
"""

from __future__ import annotations

import importlib
import os
import platform
import statistics
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.spark.floor import FloorSource
from bench.spark.spent import measure
from rocketwire_tools.spark.stores.columns import default_columns
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import parts
from rocketwire_tools.spark.stores.reading import read
from rocketwire_tools.store.formats.arrow_rows import pa
from rocketwire_tools.store.opened import OpenedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from bench.spark.spent import Spent

MOST_CPU: Final = 2.0
_WARM: Final = 2

Query = tuple["Sequence[str] | None", "Callable[[DataFrame], object]"]
"""Columns that the read names, or None for all; and what is done with them."""


def _noop(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _topics(frame: DataFrame) -> None:
    frame.groupBy("topic").count().collect()


def _bodies(frame: DataFrame) -> None:
    frame.selectExpr("sum(length(body))").collect()


QUERIES: Final[dict[str, Query]] = {
    "count by topic": (("topic",), _topics),
    "sum(length(body))": (("body",), _bodies),
    "four columns to noop": (("topic", "tags", "queue_id", "store_timestamp"), _noop),
    "all columns to noop": (None, _noop),
    "count by topic, columns not named": (None, _topics),
}


def _names(query: Query) -> list[str]:
    return list(query[0] or default_columns())


def _frame(spark: SparkSession, kind: str, path: str, names: Sequence[str]) -> DataFrame:
    types = default_columns()
    reader = spark.read.format(kind).schema(", ".join(f"{name} {types[name]}" for name in names))
    return reader.load(path)


def _planned(frame: Callable[[], DataFrame], act: Callable[[DataFrame], object]) -> None:
    """Plan and run a query: the reader of a frame that exists is planned already."""
    act(frame())


def _engine(root: Path, names: Sequence[str]) -> None:
    """The record batches of a query, made and dropped."""
    settings = read_options({"path": str(root)})
    for part in parts(settings, names):
        for _ in read(part, names, settings):
            pass


def _kept(root: Path, folder: Path, names: Sequence[str]) -> None:
    """Write the record batches of a query: a file of Arrow for each part, and one of Parquet."""
    parquet: Any = importlib.import_module("pyarrow.parquet")  # it has no types

    settings = read_options({"path": str(root)})
    (folder / "arrow").mkdir(parents=True)
    (folder / "parquet").mkdir()
    for number, part in enumerate(parts(settings, names)):
        out: Any = None
        writer: Any = None
        for batch in read(part, names, settings):
            if out is None:
                out = pa.ipc.new_file(str(folder / "arrow" / f"{number}.arrow"), batch.schema)
                name = str(folder / "parquet" / f"{number}.parquet")
                writer = parquet.ParquetWriter(name, batch.schema, compression="snappy")
            out.write_batch(batch)
            writer.write_batch(batch)
        out.close()
        writer.close()


def of_java() -> list[Path]:
    """The stores of ``bench.store``, which Java writes if they do not exist."""
    from bench.store.__main__ import ROOT
    from bench.store.stores import BODIES, Java

    folder = ROOT / ".cache" / "bench-store"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        java = Java(folder, Path(scratch), lambda line: print(line, file=sys.stderr))
        return [java.store(name).root for name in BODIES]


class _Bench:
    """The works of one store, and their costs."""

    def __init__(
        self, spark: SparkSession, root: Path, scratch: Path, names: Sequence[str]
    ) -> None:
        self.works: dict[tuple[str, str], Callable[[], object]] = {}
        self.spent: dict[tuple[str, str], list[Spent]] = {}
        for name in names:
            query = QUERIES[name]
            columns, act = _names(query), query[1]
            folder = scratch / name.replace(" ", "-")
            _kept(root, folder, columns)
            sources = {
                "Spark": ("rocketmq-store", root),
                "floor": (FloorSource.name(), folder / "arrow"),
                "Parquet": ("parquet", folder / "parquet"),
            }
            self.works[name, "engine"] = partial(_engine, root, columns)
            for kind, (source, path) in sources.items():
                frame = partial(_frame, spark, source, str(path), columns)
                self.works[name, kind] = partial(_planned, frame, act)

    def run(self, rounds: int) -> None:
        """Run all in turn."""
        for number in range(_WARM + rounds):
            for work, act in self.works.items():
                spent = measure(act)
                if work[1] == "engine":  # the session only idles beside it
                    spent = replace(spent, cpu=spent.driver, java=0, workers=0, planners=0)
                if number >= _WARM:
                    self.spent.setdefault(work, []).append(spent)
                line = (
                    f"round {number}, {work[0]}, {work[1]}: CPU {spent.cpu:.2f} s, workers"
                    f" {spent.workers:.2f}, planners {spent.planners:.2f}, JVM {spent.java:.2f}"
                )
                print(line, file=sys.stderr, flush=True)

    def report(self) -> None:
        """Print the parts of each work, and whether the target is met."""
        print(
            f"{'':34} {'':8} {'CPU s':>6} {'/engine':>8} {'workers':>8} {'planner':>8}"
            f" {'JVM':>6} {'of it compiling':>16} {'collecting':>11}"
        )
        for (name, kind), rounds in self.spent.items():
            ratio = self._ratio(name, [spent.cpu for spent in rounds], "engine")
            print(
                f"{name:34} {kind:8} {_of(rounds, 'cpu'):6.2f} {ratio:8.2f}"
                f" {_of(rounds, 'workers'):8.2f} {_of(rounds, 'planners'):8.2f}"
                f" {_of(rounds, 'java'):6.2f} {_of(rounds, 'compiling'):16.2f}"
                f" {_of(rounds, 'collecting'):11.2f}"
            )
        for name in dict.fromkeys(name for name, _ in self.spent):
            rounds = self.spent[name, "Spark"]
            python = self._ratio(name, [one.workers + one.planners for one in rounds], "engine")
            every = [spent.cpu for spent in rounds]
            _verdict(f"{name}: Python / engine", python, MOST_CPU)
            _verdict(f"{name}: all / engine", self._ratio(name, every, "engine"), MOST_CPU)
            _verdict(f"{name}: all / (engine + floor)", self._ratio(name, every, "engine", "floor"))

    def _ratio(self, name: str, seconds: Sequence[float], *kinds: str) -> float:
        """Median of what each round takes over what other works took in the same round."""
        others = zip(*(self.spent[name, kind] for kind in kinds), strict=True)
        sums = [sum(spent.cpu for spent in of_round) for of_round in others]
        ratios: list[float] = [one / other for one, other in zip(seconds, sums, strict=True)]
        return statistics.median(ratios)


def _verdict(text: str, value: float, bound: float | None = None) -> None:
    line = f"{text:70} {value:5.2f}"
    if bound is not None:
        line += f"   target <= {bound:g}   {'met' if value <= bound else 'MISSED'}"
    print(line)


def _of(rounds: Sequence[Spent], name: str) -> float:
    values: list[float] = [getattr(spent, name) for spent in rounds]
    return statistics.median(values)


def run(spark: SparkSession, roots: Sequence[Path], rounds: int, queries: Sequence[str]) -> None:
    """Measure and print."""
    spark.dataSource.register(FloorSource)
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python"
        f" {platform.python_version()}, PySpark {spark.version}, local[2]; {rounds} rounds"
    )
    for root in roots:
        size = sum(file.size for file in OpenedStore([root]).folder.commit_log)
        with tempfile.TemporaryDirectory() as folder:
            bench = _Bench(spark, root, Path(folder), queries or list(QUERIES))
            bench.run(rounds)
        print(f"\n{root.name}, {size / 1e6:,.0f} MB:")
        bench.report()
