"""The load generator (``loadgen.c``) as a process."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from bench import machine
from bench.namesrv.servers import PROGRAMS

if TYPE_CHECKING:
    from bench.namesrv.routes import Topics
    from bench.namesrv.servers import Server

_FAULTS: Final = ("bad_opaque", "bad_flag", "bad_code", "bad_body", "dropped")


class SampleError(Exception):
    """An invalid sample: a program failed, or a server sent a wrong response."""


class Load(NamedTuple):
    per_cpu: float
    """Responses for each second of the server's CPU time."""
    p50: float
    """Milliseconds, as the next one."""
    p99: float
    unanswered: int


class LoadGenerator:
    def __init__(
        self, server: Server, topics: Topics, *options: str, cpu: str, realtime: bool = False
    ) -> None:
        asks = ["-p", str(server.port), "-f", topics.format, "-n", str(topics.count)]
        program = [str(PROGRAMS / "loadgen"), *asks, "-P", str(server.pid), *options]
        priority = ["chrt", "-f", "50"] if realtime else []
        self._name = server.name
        self._process = subprocess.Popen(
            machine.on(cpu, *priority, *program), stdout=subprocess.PIPE, text=True
        )

    def result(self, limit: float) -> Load:
        try:
            output, _ = self._process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            self._process.kill()
            raise SampleError(f"loadgen at {self._name}: {error}") from error
        if self._process.returncode:
            raise SampleError(f"loadgen at {self._name}: exit status {self._process.returncode}")
        figures: dict[str, float] = json.loads(output)
        if faults := {name: figures[name] for name in _FAULTS if figures[name]}:
            raise SampleError(f"{self._name} gave {figures['answers']} answers and {faults}")
        return Load(
            per_cpu=figures["answers"] / max(figures["server_cpu"], 1e-9),
            p50=figures["p50"] / 1e3,
            p99=figures["p99"] / 1e3,
            unanswered=int(figures["unanswered"]),
        )


class Spinner:
    def __init__(self, cpu: str, seconds: float) -> None:
        program = [str(PROGRAMS / "spin"), str(seconds)]
        self._process = subprocess.Popen(machine.on(cpu, "chrt", "-i", "0", *program))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
