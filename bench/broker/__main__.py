"""The broker for development beside Java's: ``python -m bench.broker [--rounds N]``.

In each round both, and ours with a folder (``--store``), are started in turn, with their name
servers, and have the same work from our own
client in this process: messages of 1 KiB one after the other, from 16 tasks at once, and their
consumption by a push consumer. CPU times are those of the broker's process (ours has the name
server in it); they say more than rates where other programs run, and rates are bounded by the
client. Rows show the medians of the rounds.

Then Java's own clients are the load: one JVM for each broker with one producer, with 16, and with a
push consumer, by turns, and ratios of both brokers. ``--java-clients`` runs this part alone, and
``--quick`` everything with fewer messages.

``--suite`` runs 100 small tests instead, each with a fresh cluster, and some of them with Java's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from bench.broker import java_load, suite, waiting
from bench.namesrv import machine
from rocketwire.client import (
    ClientConfig,
    ConsumeConcurrentlyContext,
    Message,
    ProducerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from tests.support.java.cluster import JavaCluster
from tests.support.java.dev_cluster import DevCluster

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage

OURS: Final = "ours"
STORED: Final = "ours, stored"
JAVA: Final = "java"
MESSAGES: Final = 10_000
TASKS: Final = 16
BODY: Final = os.urandom(1024)
PATIENCE: Final = 120.0
MIB: Final = 1 << 20
MICRO: Final = 1e6

_STORED_BYTES: Final = 1_024 + 91 + len("bench") + 120
"""A message as the broker stores it: body, fixed fields, topic, and its properties roughly."""

Figures = dict[str, float]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.broker", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ours", action="store_true", help="leave Java out")
    parser.add_argument(
        "--java-clients", action="store_true", help="run only the part with Java's clients"
    )
    parser.add_argument("--quick", action="store_true", help="one round with fewer messages")
    parser.add_argument("--suite", action="store_true", help="run small tests instead")
    parser.add_argument(
        "--java-tests", type=int, default=4, help="small tests that run with Java's servers"
    )
    options = parser.parse_args()
    if options.suite:
        print("\n".join(machine.description()))
        print("\n".join(suite.lines(0 if options.ours else options.java_tests)))
        return
    kinds = (OURS, STORED) if options.ours else (OURS, STORED, JAVA)
    rounds = 1 if options.quick else options.rounds
    messages = MESSAGES // 5 if options.quick else MESSAGES
    print("\n".join(machine.description()), flush=True)
    if not options.java_clients:
        _print_rounds(kinds, rounds, messages)
    with tempfile.TemporaryDirectory() as scratch:
        clusters = {kind: partial(_cluster, kind) for kind in kinds}
        print("\n".join(java_load.lines(clusters, Path(scratch), rounds, messages)))


def _print_rounds(kinds: Sequence[str], rounds: int, messages: int) -> None:
    """Measure with our client, and print a table."""
    figures: dict[str, dict[str, list[float]]] = {kind: defaultdict(list) for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            for name, value in _measure(kind, messages).items():
                figures[kind][name].append(value)
    width = max(map(len, figures[OURS]))
    print(f"{'':{width}}" + "".join(f"{kind:>14}" for kind in kinds))
    for name in figures[OURS]:
        medians = [statistics.median(figures[kind][name]) for kind in kinds]
        print(f"{name:{width}}" + "".join(f"{median:14,.1f}" for median in medians), flush=True)


def _measure(kind: str, messages: int) -> Figures:
    """Start a broker, use it, and stop it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = _cluster(kind, folder)
        begun = time.monotonic()
        stack.enter_context(cluster)
        figures: Figures = {"start to registered, s": time.monotonic() - begun}
        pid = cluster.master.pid
        trio.run(_first_message, cluster.address)
        figures["start to first acknowledged message, s"] = time.monotonic() - begun
        figures["CPU until then, s"] = machine.cpu_seconds(pid)
        figures["memory then, MiB"] = machine.resident_bytes(pid) / MIB
        trio.run(_use, cluster.address, pid, figures, messages)
        memory = machine.resident_bytes(pid) / MIB
        figures[f"memory with {2 * messages:,} messages of 1 KiB, MiB"] = memory
        more = (memory - figures["memory then, MiB"]) * MIB
        stored = (2 * messages + 500) * _STORED_BYTES
        figures["memory for messages / bytes of messages"] = more / stored
        figures["CPU while 1,000 pulls wait, %"] = trio.run(
            waiting.idle_share, cluster.master.address, pid
        )
        median, slow = trio.run(waiting.paced, cluster.address)
        figures["send at 1,000/s: median, ms"] = median
        figures["send at 1,000/s: 99th percentile, ms"] = slow
        begun = time.monotonic()
        cluster.master.stop(60)
        figures["stop, s"] = time.monotonic() - begun
        return figures


def _cluster(kind: str, folder: Path) -> DevCluster | JavaCluster:
    if kind == JAVA:
        return JavaCluster(folder)
    return DevCluster(folder, {"storePathRootDir": "store"} if kind == STORED else None)


def _config(address: str) -> ClientConfig:
    return ClientConfig(
        namesrv_addr=address, mq_client_api_timeout=PATIENCE, connect_timeout=PATIENCE
    )


async def _first_message(address: str) -> None:
    settings = ProducerConfig(send_msg_timeout=PATIENCE)
    async with open_producer(_config(address), "first", settings) as producer:
        await producer.send(Message("bench", BODY))


async def _use(address: str, pid: int, figures: Figures, messages: int) -> None:
    settings = ProducerConfig(send_msg_timeout=PATIENCE)
    async with open_client(_config(address)) as client:
        async with open_producer(client, "bench-producer", settings) as producer:

            async def send(count: int) -> None:
                for _ in range(count):
                    await producer.send(Message("bench", BODY))

            await send(500)  # Java's code is compiled meanwhile
            before, begun = machine.cpu_seconds(pid), time.monotonic()
            await send(messages)
            _note(figures, "send, one after the other", before, begun, pid, messages)
            before, begun = machine.cpu_seconds(pid), time.monotonic()
            async with trio.open_nursery() as nursery:
                for _ in range(TASKS):
                    nursery.start_soon(send, messages // TASKS)
            _note(figures, f"send, {TASKS} tasks", before, begun, pid, messages)

        received, all_received = 0, trio.Event()

        async def handle(
            batch: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> None:
            nonlocal received
            received += len(batch)
            if received >= 2 * messages:
                all_received.set()

        before, begun = machine.cpu_seconds(pid), time.monotonic()
        async with open_push_consumer(client, "bench-reader", {"bench": "*"}, handle):
            with trio.fail_after(PATIENCE):
                await all_received.wait()
            _note(figures, "consume", before, begun, pid, 2 * messages)


def _note(figures: Figures, what: str, before: float, begun: float, pid: int, count: int) -> None:
    figures[f"{what}: CPU of the broker, us"] = (machine.cpu_seconds(pid) - before) / count * MICRO
    figures[f"{what}: messages/s"] = count / (time.monotonic() - begun)


if __name__ == "__main__":
    main()
