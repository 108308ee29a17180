"""The exporter at a real broker: ``python -m bench.exporter [--topics 2000 --groups 200 --each 10]``.

Java's name server and one broker get topics of four queues with messages in each, and groups of
which each has committed offsets in some of the topics, one message behind the end. Then
``rocketwire-exporter`` runs as a process and is scraped. The table shows the seconds of each
scrape, the CPU seconds of the exporter, its peak memory, requests and series.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

import trio
from prometheus_client.parser import text_string_to_metric_families

from rocketwire.client import ClientConfig, Message, ProducerConfig, open_client, open_producer
from rocketwire.client.admin import open_admin
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topic_config import TopicConfig
from tests.support.java.cluster import JavaCluster
from tests.support.java.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable

QUEUES: Final = 4
TASKS: Final = 24
SCRAPES: Final = 4
SECONDS: Final = 900.0
BROKER: Final = "broker-a"


async def _each(items: Iterable[object], call: Callable[..., Awaitable[object]]) -> None:
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            await call(item)

    async with trio.open_nursery() as nursery:
        for _ in range(TASKS):
            nursery.start_soon(work)


async def fill(cluster: JavaCluster, version: str, topics: int, groups: int, each: int) -> None:
    """Create topics and groups, send messages and commit offsets."""
    names = [f"topic-{number:05}" for number in range(topics)]
    broker = cluster.master.address
    config = ClientConfig(namesrv_addr=(cluster.address,), mq_client_api_timeout=60.0)
    async with open_client(config) as client, open_admin(client, within=60.0) as admin:
        configs = [
            TopicConfig(topic_name=name, read_queue_nums=QUEUES, write_queue_nums=QUEUES)
            for name in names
        ]
        group_names = [f"group-{number:03}" for number in range(groups)]
        if version.startswith("5."):
            for start in range(0, topics, 500):
                await admin.topics.create_or_update_all(configs[start : start + 500], broker=broker)
        else:
            await _each(configs, partial(admin.topics.create_or_update, broker=broker))
        await _each(
            (SubscriptionGroupConfig(group_name=name) for name in group_names),
            partial(admin.groups.create_or_update, broker=broker),
        )

        async def commit(pair: tuple[int, int]) -> None:
            group, index = pair
            name = names[(group * each + index) % topics]
            for queue_id in range(QUEUES):
                queue = MessageQueue(topic=name, broker_name=BROKER, queue_id=queue_id)
                await client.brokers.update_consumer_offset(broker, group_names[group], queue, 1)

        producer_config = ProducerConfig(send_msg_timeout=60.0)
        async with open_producer(client, "bench", producer_config) as producer:

            async def send(name: str) -> None:
                for queue_id in range(QUEUES):
                    queue = MessageQueue(topic=name, broker_name=BROKER, queue_id=queue_id)
                    for _ in range(2):
                        await producer.send_to(Message(topic=name, body=b"x" * 100), queue)

            await _each(names, send)
        await _each(((g, i) for g in range(groups) for i in range(each)), commit)


@contextlib.contextmanager
def exporter(address: str, *options: str) -> Generator[tuple[str, int]]:
    """Run the exporter; gives its address and the id of its process."""
    arguments = ("-n", address, "--listen", "127.0.0.1:0", *options)
    command = (sys.executable, "-m", "rocketwire_tools.exporter", *arguments)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[-1], process.pid
        finally:
            process.terminate()


def peak_memory(pid: int) -> float:
    """Return the peak resident memory of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def measure(address: str, broker: int) -> None:
    """Scrape and print the figures."""
    limits = ("--wait", "900", "--deadline", "900", "--min-interval", "0")
    with exporter(address, *limits) as (url, pid):
        print(
            "scrape  seconds  CPU s  broker CPU s  peak MiB  requests  series  MiB of text  incomplete"
        )
        text = b""
        before, broker_before = 0.0, cpu_seconds(broker)
        for number in range(1, SCRAPES + 1):
            began = time.monotonic()
            text = urlopen(url, timeout=SECONDS).read()
            took = time.monotonic() - began
            values: dict[str, list[float]] = {}
            for line in text.decode().splitlines():
                if line.startswith("rocketmq_exporter_"):
                    name = line.partition("{")[0].partition(" ")[0]
                    values.setdefault(name, []).append(float(line.rpartition(" ")[2]))
            cpu, broker_cpu = cpu_seconds(pid), cpu_seconds(broker)
            print(
                f"{number:6}  {took:7.2f}  {cpu - before:5.2f}"
                f"  {broker_cpu - broker_before:12.2f}  {peak_memory(pid):8.0f}"
                f"  {values['rocketmq_exporter_requests'][0]:8.0f}"
                f"  {values['rocketmq_exporter_series'][0]:6.0f}  {len(text) / 2**20:11.1f}"
                f"  {values['rocketmq_exporter_part_complete'].count(0):10}"
            )
            before, broker_before = cpu, broker_cpu
        assert list(text_string_to_metric_families(text.decode()))


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=2000)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--each", type=int, default=10, help="topics of a group")
    parser.add_argument("--version", default=CURRENT, help="release of the broker")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no JVM stays behind
    pairs = arguments.groups * arguments.each
    print(
        f"broker {arguments.version}: {arguments.topics} topics of {QUEUES} queues,"
        f" {arguments.groups} groups with {arguments.each} topics each: {pairs} pairs"
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        JavaCluster(Path(folder), version=arguments.version) as cluster,
    ):
        trio.run(
            fill,
            cluster,
            arguments.version,
            arguments.topics,
            arguments.groups,
            arguments.each,
        )
        measure(cluster.address, cluster.master.pid)


if __name__ == "__main__":
    main()
