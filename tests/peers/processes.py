"""Child processes of the tests: a scratch folder, a log file and a process group each, and none survives.

Rules of this file: every child leads a process group of its own (a Ctrl-C at the terminal reaches us alone), stopping goes by
that group, and what is still running when the interpreter ends is killed then.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.05
START_SECONDS = 300.0
"""For anything to get ready; a JVM on a busy machine has been seen to take a minute, and CI's may be three times slower."""

_ALL_PORTS = range(12_000, 28_000)
_PORTS_OF_A_WORKER = 2_000


def own_ports(worker: str) -> range:
    """The ports of one of the processes that run tests (``gw0``, ``gw1`` and so on); all where there are no others (empty)."""
    if not worker:
        return _ALL_PORTS
    place = int(worker.removeprefix("gw")) % (len(_ALL_PORTS) // _PORTS_OF_A_WORKER)
    return _ALL_PORTS[place * _PORTS_OF_A_WORKER + 2 : (place + 1) * _PORTS_OF_A_WORKER - 1]


_PORTS = own_ports(os.environ.get("PYTEST_XDIST_WORKER", ""))


_running: set[Child] = set()
_handed_out: set[int] = set()
_chance = random.SystemRandom()


class PeerFailedError(Exception):
    """A child process ended, or did not do in time what it was started for."""


def wait_until(condition: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> float:
    """Poll until ``condition`` holds; returns the seconds it took, raises ``PeerFailedError`` naming ``what``."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise PeerFailedError(f"not within {seconds:g} s: {what}")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - start


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def free_ports(offsets: Sequence[int] = (0,)) -> int:
    """Return a port p such that every p + offset is free and was not handed out before.

    The ports lie below those that the system gives to outgoing connections, so none is lost between
    now and its use, and below those of the conformance suite.  Each process that runs tests has its
    own: a server that is stopped finds its port free later.
    """
    for _ in range(1000):
        port = _chance.choice(_PORTS)
        ports = {port + offset for offset in offsets}
        if not ports & _handed_out and all(map(_is_free, ports)):
            _handed_out.update(ports)
            return port
    raise PeerFailedError("no free port")


class Child:
    """One running program, its output in a file.

    Attributes:
        process: the process; ``stdin`` and ``stdout`` are pipes when ``piped``.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        piped: bool = False,
    ) -> None:
        self.name = name  #: for messages
        self.folder = folder  #: its working folder
        self._output = folder / f"{name}.out"
        self._begin = self._output.stat().st_size if self._output.exists() else 0
        with self._output.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else output,
                stderr=output,
                start_new_session=True,
            )
        _running.add(self)

    @property
    def output(self) -> str:
        return self._output.read_text("utf-8", "replace")

    def wait_printed(self, pattern: str) -> None:
        def is_printed() -> bool:
            with self._output.open("rb") as output:
                output.seek(self._begin)
                return re.search(pattern, output.read().decode("utf-8", "replace")) is not None

        self.wait_until(is_printed, pattern)

    def wait_until(
        self, condition: Callable[[], bool], what: str, seconds: float = START_SECONDS
    ) -> float:
        def holds() -> bool:
            if self.process.poll() is not None:
                raise PeerFailedError(
                    f"{self.name} ended with {self.process.returncode} before: {what}\n{self.output[-2000:]}"
                )
            return condition()

        return wait_until(holds, f"{self.name}: {what}", seconds)

    def signal(self, number: int) -> None:
        """Send a signal to its group; nothing happens where it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        _running.discard(self)

    def stop(self, seconds: float = 60.0) -> int | None:
        """Ask it to end (SIGTERM) and kill it after ``seconds``.

        Returns:
            Its exit status; None when it had to be killed.
        """
        self.signal(signal.SIGTERM)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        self.kill()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Server:
    """A server that is started, ended and started again with the same command.

    Args:
        program: name of its process and of its output, ``PROGRAM.out`` in the folder.
        command: starts it.
        folder: its working folder.
        ready: what it prints when it is ready, a regular expression.
        environment: in addition to ``ROCKETMQ_HOME``, which is the folder.
    """

    def __init__(
        self,
        program: str,
        command: Sequence[str],
        folder: Path,
        *,
        ready: str = "boot success",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._program = program
        self._command = command
        self._ready = ready
        self._environment = {"ROCKETMQ_HOME": ".", **(environment or {})}
        self._started: Child | None = None

    def start(self) -> None:
        """Start it and wait until it is ready; a broker need not have registered by then."""
        self._started = Child(
            self._program, self._command, self.folder, environment=self._environment
        )
        self._started.wait_printed(self._ready)

    @property
    def _child(self) -> Child:
        if self._started is None:
            raise PeerFailedError(f"{self._program} was never started")
        return self._started

    @property
    def pid(self) -> int:
        return self._child.process.pid

    @property
    def runs(self) -> bool:
        return self._started is not None and self._started.process.poll() is None

    @property
    def log(self) -> str:
        return "" if self._started is None else self._started.output

    def freeze(self) -> None:
        """SIGSTOP: it does nothing until ``thaw``; its connections stay."""
        self._child.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._child.signal(signal.SIGCONT)

    def stop(self, seconds: float = 5.0) -> None:
        """SIGTERM, and SIGKILL after ``seconds``: a Java broker unregisters at once, but takes 17 s to end."""
        if self._started is not None:
            self._started.stop(seconds)

    def kill(self) -> None:
        if self._started is not None:
            self._started.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()  # its files are scratch, and a Java server takes seconds to end


@atexit.register
def _kill_survivors() -> None:
    for child in tuple(_running):
        child.kill()
