"""The brokers with Java's clients as load: one JVM for each broker, by turns in the same run.

Brokers and clients that do not have their turn are stopped (SIGSTOP), so that they take no CPU time.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from bench import machine
from bench.programs import Program, compile_java, java_command

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from bench.table import Table
    from tests.peers.cluster import JavaCluster
    from tests.peers.dev_cluster import DevCluster

PRODUCERS: Final = 16
"""``ClientBench.PRODUCERS``: each of them sends one more message when it starts."""
WARM_UP: Final = 4_000
"""Messages before the first measured one: the JVMs of broker and clients compile their code."""


def add_cost(table: Table, kind: str, what: str, count: int, cpu: float, wall: float) -> None:
    table.add(f"{what}: CPU of the broker, us", kind, cpu / count * 1e6)
    table.add(f"{what}: messages/s", kind, count / wall)


class Load:
    def __init__(self, kind: str, cluster: DevCluster | JavaCluster, classes: Path) -> None:
        self._kind = kind
        self._cluster = cluster
        self.clients = Program(java_command(classes, "ClientBench", cluster.address, "bench"))
        self._stored = 0

    @contextmanager
    def turn(self) -> Generator[None]:
        self._cluster.master.thaw()
        self.clients.thaw()
        try:
            yield
        finally:
            self.clients.freeze()
            self._cluster.master.freeze()

    def warm_up(self) -> None:
        self.clients.run("sync", WARM_UP)
        self.clients.run("producers", WARM_UP)
        self._stored += 2 * WARM_UP + PRODUCERS
        self.clients.run("push", self._stored)

    def measure(self, table: Table, messages: int) -> None:
        self._measure(table, "sync", "send, 1 Java producer", messages)
        self._measure(table, "producers", f"send, {PRODUCERS} Java producers", messages)
        self._stored += 2 * messages
        self._measure(table, "push", "consume, Java push consumer", self._stored)

    def _measure(self, table: Table, verb: str, what: str, count: int) -> None:
        pid = self._cluster.master.pid
        before = machine.cpu_seconds(pid)
        taken = self.clients.run(verb, count)
        cpu = machine.cpu_seconds(pid) - before
        add_cost(table, self._kind, what, count, cpu, taken.wall)


def measure(
    table: Table,
    clusters: Mapping[str, DevCluster | JavaCluster],
    folder: Path,
    rounds: int,
    messages: int,
) -> None:
    with ExitStack() as stack:
        classes = folder / "classes"
        classes.mkdir()
        compile_java(classes, "ClientBench")
        loads: list[Load] = []
        for kind, cluster in clusters.items():
            stack.enter_context(cluster)
            stack.callback(cluster.master.thaw)
            load = Load(kind, cluster, classes)
            loads.append(load)
            stack.callback(load.clients.end)
            with load.turn():
                load.warm_up()
        for _ in range(rounds):
            for load in loads:
                with load.turn():
                    load.measure(table, messages)
