"""RocketMQ's broker container: one process that starts and stops brokers when it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tests.support import javacache
from tests.support.javapeers import CURRENT, SHORT_LIVED, java, prepare, properties
from tests.support.processes import LOOPBACK, Child, free_ports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CONTAINER_POM = "container.xml"


class JavaContainer:
    """A container without brokers.

    Attributes:
        address: where it takes orders.
    """

    def __init__(self, folder: Path, name_servers: Sequence[str]) -> None:
        """Its configuration is written."""
        port = free_ports((-2, 0))
        self.address = f"{LOOPBACK}:{port}"
        self._folder = prepare(folder)
        self._name_servers = ";".join(name_servers)
        settings = {
            "listenPort": port,
            "bindAddress": LOOPBACK,
            "brokerContainerIP": LOOPBACK,
            "namesrvAddr": self._name_servers,
        }
        (folder / "conf" / "container.properties").write_text(properties(settings))
        self._command = java(
            CURRENT,
            "org.apache.rocketmq.container.BrokerContainerStartup",
            *("-c", "conf/container.properties"),
            jvm=SHORT_LIVED,
            pom=CONTAINER_POM,
        )
        self._child: Child | None = None

    def configured(self, name: str, cluster: str) -> Path:
        """The configuration file of a broker that the container can start."""
        port = free_ports((-2, 0, 1))
        store = self._folder.resolve() / name
        settings = {
            "brokerName": name,
            "brokerClusterName": cluster,
            "namesrvAddr": self._name_servers,
            "listenPort": port,
            "haListenPort": port + 1,
            "storePathRootDir": store,
            "storePathCommitLog": store / "commitlog",
        }
        base = (javacache.INTEROP / "conf" / "broker.properties").read_text()
        path = self._folder.resolve() / f"{name}.properties"
        path.write_text(base + properties(settings))
        return path

    def start(self) -> None:
        """Start it and wait until it listens."""
        child = Child("container", self._command, self._folder, environment={"ROCKETMQ_HOME": "."})
        self._child = child
        child.wait_until(lambda: "boot success" in child.output, "boot success")

    def kill(self) -> None:
        """SIGKILL, for its brokers, too."""
        if self._child is not None:
            self._child.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
