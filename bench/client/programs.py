"""The two clients as processes with commands, and their CPU time and memory."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.support.java import cache as java_cache
from tests.support.java.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE: Final = Path(__file__).parents[1] / "java" / "ClientBench.java"
QUIET: Final = java_cache.INTEROP / "conf" / "quiet-5x.xml"
TICKS: Final = os.sysconf("SC_CLK_TCK")
PATIENCE: Final = 300.0
"""Timeout of a line from a client."""


class Taken(NamedTuple):
    """The cost of some work.

    Attributes:
        messages: their number.
        cpu: seconds of CPU of the client's process, including the system's part.
        wall: seconds.
    """

    messages: int
    cpu: float
    wall: float

    @property
    def rate(self) -> float:
        """Messages per second of CPU."""
        return self.messages / max(self.cpu, 1 / TICKS)


def compiled(folder: Path, source: Path = SOURCE) -> Path:
    """Compile Java's side; the folder of its classes."""
    command: list[str | Path] = [
        "javac",
        "-nowarn",
        "-cp",
        f"{java_cache.jars(CURRENT)}/*",
        "-d",
        folder,
        source,
    ]
    subprocess.run(command, check=True)
    return folder


def java_command(
    classes: Path, name_server: str, topic: str, main: str = "ClientBench"
) -> list[str]:
    """Java's client as it comes: the JVM's own choice of collector and compilers, a heap that is
    enough for it."""
    path = f"{classes}:{java_cache.jars(CURRENT)}/*"
    quiet = f"-Drmq.logback.configurationFile={QUIET}"
    return ["java", "-Xmx256m", quiet, "-cp", path, main, name_server, topic]


def our_command(name_server: str, topic: str) -> list[str]:
    """Our client."""
    return [sys.executable, "-m", "bench.client.ours", name_server, topic]


def facade_command(name_server: str, topic: str, dialect: str) -> list[str]:
    """A facade: ``threads``, ``asyncio`` or ``uvloop``."""
    return [sys.executable, "-m", "bench.client.facade", name_server, topic, dialect]


def other_command(python: str, program: str, address: str) -> list[str]:
    """A program of this folder for another environment; the topic follows."""
    return [python, str(Path(__file__).with_name(program)), address]


def floor_command(name_server: str, topic: str, how: str) -> list[str]:
    """Sends without a client; ``how`` as of ``bench.client.floor``."""
    return [sys.executable, "-m", "bench.client.floor", name_server, topic, how]


class Program:
    """A running client."""

    def __init__(self, command: Sequence[str], *, patience: float = PATIENCE) -> None:
        """Start it.

        Args:
            command: the command line.
            patience: timeout of each line, in seconds.
        """
        self._patience = patience
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def run(self, verb: str, count: int) -> Taken:
        """Run a command."""
        if self._process.stdin is None:
            raise RuntimeError("no pipe")
        self._process.stdin.write(f"{verb} {count}\n".encode())
        self._expect("begun")
        cpu, wall = self._cpu(), time.perf_counter()
        self._expect("done")
        return Taken(count, self._cpu() - cpu, time.perf_counter() - wall)

    def peak_memory(self) -> float:
        """Most resident memory so far, MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def freeze(self) -> None:
        """SIGSTOP: it does nothing until ``thaw``."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """End what ``freeze`` began."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()

    def _expect(self, word: str) -> None:
        line = _line(self._process, self._patience)
        if line != word:
            raise RuntimeError(f"{word!r} was expected, and {line!r} came")

    def _cpu(self) -> float:
        """Return seconds of CPU of all its threads, including ended ones."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def _line(process: subprocess.Popen[bytes], patience: float) -> str:
    """Return the next line of a program, through an unbuffered pipe; empty if it has ended.

    Raises:
        RuntimeError: the timeout expired, for example because the main thread of a JVM died.
    """
    if process.stdout is None:
        raise RuntimeError("no pipe")
    if not select.select([process.stdout], [], [], patience)[0]:
        raise RuntimeError(f"{process.args!r} has said nothing for {patience:.0f} s")
    return process.stdout.readline().decode().strip()


def first_message(command: Sequence[str]) -> Taken:
    """Return the cost from the start of a process until its first message is acknowledged.

    The modules are compiled before, as in an installed program, even if the environment disables
    that.
    """
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start_times = os.times()
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, "first"], stdout=subprocess.PIPE, bufsize=0, env=surroundings
    ) as process:
        try:
            line = _line(process, PATIENCE)
        except RuntimeError:
            process.kill()
            raise
        wall = time.perf_counter() - start
        if line != "done":
            raise RuntimeError(f"no message was sent: {line!r}")
    end_times = os.times()
    cpu = (
        end_times.children_user
        + end_times.children_system
        - start_times.children_user
        - start_times.children_system
    )
    return Taken(1, cpu, wall)
