"""Clients as processes with commands on stdin, and their CPU time and memory."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.machine import cpu_seconds, status_bytes
from tests.peers import cache as java_cache
from tests.peers.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Sequence

JAVA_SOURCES: Final = Path(__file__).parent / "java"
QUIET: Final = java_cache.INTEROP / "conf" / "quiet-5x.xml"
PATIENCE: Final = 300.0
"""Timeout of a line from a client, in seconds."""


class Taken(NamedTuple):
    messages: int
    cpu: float
    """Seconds of the client's process."""
    wall: float

    @property
    def rate(self) -> float:
        return self.messages / max(self.cpu, 1e-3)


def compile_java(folder: Path, name: str) -> None:
    path = f"{java_cache.jars(CURRENT)}/*"
    source = JAVA_SOURCES / f"{name}.java"
    subprocess.run(["javac", "-nowarn", "-cp", path, "-d", folder, source], check=True)


def java_command(classes: Path, name: str, *words: str, options: Sequence[str] = ()) -> list[str]:
    path = f"{classes}:{java_cache.jars(CURRENT)}/*"
    quiet = f"-Drmq.logback.configurationFile={QUIET}"
    return ["java", *(options or ["-Xmx256m"]), quiet, "-cp", path, name, *words]


class Program:
    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def run(self, verb: str, count: int) -> Taken:
        self.write(f"{verb} {count}")
        self._expect("begun")
        cpu, wall = cpu_seconds(self._process.pid), time.perf_counter()
        self._expect("done")
        return Taken(count, cpu_seconds(self._process.pid) - cpu, time.perf_counter() - wall)

    def write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    def read(self) -> str:
        return read_line(self._process)

    def peak_memory(self) -> float:
        return status_bytes(self._process.pid, "VmHWM") / 2**20

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _expect(self, word: str) -> None:
        line = self.read()
        if line != word:
            raise RuntimeError(f"{word!r} was expected, and {line!r} came")


def read_line(process: subprocess.Popen[bytes]) -> str:
    """Return the next line of a program; ``RuntimeError`` after a timeout."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], PATIENCE)[0]:
        raise RuntimeError(f"{process.args!r} has written nothing for {PATIENCE:.0f} s")
    return process.stdout.readline().decode().strip()


def first_message(command: Sequence[str]) -> float:
    """Return the seconds from the start of a process until its first message is acknowledged.

    Modules may be compiled, as in an installed program, even if the environment disables that.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, "first"], stdout=subprocess.PIPE, bufsize=0, env=environment
    ) as process:
        try:
            line = read_line(process)
        finally:
            process.kill()
    if line != "done":
        raise RuntimeError(f"no message was sent: {line!r}")
    return time.perf_counter() - start
