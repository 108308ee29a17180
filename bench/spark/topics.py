"""Topics in Spark beside Java's pull client and our plain pull loop: ``bench.spark --topics``.

A Java name server and a Java broker hold the topics.  Every candidate reads the same topic once in
each round; rates are megabytes of bodies for a second of CPU of the client's process.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from bench.client.programs import compiled, java_command
from rocketwire.client import Message, ProducerConfig, open_client, open_producer
from rocketwire.client.admin.admin import Admin
from rocketwire.errors import TopicRouteNotFoundError
from rocketwire.messages.topic_config import TopicConfig
from rocketwire_tools.spark.topics.cluster import Cluster
from rocketwire_tools.spark.topics.connection import Connection
from rocketwire_tools.spark.topics.options import Edge, Settings
from rocketwire_tools.spark.topics.streaming import Stream
from tests.support.java.peers import JavaBroker, JavaNameServer

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rocketwire.client import ClientInstance

SOURCE: Final = Path(__file__).parents[1] / "java" / "PullBench.java"
SIZES: Final = {1024: 200_000, 4096: 60_000}
"""Bytes of a body → number of messages."""
QUEUES: Final = 4
IDLE_QUEUES: Final = 512
TRIGGERS: Final = 40
JAVA: Final = "Java's pull client"
PLAIN: Final = "our plain pull loop"
WORKER: Final = "a worker of Spark"
_BATCH: Final = 200


class Read(NamedTuple):
    """One read of a topic.

    Attributes:
        messages: their number.
        size: bytes of their bodies.
        cpu: nanoseconds of the client's process.
        memory: largest resident memory of the process so far, in kilobytes; 0 if not known.
    """

    messages: int
    size: int
    cpu: int
    memory: int = 0

    @property
    def rate(self) -> float:
        """Megabytes of bodies for a second of CPU."""
        return self.size * 1000 / self.cpu


class Reader:
    """A process that reads a topic for each line."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self._line() != "ready":
            raise SystemExit(f"{command[0]} did not start")

    def _line(self) -> str:
        if self._process.stdout is None:
            raise SystemExit("no output")
        return self._process.stdout.readline().strip()

    def read(self) -> Read:
        """Read the topic."""
        if self._process.stdin is None:
            raise SystemExit("no input")
        self._process.stdin.write("all\n")
        self._process.stdin.flush()
        return Read(*map(int, self._line().split()))

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def _cluster(folder: Path) -> Generator[str]:
    """A Java name server and a Java broker; the address of the name server."""
    (folder / "ns").mkdir()
    (folder / "broker").mkdir()
    with JavaNameServer(folder / "ns") as server:
        broker = JavaBroker(folder / "broker", [server.address], jvm=["-Xmx1g"])
        broker.start()
        try:
            broker.wait_registered(server.port)
            yield server.address
        finally:
            broker.kill()


async def _fill(name_servers: str, size: int, count: int) -> str:
    topic = f"bench-{size}"
    async with open_client(name_servers) as client:
        await _create(client, topic, QUEUES)
        async with open_producer(
            client, "bench-fill", ProducerConfig(send_msg_timeout=30)
        ) as producer:
            body = bytes(range(256)) * (size // 256)
            for first in range(0, count, _BATCH):
                await producer.send_many(
                    [
                        Message(topic, body, tags=f"T{number % 2}", keys=(f"k{number}",))
                        for number in range(first, min(first + _BATCH, count))
                    ]
                )
    return topic


async def _create(client: ClientInstance, topic: str, queues: int) -> None:
    config = TopicConfig(topic_name=topic, read_queue_nums=queues, write_queue_nums=queues)
    await Admin(client).topics.create_or_update(config, cluster="DefaultCluster")
    while True:  # brokers register a topic a moment later
        with contextlib.suppress(TopicRouteNotFoundError):
            await client.refresh_route(topic)
            return
        await trio.sleep(0.1)


def _trigger(name_servers: str) -> tuple[float, float]:
    """Milliseconds that a trigger of a stream with idle queues takes in the driver: CPU, and wall."""

    async def create() -> None:
        async with open_client(name_servers) as client:
            await _create(client, "bench-idle", IDLE_QUEUES)

    trio.run(create)
    settings = Settings(
        connection=Connection(name_servers=name_servers),
        topics=("bench-idle",),
        start=Edge(everywhere=-2),
    )
    stream = Stream(settings, Cluster(settings))
    start = stream.initial()
    times: list[float] = []
    cpu = time.process_time()
    for _ in range(TRIGGERS):
        before = time.perf_counter()
        stream.latest(start)
        times.append((time.perf_counter() - before) * 1000)
    cpu = (time.process_time() - cpu) * 1000 / TRIGGERS
    return cpu, statistics.median(times)


def _verdict(text: str, value: float, bound: float, *, is_maximum: bool = False) -> None:
    good = value <= bound if is_maximum else value >= bound
    sign = "<=" if is_maximum else ">="
    print(f"{text:58} {value:8.2f}   target {sign} {bound:<5g} {'met' if good else 'MISSED'}")


def run(rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        classes = compiled(Path(folder), SOURCE)
        with _cluster(Path(folder)) as name_servers:
            cpu, wall = _trigger(name_servers)
            _verdict(f"{IDLE_QUEUES} idle queues, ms of CPU a trigger", cpu, 50, is_maximum=True)
            _verdict(f"{IDLE_QUEUES} idle queues, ms a trigger", wall, 50, is_maximum=True)
            for size, count in SIZES.items():
                topic = trio.run(_fill, name_servers, size, count)
                _compare(classes, name_servers, topic, size, rounds)


def _compare(classes: Path, name_servers: str, topic: str, size: int, rounds: int) -> None:
    ours = [sys.executable, "-m", "bench.spark.topic_reader"]
    readers = {
        JAVA: Reader(java_command(classes, name_servers, topic, "PullBench")),
        PLAIN: Reader([*ours, "plain", name_servers, topic]),
        WORKER: Reader([*ours, "worker", name_servers, topic]),
    }
    reads: dict[str, list[Read]] = {name: [] for name in readers}
    try:
        for number in range(rounds + 2):
            for name, reader in readers.items():
                read = reader.read()
                if number >= 2:  # the JVM compiles in the first ones
                    reads[name].append(read)
                print(f"round {number}, {name}: {read.rate:.0f} MB/s", file=sys.stderr)
    finally:
        for reader in readers.values():
            reader.end()
    print(f"bodies of {size} bytes, {reads[JAVA][0].messages} messages, {rounds} rounds:")
    for name, of_name in reads.items():
        rates = [read.rate for read in of_name]
        print(f"  {name:24} {statistics.median(rates):6.0f} MB/s a core, best {max(rates):.0f}")
    to_java = statistics.median(
        one.rate / java.rate for one, java in zip(reads[WORKER], reads[JAVA], strict=True)
    )
    to_plain = statistics.median(
        one.cpu / plain.cpu for one, plain in zip(reads[WORKER], reads[PLAIN], strict=True)
    )
    rate = statistics.median(read.rate for read in reads[WORKER])
    if size == min(SIZES):
        _verdict("worker over Java's pull client, MB/s a core", to_java, 0.5)
    else:
        _verdict("worker, MB/s a core", rate, 150)
    _verdict("worker over our plain pull loop, CPU", to_plain, 1.5, is_maximum=True)
    memory = max(read.memory for read in reads[WORKER]) / 1024
    _verdict("memory of the worker, MB", memory, 300, is_maximum=True)
