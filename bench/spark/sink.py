"""The sink of ``format("rocketmq")`` beside our plain producer: ``python -m bench.spark.sink``.

Both send the same rows to a broker for development in another process, in turn in one run: the
producer as messages that exist, the sink as record batches of Arrow, as a Spark worker gets them.
CPU is that of this process. ``--spark`` writes the rows with a session, too, and prints the wall
time and the CPU of all processes.
"""

from __future__ import annotations

import argparse
import importlib
import re
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import Message, open_producer
from rocketwire_tools.spark.topics.sink.options import SinkSettings, read_sink_options
from rocketwire_tools.spark.topics.sink.task import write_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ROWS_OF_BATCH: Final = 10_000
"""Rows of a record batch, Spark's default."""


@contextmanager
def dev_broker() -> Generator[str]:
    """Run a broker for development in another process; yields its name server."""
    command = [sys.executable, "-m", "rocketwire_broker", "dev", "--port", "0"]
    command += ["--broker-port", "0", "--status-port", "-1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout or ():
            ready = re.search(r"ready: name server ([^ ,]+)", line)
            if ready:
                yield ready[1]
                return
        raise SystemExit("the broker did not start")
    finally:
        process.terminate()
        process.wait()


def record_batches(rows: int, size: int) -> list[Any]:
    """Return rows with a body, tags and keys."""
    pa: Any = importlib.import_module("pyarrow")
    batches: list[Any] = []
    for start in range(0, rows, ROWS_OF_BATCH):
        numbers = range(start, min(rows, start + ROWS_OF_BATCH))
        bodies = [str(number).encode().ljust(size, b"x") for number in numbers]
        keys = [f"key-{number}" for number in numbers]
        batches.append(pa.record_batch({"body": bodies, "tags": ["t"] * len(bodies), "keys": keys}))
    return batches


def plain_sends(settings: SinkSettings, messages: list[Message]) -> None:
    """Send messages with a plain producer: batches of the sink's size, several under way."""

    async def send() -> None:
        async with open_producer(settings.connection.client_config(), "bench") as producer:
            parts = iter(
                messages[start : start + ROWS_OF_BATCH]
                for start in range(0, len(messages), ROWS_OF_BATCH)
            )

            async def send_some() -> None:
                for part in parts:
                    await producer.send_batches(part, max_size=settings.batch_size)

            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(send_some)

    trio.run(send)


def cpu_of(work: Callable[[], object]) -> float:
    """Return the CPU seconds of some work in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def with_spark(name_servers: str, rows: int, size: int) -> None:
    """Write rows with a session of two threads, and print what it costs."""
    from bench.spark.__main__ import session
    from bench.spark.spent import measure

    spark = session("1g", ())
    frame = spark.range(0, rows, 1, 2).selectExpr(
        f"rpad(cast(id as string), {size}, 'x') as body", "'t' as tags",
        "concat('key-', cast(id as string)) as keys",
    )  # fmt: skip
    writer = frame.write.format("rocketmq").option("nameServers", name_servers)
    writer = writer.option("topic", "bench-spark").mode("append")
    writer.save()  # starts workers and lets the JVM compile
    spent = measure(writer.save)
    print(
        f"Spark, local[2]: {rows / spent.wall:,.0f} rows/s, {spent.cpu / rows * 1e6:.1f} us of CPU"
        f" a row, {spent.java / rows * 1e6:.1f} of it JVM; a worker has {spent.worker:.0f} MB"
    )
    spark.stop()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.spark.sink", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=1024, help="bytes of a body")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spark", action="store_true", help="write with a session, too")
    options = parser.parse_args()
    batches = record_batches(options.rows, options.size)
    messages = [
        Message("bench", row["body"], tags=row["tags"], keys=row["keys"])
        for batch in batches
        for row in batch.to_pylist()
    ]
    names = ("body", "tags", "keys")
    with dev_broker() as name_servers:
        common = {"nameServers": name_servers, "topic": "bench"}
        plain = read_sink_options(common)
        stable = read_sink_options({**common, "ids": "stable"})
        works: dict[str, Callable[[], object]] = {
            "plain producer": lambda: plain_sends(plain, messages),
            "sink": lambda: write_partition(names, plain, iter(batches), "s", 0),
            "sink, ids=stable": lambda: write_partition(names, stable, iter(batches), "s", 0),
        }
        spent: dict[str, list[float]] = {name: [] for name in works}
        for number in range(options.rounds + 1):
            for name, work in works.items():
                seconds = cpu_of(work)
                if number:  # the first round imports and connects
                    spent[name].append(seconds)
        base = spent["plain producer"]
        for name, seconds_of_rounds in spent.items():
            median = statistics.median(seconds_of_rounds)
            ratio = statistics.median(a / b for a, b in zip(seconds_of_rounds, base, strict=True))
            print(
                f"{name:18} {median / options.rows * 1e6:6.1f} us of CPU a row,"
                f" {options.rows * options.size / median / 1e6:6.0f} MB/s a core,"
                f" {ratio:.2f}x the producer"
            )
        if options.spark:
            with_spark(name_servers, options.rows, options.size)


if __name__ == "__main__":
    main()
