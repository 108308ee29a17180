"""Compare the broker for development with Java's: ``python -m bench.broker [--rounds N]``.

Each round starts every broker in turn, ours also with a folder (``--store``), and gives it the same
work from our client in this process: messages of 1 KiB one after the other, from 16 tasks at once,
and their consumption by a push consumer. CPU times are those of the broker's process; ours has the
name server in it. Then Java's own clients are the load, by turns in one run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from bench import machine
from bench.broker import java_load
from bench.table import Table
from rocketwire.client import (
    ClientConfig,
    ConsumeConcurrentlyContext,
    Message,
    ProducerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from tests.peers.cluster import JavaCluster
from tests.peers.dev_cluster import DevCluster

if TYPE_CHECKING:
    from collections.abc import Generator

    from rocketwire.wire.message.stored import StoredMessage

OURS, STORED, JAVA = "ours", "ours, stored", "Java"
TASKS: Final = 16
BODY: Final = os.urandom(1024)
PATIENCE: Final = 120.0
MIB: Final = 1 << 20
SETTINGS: Final = ProducerConfig(send_msg_timeout=PATIENCE)


class Bench:
    def __init__(self, kind: str, table: Table, messages: int) -> None:
        self._kind = kind
        self._table = table
        self._messages = messages
        self._pid = 0

    def run(self) -> None:
        with ExitStack() as stack:
            cluster = open_cluster(
                self._kind, Path(stack.enter_context(tempfile.TemporaryDirectory()))
            )
            start = time.monotonic()
            stack.enter_context(cluster)
            self._pid = cluster.master.pid
            trio.run(self._use, cluster.address, start)
            start = time.monotonic()
            cluster.master.stop(60)
            self._add("stop, s", time.monotonic() - start)

    def _add(self, row: str, value: float) -> None:
        self._table.add(row, self._kind, value)

    async def _use(self, address: str, start: float) -> None:
        config = ClientConfig(
            namesrv_addr=address, mq_client_api_timeout=PATIENCE, connect_timeout=PATIENCE
        )
        async with open_client(config) as client:
            async with open_producer(client, "bench-producer", SETTINGS) as producer:

                async def send(count: int) -> None:
                    for _ in range(count):
                        await producer.send(Message("bench", BODY))

                await send(1)
                self._add("start to first acknowledged message, s", time.monotonic() - start)
                self._add("CPU until then, s", machine.cpu_seconds(self._pid))
                self._add("memory then, MiB", machine.resident_bytes(self._pid) / MIB)
                await send(500)  # Java's code is compiled meanwhile
                with self._cost("send, one after the other", self._messages):
                    await send(self._messages)
                with self._cost(f"send, {TASKS} tasks", self._messages):
                    async with trio.open_nursery() as nursery:
                        for _ in range(TASKS):
                            nursery.start_soon(send, self._messages // TASKS)
            total, all_received = 2 * self._messages, trio.Event()
            received = 0

            async def handle(
                batch: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
            ) -> None:
                nonlocal received
                received += len(batch)
                if received >= total:
                    all_received.set()

            with self._cost("consume", total), trio.fail_after(PATIENCE):
                async with open_push_consumer(client, "bench-reader", {"bench": "*"}, handle):
                    await all_received.wait()
            memory = machine.resident_bytes(self._pid) / MIB
            self._add(f"memory with {total:,} messages of 1 KiB, MiB", memory)

    @contextmanager
    def _cost(self, what: str, count: int) -> Generator[None]:
        cpu, start = machine.cpu_seconds(self._pid), time.monotonic()
        yield
        cpu, wall = machine.cpu_seconds(self._pid) - cpu, time.monotonic() - start
        java_load.add_cost(self._table, self._kind, what, count, cpu, wall)


def open_cluster(kind: str, folder: Path) -> DevCluster | JavaCluster:
    if kind == JAVA:
        return JavaCluster(folder)
    return DevCluster(folder, {"storePathRootDir": "store"} if kind == STORED else None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.broker", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=10_000, help="of each measurement")
    options = parser.parse_args()
    kinds = (OURS, STORED, JAVA)
    table = Table(kinds, JAVA)
    print(machine.describe())
    for _ in range(options.rounds):
        for kind in kinds:
            Bench(kind, table, options.messages).run()
    with tempfile.TemporaryDirectory() as scratch:
        clusters = {kind: open_cluster(kind, Path(scratch, kind)) for kind in kinds}
        java_load.measure(table, clusters, Path(scratch), options.rounds, options.messages)
    table.print()


if __name__ == "__main__":
    main()
