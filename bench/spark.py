"""Compare Spark with programs that do the same work: ``python -m bench.spark [--rounds 3]``.

Captures and stores are compared with ``rocketwire-pcap decode`` and ``rocketwire-store export``, reads
of topics with Java's pull client, writes with our producer. The session is warm, and CPU is that of
all processes: the driver, the JVM and the Python workers. Cells are medians of the rounds.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from bench import machine
from bench.pcap.captures import Folder
from bench.programs import Program, compile_java, java_command
from bench.spending import run
from bench.store import KEPT, store_of_java
from bench.table import Table
from rocketwire.client import ClientConfig, open_client
from rocketwire.sync import Message, open_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

SPARK: Final = "Spark"
PEER: Final = "peer"
TICKS: Final = os.sysconf("SC_CLK_TCK")
ROWS: Final = 100_000
BODY: Final = b"x" * 1024
MANY: Final = 1_000


def open_session() -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its packages hold the data sources
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # G1 takes a quarter more CPU in all
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def family_cpu() -> float:
    stats: dict[int, list[str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue  # it has ended
        stats[int(folder.name)] = text.rpartition(") ")[2].split()
    members = [os.getpid()]
    for member in members:
        members += [pid for pid, fields in stats.items() if int(fields[1]) == member]
    # user and system time, and those of children that were waited for
    ticks = sum(int(stats[pid][field]) for pid in members[1:] for field in (11, 12, 13, 14))
    return ticks / TICKS + time.process_time()


def cpu_of(work: Callable[[], object]) -> float:
    before = family_cpu()
    work()
    return family_cpu() - before


def write_nowhere(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


class Bench:
    def __init__(self, spark: SparkSession, scratch: Path) -> None:
        self._spark = spark
        self._scratch = scratch
        self.table = Table((SPARK, PEER), PEER)

    def compare_files(self, name: str, source: str, path: Path, command: list[str]) -> None:
        row = f"{name} to Parquet, CPU s"
        frame = self._spark.read.format(source).load(str(path))
        write = frame.write.mode("overwrite")
        self.table.add(row, SPARK, cpu_of(lambda: write.parquet(f"{self._scratch}/frame")))
        target = self._scratch / "out.parquet"
        target.unlink(missing_ok=True)
        ours = [sys.executable, "-m", *command, "-o", str(target)]
        self.table.add(row, PEER, run(ours, self._scratch / "output").cpu)

    def compare_reads(self, name_server: str, topic: str, java: Program) -> None:
        reader = self._spark.read.format("rocketmq").option("nameServers", name_server)
        frame = reader.option("subscribe", topic).load()
        row = f"read {ROWS:,} messages of a topic, CPU s"
        self.table.add(row, SPARK, cpu_of(lambda: write_nowhere(frame)))
        java.write("all")
        self.table.add(row, PEER, int(java.read().split()[2]) / 1e9)

    def compare_writes(self, name_server: str, topic: str) -> None:
        rows = self._spark.range(0, ROWS, 1, 2).selectExpr(
            f"rpad(cast(id as string), {len(BODY)}, 'x') as body"
        )
        writer = rows.write.format("rocketmq").option("nameServers", name_server)
        writer = writer.option("topic", topic).mode("append")
        row = f"write {ROWS:,} rows to a topic, CPU s"
        self.table.add(row, SPARK, cpu_of(writer.save))
        self.table.add(row, PEER, cpu_of(lambda: send(name_server, topic)))


def send(name_server: str, topic: str) -> None:
    with open_producer(name_server, "bench-spark", send_msg_timeout=60.0) as producer:
        for _ in range(ROWS // MANY):
            producer.send_batches([Message(topic, BODY) for _ in range(MANY)])


async def create(name_server: str, topic: str) -> None:
    async with open_client(ClientConfig(namesrv_addr=name_server)) as client:
        await create_topic(client, topic)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--log-size", type=int, default=1, metavar="GIB", help="of the store")
    options = parser.parse_args()
    print(machine.describe())
    capture = Folder(lambda line: print(line, file=sys.stderr)).capture("mixed")
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rocketwire-bench-") as name:
        scratch = Path(name)
        for source in ("StoreBench", "PullBench"):
            compile_java(scratch, source)
        java = java_command(scratch, "StoreBench", options=["-Xmx1g", "-XX:+UseSerialGC"])
        store, _ = store_of_java(java, "A", options.log_size)
        spark = open_session()
        with JavaCluster(scratch / "cluster") as cluster:
            for topic in ("bench-read", "bench-write"):
                trio.run(create, cluster.address, topic)
            send(cluster.address, "bench-read")
            pull = java_command(scratch, "PullBench", cluster.address, "bench-read")
            client = Program(pull)
            client.read()  # it is ready
            try:
                bench = Bench(spark, scratch)
                for number in range(options.rounds + 1):
                    if number == 1:
                        bench = Bench(spark, scratch)  # the first round only warms the JVM up
                    decode = ["rocketwire_tools.pcap", "decode", str(capture)]
                    bench.compare_files("capture", "rocketmq-pcap", capture, decode)
                    export = ["rocketwire_tools.store", "export", str(store)]
                    bench.compare_files("store", "rocketmq-store", store, export)
                    bench.compare_reads(cluster.address, "bench-read", client)
                    bench.compare_writes(cluster.address, "bench-write")
            finally:
                client.end()
        spark.stop()
    bench.table.print()


if __name__ == "__main__":
    main()
