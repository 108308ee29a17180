"""The servers that are compared, each as a process on a port of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Final

from bench.namesrv import machine, routes
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.settings import Owner
from tests.support import raw_call
from tests.support.java import cache as java_cache
from tests.support.java.peers import properties
from tests.support.processes import LOOPBACK, Child, PeerFailedError, free_ports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.namesrv.machine import Cpus

JAVA_VERSION: Final = "5.5.0"
JAVA_OPTIONS: Final = ("-Xms512m", "-Xmx1g")
"""A heap that is large enough for all that happens here and small enough to be kind to Java's
memory figures."""
START_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.002
PROGRAMS: Final = java_cache.ROOT / ".cache" / "bench"
DRIVER: Final = "rocketwire.driver"
OURS: Final = ("reactor", "portable")
JAVAS: Final = ("java", "java-free")
ALL: Final = ("c", *JAVAS, *OURS)
LABELS: Final = {
    "c": "C floor",
    "java": f"Java {JAVA_VERSION}",
    "java-free": "Java, all CPUs",
    "portable": "portable",
    "reactor": "reactor",
}


def build_programs() -> None:
    """Build the C programs where they are missing or older than their sources.

    Raises:
        subprocess.CalledProcessError: one does not compile.
    """
    subprocess.run(
        ["make", "--silent", "-f", "bench/namesrv/programs.mk"], cwd=java_cache.ROOT, check=True
    )


def available() -> tuple[str, ...]:
    """Every candidate, in the order of the table, except the drivers that our name server does not
    have."""
    drivers = OURS if knows_drivers() else ("portable",)
    return tuple(name for name in ALL if name not in OURS or name in drivers)


def knows_drivers() -> bool:
    """Whether our name server lets one choose its driver."""
    return any(name == DRIVER for name, _ in Config().items(Owner.OURS))


class Server:
    """One candidate.

    Attributes:
        name: one of ``ALL``.
        port: where it listens.
        bodies: for ``c``: the answers it gives, as (format, count, file).
    """

    def __init__(self, name: str, folder: Path, cpus: Cpus) -> None:
        self.name = name
        self.port = free_ports()
        self.bodies: list[tuple[str, int, Path]] = []
        self._folder = folder
        self._cpus = cpus
        self._child: Child | None = None

    def start(self) -> tuple[float, float]:
        """Start it and wait for its first answer.

        Returns:
            Seconds from exec to that answer, and CPU seconds until then.

        Raises:
            PeerFailedError: it ended, or did not answer in time.
        """
        command, environment = self._prepared()
        cpu = self._cpus.every if self.name == "java-free" else self._cpus.server
        begin = time.monotonic()
        child = Child(self.name, machine.on(cpu, *command), self._folder, environment=environment)
        self._child = child
        while not self._answers():
            if child.process.poll() is not None or time.monotonic() > begin + START_SECONDS:
                raise PeerFailedError(f"{self.name} does not answer: {child.output[-2000:]}")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - begin, machine.cpu_seconds(self.pid)

    def _prepared(self) -> tuple[Sequence[str], dict[str, str]]:
        """The command, and what it needs in its folder and its environment."""
        settings: dict[str, object] = {"listenPort": self.port, "bindAddress": LOOPBACK}
        if self.name in OURS and knows_drivers():
            settings[DRIVER] = self.name
        (self._folder / "conf").mkdir(parents=True, exist_ok=True)
        (self._folder / "conf" / "namesrv.properties").write_text(properties(settings))
        configured = ("-c", "conf/namesrv.properties")
        if self.name == "c":
            words = [str(word) for body in self.bodies for word in body]
            return [str(PROGRAMS / "cserver"), str(self.port), *words], {}
        if self.name in JAVAS:
            # its own logback file is in its jar and logs below user.home
            path = f"{java_cache.jars(JAVA_VERSION)}/*"
            main = "org.apache.rocketmq.namesrv.NamesrvStartup"
            java = ["java", *JAVA_OPTIONS, "-Duser.home=.", "-cp", path, main, *configured]
            return java, {"ROCKETMQ_HOME": "."}
        roots = [str(java_cache.ROOT), str(java_cache.ROOT / "namesrv")]
        path = os.pathsep.join([*roots, os.environ.get("PYTHONPATH", "")])
        environment = {"PYTHONPATH": path, "HOME": ".", "ROCKETWIRE_LOG": "file"}
        return [machine.python(), "-m", "rocketwire_namesrv", *configured], environment

    def _answers(self) -> bool:
        try:
            with socket.create_connection((LOOPBACK, self.port), 5) as stream:
                stream.settimeout(START_SECONDS)
                stream.sendall(routes.route_request("no-such-topic"))
                return bool(raw_call.read_answer(stream).header)
        except OSError:
            return False

    @property
    def pid(self) -> int:
        """Its process."""
        if self._child is None:
            raise PeerFailedError(f"{self.name} was never started")
        return self._child.process.pid

    def route(self, topic: str) -> bytes:
        """The body that it answers for a topic; raises ``PeerFailedError`` where it knows no
        route."""
        request = {"topic": topic}
        with socket.create_connection((LOOPBACK, self.port), 5) as stream:
            stream.sendall(raw_call.frame(raw_call.GET_ROUTEINFO_BY_TOPIC, request, version=513))
            answer = raw_call.read_answer(stream)
        if not answer.body:
            raise PeerFailedError(f"{self.name} has no route to {topic}: {answer.header}")
        return answer.body

    def kill(self) -> None:
        """End it without notice."""
        if self._child is not None:
            self._child.kill()
