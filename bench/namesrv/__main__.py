"""Compare the name server with Java's: ``python -m bench.namesrv [--quick]``.

Both run at the same time, have the same brokers and topics, and are measured in turn; figures are
medians of the rounds. Java's reads are measured on one CPU, as ours; its latencies, registrations,
start and memory with all CPUs, where they are better.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench import machine
from bench.namesrv import routes
from bench.namesrv.brokers import Brokers, feed
from bench.namesrv.load import Load, LoadGenerator, SampleError, Spinner
from bench.namesrv.servers import JAVA, JAVA_ON_ALL_CPUS, OURS, Server, build_programs
from bench.table import Table
from tests.peers import cache as java_cache

if TYPE_CHECKING:
    from bench.machine import Cpus
    from bench.namesrv.routes import Topics

READS: Final = (
    ("50", "1", 1),
    ("200", "1", 1),
    ("50", "32", 1),
    ("1", "1", 1),
    ("50", "1", 16),
    ("50", "1", 128),
)
"""Connections, requests under way on each, brokers of the topics."""
CHANGES: Final = {
    "same": "unchanged",
    "bump": "one topic changed",
    "all": "all topics changed",
}
FORMS: Final = {"json": "JSON", "zip": "compressed"}
OPEN_RATE: Final = 5_000
REGISTRATION_RATE: Final = {"same": 10.0, "bump": 10.0, "all": 5.0}
"""By change; Java writes 10,000 log lines for each registration of which all topics changed."""
REGISTERING: Final = 2
"""Brokers that register in turn while nothing else happens."""
SETTLE_SECONDS: Final = 1.0
MB: Final = 1e6


class Bench:
    def __init__(self, names: list[str], folder: Path, *, quick: bool, driver: str) -> None:
        self._cpus: Cpus = machine.choose_cpus()
        self._folder = folder
        self._quick = quick
        self._driver = driver
        self._names = names
        self._servers: dict[str, Server] = {}
        self._brokers: dict[str, Brokers] = {}
        peers = (OURS, JAVA) if JAVA in names else (OURS,)
        self._table = Table(peers, JAVA)
        os.sched_setaffinity(0, {int(self._cpus.brokers)})

    def run(self, rounds: int) -> None:
        with ExitStack() as stack:
            for name in self._names:
                server = Server(name, self._folder / name, self._cpus, self._driver)
                stack.callback(server.kill)
                server.start()
                brokers = stack.enter_context(Brokers(server.port))
                brokers.register(routes.narrow_registrations())
                brokers.register(routes.wide_registrations(routes.WIDE.brokers))
                self._servers[name], self._brokers[name] = server, brokers
            self._require_same_routes()
            self._warm_up(4.0 if self._quick else 30.0)
            for number in range(rounds):
                print(f"round {number + 1} of {rounds}", file=sys.stderr)
                # the candidates take turns at going first
                order = self._names[number % 2 :] + self._names[: number % 2]
                for name in order:
                    self._measure(name)
        for number in range(rounds):
            for name in self._names:
                if name != JAVA:
                    self._measure_start(name, self._folder / f"start-{name}-{number}")
        self._table.print()

    def _measure(self, name: str) -> None:
        self._beat()
        if name != JAVA_ON_ALL_CPUS:
            for connections, depth, brokers in READS:
                load = self._read(name, routes.FAMILIES[brokers], connections, depth)
                text = f"reads/CPU s, {connections} x {depth}, topics on {brokers} brokers"
                self._add(text, name, load.per_cpu)
        if name != JAVA:
            self._add(f"p99 at {OPEN_RATE:,} reads/s, ms", name, self._hold_rate(name).p99)
            for change, text in CHANGES.items():
                for form, form_text in FORMS.items():
                    label = f"10,000 topics, {text}, {form_text}"
                    load = self._hold_rate(name, change, form)
                    self._add(f"p99 of reads with registrations of {label}, ms", name, load.p99)
                    self._beat()
                    cost = self._register(name, change, form)
                    self._add(f"CPU ms/registration of {label}", name, cost)

    def _add(self, row: str, name: str, value: float) -> None:
        self._table.add(row, OURS if name == OURS else JAVA, value)

    def _beat(self) -> None:
        for brokers in self._brokers.values():
            brokers.beat()

    def _read(self, name: str, topics: Topics, connections: str, depth: str) -> Load:
        window = ("-t", "0.3", "-w", "0.1") if self._quick else ("-t", "0.7", "-w", "0.2")
        size = ("-c", connections, "-d", depth)
        server = self._servers[name]
        return LoadGenerator(server, topics, *window, *size, cpu=self._cpus.server).result(30)

    def _hold_rate(self, name: str, change: str = "", form: str = "") -> Load:
        """Read at a rate, with registrations if there is a change.

        The generator runs on the server's CPU, with real-time priority where that is allowed.
        """
        seconds, cpu = 1.0 if self._quick else 2.5, self._cpus.server
        window = ("-t", str(seconds), "-w", "0.3", "-r", str(OPEN_RATE))
        links = self._brokers[name].prime(change, form, routes.WIDE.brokers) if change else []
        realtime = machine.may_be_realtime()
        with ExitStack() as stack:
            if realtime:
                stack.enter_context(Spinner(cpu, seconds + 30))
            load = LoadGenerator(
                self._servers[name], routes.WIDE, *window, cpu=cpu, realtime=realtime
            )
            if change:
                bodies = routes.wide_bodies(change, form)
                feed(links, bodies, rate=REGISTRATION_RATE[change], seconds=seconds + 0.5)
            return load.result(60)

    def _register(self, name: str, change: str, form: str) -> float:
        links = self._brokers[name].prime(change, form, REGISTERING)
        pid = self._servers[name].pid
        before = machine.cpu_seconds(pid)
        bodies = routes.wide_bodies(change, form)
        fed = feed(
            links, bodies, rate=REGISTRATION_RATE[change], seconds=1.0 if self._quick else 3.0
        )
        return (machine.cpu_seconds(pid) - before) / fed.answers * 1e3

    def _warm_up(self, seconds: float) -> None:
        for name in self._names:
            duration = 1.0 if name == OURS else seconds
            for change in CHANGES:
                for form in FORMS:
                    links = self._brokers[name].prime(change, form, REGISTERING)
                    bodies = routes.wide_bodies(change, form)
                    feed(links, bodies, rate=5, seconds=max(duration / 12, 0.2))
            end = time.monotonic() + duration
            while time.monotonic() < end:
                for family in routes.FAMILIES.values():
                    self._read(name, family, "50", "1")
            self._beat()

    def _require_same_routes(self) -> None:
        """Compare the answers of the servers; the order of brokers does not count."""
        for family in routes.FAMILIES.values():
            topic = routes.topic_name(family.format, family.count - 1)
            answers = {_sorted(server.route(topic)) for server in self._servers.values()}
            if len(answers) > 1:
                raise SampleError(f"the routes of {topic} differ: {answers}")

    def _measure_start(self, name: str, folder: Path) -> None:
        server = Server(name, folder, self._cpus, self._driver)
        try:
            wall, cpu = server.start()
            self._add("exec to first answer, s", name, wall)
            self._add("CPU until then, s", name, cpu)
            time.sleep(SETTLE_SECONDS)
            self._add("memory at rest, MB", name, machine.resident_bytes(server.pid) / MB)
            with Brokers(server.port) as brokers:
                brokers.register(routes.wide_registrations(4, topics=100_000))
                time.sleep(SETTLE_SECONDS)
                memory = machine.resident_bytes(server.pid) / MB
                self._add("memory with 100,000 topics on 4 brokers, MB", name, memory)
        finally:
            server.kill()


def _sorted(body: bytes) -> str:
    route = json.loads(body)
    for name in ("brokerDatas", "queueDatas"):
        route[name].sort(key=itemgetter("brokerName"))
    return json.dumps(route, sort_keys=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.namesrv", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short measurements, two rounds")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--driver", choices=("auto", "reactor", "portable"), default="auto")
    options = parser.parse_args()
    build_programs()
    names = [OURS, JAVA, JAVA_ON_ALL_CPUS]
    try:
        java_cache.jars("5.5.0")
    except java_cache.JavaUnavailableError as error:
        print(f"no Java: {error}", file=sys.stderr)
        names = [OURS]
    print(machine.describe())
    gc.disable()  # a collection would show in the latencies
    with tempfile.TemporaryDirectory(prefix="rocketwire-bench-") as folder:
        bench = Bench(names, Path(folder), quick=options.quick, driver=options.driver)
        bench.run(options.rounds or (2 if options.quick else 5))


if __name__ == "__main__":
    main()
