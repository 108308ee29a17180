"""Both brokers with Java's clients as load: one JVM for each broker, and turns in the same run.

The broker, and the clients, that do not have their turn are stopped (SIGSTOP), so that they take no
CPU time. CPU times are those of the broker's process, user and system.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.client.programs import Program, compiled, java_command
from bench.namesrv import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

    from tests.support.java.cluster import JavaCluster
    from tests.support.java.dev_cluster import DevCluster

    Cluster = DevCluster | JavaCluster

TOPIC: Final = "bench"
PRODUCERS: Final = 16
"""``ClientBench.PRODUCERS``: each of them sends one more message when it starts."""
WARM_UP: Final = 4_000
"""Messages before the first measured one: the JVMs of broker and clients compile their code."""
MICRO: Final = 1e6
SEND: Final = "send, 1 Java producer"
SEND_MANY: Final = f"send, {PRODUCERS} Java producers"
CONSUME: Final = "consume, Java push consumer"
UNITS: Final = {"rate": "messages/s", "cpu": "CPU, us"}


class _Cost(NamedTuple):
    """The cost of some work.

    Attributes:
        rate: messages per second.
        cpu: microseconds of the broker's CPU per message.
    """

    rate: float
    cpu: float


class _Load:
    """A broker with its clients.

    Args:
        cluster: the running broker.
        classes: folder of the compiled clients.
    """

    def __init__(self, cluster: Cluster, classes: Path) -> None:
        self.cluster = cluster
        self.clients = Program(java_command(classes, cluster.address, TOPIC))
        self.stored = 0

    @contextmanager
    def turn(self) -> Generator[None]:
        """Let the broker and its clients run."""
        self.cluster.master.thaw()
        self.clients.thaw()
        try:
            yield
        finally:
            self.clients.freeze()
            self.cluster.master.freeze()

    def warm_up(self) -> None:
        """Use every code path."""
        self.clients.run("sync", WARM_UP)
        self.clients.run("producers", WARM_UP)
        self.stored += 2 * WARM_UP + PRODUCERS
        self.clients.run("push", self.stored)

    def measure(self, messages: int) -> dict[str, _Cost]:
        """Return the costs of sends, and of the consumption of all that is stored."""
        figures = {
            SEND: self._cost("sync", messages),
            SEND_MANY: self._cost("producers", messages),
        }
        self.stored += 2 * messages
        figures[CONSUME] = self._cost("push", self.stored)
        return figures

    def _cost(self, verb: str, count: int) -> _Cost:
        pid = self.cluster.master.pid
        before = machine.cpu_seconds(pid)
        taken = self.clients.run(verb, count)
        return _Cost(count / taken.wall, (machine.cpu_seconds(pid) - before) / count * MICRO)


def lines(
    clusters: Mapping[str, Callable[[Path], Cluster]], folder: Path, rounds: int, messages: int
) -> list[str]:
    """Measure, and return the lines of a table.

    Args:
        clusters: by the names of the columns, what makes each broker, with a folder for its files;
            ratios are those to the last one.
        folder: for the files of all.
        rounds: number of turns of each.
        messages: number of messages of each measurement of sends.
    """
    figures: dict[str, dict[str, list[_Cost]]] = {name: defaultdict(list) for name in clusters}
    with ExitStack() as stack:
        classes = folder / "classes"
        classes.mkdir()
        compiled(classes)
        loads: dict[str, _Load] = {}
        for name, cluster in clusters.items():
            running = cluster(folder / name)
            stack.enter_context(running)
            stack.callback(running.master.thaw)
            load = loads[name] = _Load(running, classes)
            stack.callback(load.clients.end)
            with load.turn():
                load.warm_up()
        for _ in range(rounds):
            for name, load in loads.items():
                with load.turn():
                    for what, cost in load.measure(messages).items():
                        figures[name][what].append(cost)
    return _table(figures)


def _table(figures: Mapping[str, Mapping[str, list[_Cost]]]) -> list[str]:
    """Return a row for each figure: the medians, and the ratios to the last column."""
    *_, base = figures
    names = list(figures)
    others = names[:-1]
    rows = [
        f"{'':42}"
        + "".join(f"{name:>14}" for name in names)
        + "".join(f"{name + ' / ' + base:>22}" for name in others)
    ]
    for what in figures[base]:
        for field in _Cost._fields:
            medians = {
                name: statistics.median(getattr(cost, field) for cost in figures[name][what])
                for name in names
            }
            rows.append(
                f"{what + ': ' + UNITS[field]:42}"
                + "".join(f"{medians[name]:14,.1f}" for name in names)
                + "".join(f"{medians[name] / medians[base]:22.2f}" for name in others)
            )
    return rows
