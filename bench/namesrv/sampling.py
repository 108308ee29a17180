"""One sample: the load generator, the feeder, or both, against one server, and how noisy the
machine was meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from bench.namesrv import machine
from bench.namesrv.candidates import PROGRAMS
from tests.support.java.cache import ROOT

if TYPE_CHECKING:
    from bench.namesrv.candidates import Server
    from bench.namesrv.machine import Cpus
    from bench.namesrv.routes import Topics

BEAT_SECONDS: Final = 20.0
"""Between two signs of life of all brokers; the servers close a connection after 120 s of
silence."""
_FAULTS: Final = ("bad_opaque", "bad_flag", "bad_code", "bad_body", "dropped")


class SampleError(Exception):
    """An invalid sample: a program failed, or a server sent a wrong response."""


class Load(NamedTuple):
    """The results of the load generator; latencies are milliseconds.

    Attributes:
        per_cpu: responses for each second of the server's CPU time.
        per_second: responses a second.
        cpus: the server's CPU time for each second.
        p50: half of the latencies are shorter.
        p99: 99 % are.
        p999: 99.9 % are.
        longest: none is longer.
        unanswered: requests without a response; the latencies count their age.
        others: CPUs that other processes used.
    """

    per_cpu: float
    per_second: float
    cpus: float
    p50: float
    p99: float
    p999: float
    longest: float
    unanswered: int
    others: float


def load(
    server: Server,
    topics: Topics,
    *options: str,
    cpu: str,
    realtime: bool = False,
    measured: tuple[int, ...] = (),
    limit: float,
) -> Load:
    """Run the load generator.

    Args:
        server: whom it asks.
        topics: what it asks for.
        options: of the generator, without port, topics and processes.
        cpu: where it runs.
        realtime: whether it preempts everything else there.
        known: other processes of the benchmark, whose CPU time is no noise.
        limit: seconds after which it must have ended.

    Raises:
        SampleError: it failed, or was given a wrong answer.
    """
    processes = [word for pid in measured for word in ("-x", str(pid))]
    asks = ["-p", str(server.port), "-f", topics.format, "-n", str(topics.count)]
    program = [str(PROGRAMS / "loadgen"), *asks, "-P", str(server.pid), *processes, *options]
    priority = ["chrt", "-f", "50"] if realtime else []
    try:
        completed = subprocess.run(
            machine.on(cpu, *priority, *program),
            capture_output=True,
            text=True,
            check=True,
            timeout=limit,
        )
    except subprocess.SubprocessError as error:
        stderr = getattr(error, "stderr", None)
        raise SampleError(f"loadgen at {server.name}: {error}: {stderr}") from error
    figures: dict[str, float] = json.loads(completed.stdout)
    if faults := {name: figures[name] for name in _FAULTS if figures[name]}:
        raise SampleError(f"{server.name} gave {figures['answers']} answers and {faults}")
    return _load(figures)


def _load(figures: dict[str, float]) -> Load:
    seconds = figures["seconds"]
    ours = figures["server_cpu"] + figures["self_cpu"] + figures["known_cpu"]
    return Load(
        per_cpu=figures["answers"] / max(figures["server_cpu"], 1e-9),
        per_second=figures["answers"] / seconds,
        cpus=figures["server_cpu"] / seconds,
        p50=figures["p50"] / 1e3,
        p99=figures["p99"] / 1e3,
        p999=figures["p999"] / 1e3,
        longest=figures["max"] / 1e3,
        unanswered=int(figures["unanswered"]),
        others=max(0.0, figures["busy"] - ours) / seconds,
    )


class Spinner:
    """Keeps a CPU awake with the lowest priority while latencies are measured there."""

    def __init__(self, cpu: str, seconds: float) -> None:
        program = [str(PROGRAMS / "spin"), str(seconds)]
        self._process = subprocess.Popen(machine.on(cpu, "chrt", "-i", "0", *program))

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


class FeederProcess:
    """The feeder and its commands."""

    def __init__(self, cpu: str) -> None:
        self._process = subprocess.Popen(
            machine.on(cpu, machine.python(), "-m", "bench.namesrv.feeder"),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_paths(),
        )
        self._beaten = time.monotonic()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def begin(self, what: str, **how: object) -> None:
        """Give an order without waiting."""
        if self._process.stdin is None:
            raise SampleError("the feeder has no pipes")
        self._process.stdin.write(json.dumps({"do": what, **how}) + "\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Wait until an order is carried out; raises ``SampleError`` where it could not be."""
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line or '{"error": "the feeder ended"}')
        if "error" in answer:
            raise SampleError(answer["error"])
        return answer

    def obey(self, what: str, **how: object) -> dict[str, Any]:
        """Give an order and wait."""
        self.begin(what, **how)
        return self.end()

    def keep_alive(self) -> None:
        """Let the brokers show themselves if it is time for that; to be called between samples.

        Raises:
            SampleError: a server has closed the connection of one of them.
        """
        if time.monotonic() - self._beaten > BEAT_SECONDS:
            self._beaten = time.monotonic()
            if lost := self.obey("beat")["lost"]:
                raise SampleError(f"brokers were lost: {lost}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _paths() -> dict[str, str]:
    python_path = os.environ.get("PYTHONPATH", "")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "namesrv"), python_path]),
    }


class Bench:
    """The environment of every sample.

    Attributes:
        servers: the servers of the whole run, by name, all with the same routes.
        feeder: plays the brokers of all of them.
        cpus: of each process.
        quick: whether windows are short.
    """

    def __init__(
        self, servers: dict[str, Server], feeder: FeederProcess, cpus: Cpus, *, quick: bool
    ) -> None:
        self.servers = servers
        self.feeder = feeder
        self.cpus = cpus
        self.quick = quick

    def closed(self, server: Server, topics: Topics, *options: str) -> Load:
        """A closed loop for a short while."""
        seconds, warm = (0.3, 0.1) if self.quick else (0.7, 0.2)
        window = ("-t", str(seconds), "-w", str(warm))
        return load(server, topics, *window, *options, cpu=self.cpus.load, limit=30)

    def opened(self, server: Server, topics: Topics, rate: float, seconds: float) -> Load:
        """An open loop on the server's own CPU, ahead of everything else there where that is
        allowed."""
        realtime = machine.may_be_realtime()
        window = ("-t", str(seconds), "-w", "0.3", "-r", str(rate))
        if not realtime:
            return load(
                server, topics, *window, cpu=self.cpus.server, measured=(self.feeder.pid,), limit=60
            )
        with Spinner(self.cpus.server, seconds + 30) as spinner:
            return load(
                server,
                topics,
                *window,
                cpu=self.cpus.server,
                realtime=True,
                measured=(self.feeder.pid, spinner.pid),
                limit=60,
            )
