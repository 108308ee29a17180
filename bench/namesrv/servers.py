"""The servers that are compared, each as a process on a port of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

from bench import machine
from bench.namesrv import routes
from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.peers import CURRENT, properties
from tests.peers.processes import LOOPBACK, Child, PeerFailedError, free_ports

if TYPE_CHECKING:
    from pathlib import Path

    from bench.machine import Cpus

JAVA_OPTIONS: Final = ("-Xms512m", "-Xmx1g")
"""A heap that is large enough for all that happens here, and kind to Java's memory figures."""
START_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.002
PROGRAMS: Final = java_cache.ROOT / ".cache" / "bench"
OURS: Final = "ours"
JAVA: Final = "Java"
JAVA_ON_ALL_CPUS: Final = "Java on all CPUs"


def build_programs() -> None:
    subprocess.run(
        ["make", "--silent", "-f", "bench/namesrv/programs.mk"], cwd=java_cache.ROOT, check=True
    )


class Server:
    def __init__(self, name: str, folder: Path, cpus: Cpus, driver: str = "auto") -> None:
        self.name = name
        self.port = free_ports()
        self._folder = folder
        self._cpu = cpus.every if name == JAVA_ON_ALL_CPUS else cpus.server
        self._driver = driver
        self._child: Child | None = None

    def start(self) -> tuple[float, float]:
        """Start it; return the seconds until its first answer, and its CPU seconds until then."""
        command, environment = self._prepare()
        begin = time.monotonic()
        child = Child(
            "server", machine.on(self._cpu, *command), self._folder, environment=environment
        )
        self._child = child
        while not self._answers():
            if child.process.poll() is not None or time.monotonic() > begin + START_SECONDS:
                raise PeerFailedError(f"{self.name} does not answer: {child.output[-2000:]}")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - begin, machine.cpu_seconds(self.pid)

    def _prepare(self) -> tuple[list[str], dict[str, str]]:
        settings: dict[str, object] = {"listenPort": self.port, "bindAddress": LOOPBACK}
        if self.name == OURS:
            settings["rocketwire.driver"] = self._driver
        (self._folder / "conf").mkdir(parents=True)
        (self._folder / "conf" / "namesrv.properties").write_text(properties(settings))
        configured = ("-c", "conf/namesrv.properties")
        if self.name != OURS:
            # its own logback file is in its jar and logs below user.home
            path = f"{java_cache.jars(CURRENT)}/*"
            main = "org.apache.rocketmq.namesrv.NamesrvStartup"
            java = ["java", *JAVA_OPTIONS, "-Duser.home=.", "-cp", path, main, *configured]
            return java, {"ROCKETMQ_HOME": "."}
        path = os.pathsep.join([str(java_cache.ROOT), str(java_cache.ROOT / "namesrv")])
        environment = {"PYTHONPATH": path, "HOME": ".", "ROCKETWIRE_LOG": "file"}
        return [sys.executable, "-m", "rocketwire_namesrv", *configured], environment

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
        if self._child is None:
            raise PeerFailedError(f"{self.name} was never started")
        return self._child.process.pid

    def route(self, topic: str) -> bytes:
        request = {"topic": topic}
        with socket.create_connection((LOOPBACK, self.port), 5) as stream:
            stream.sendall(raw_call.frame(raw_call.GET_ROUTEINFO_BY_TOPIC, request, version=513))
            return raw_call.read_answer(stream).body or b"{}"

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()
