"""RocketMQ's broker container: one process that starts and stops brokers on request."""

from collections.abc import Sequence
from pathlib import Path

from tests.peers import cache as java_cache
from tests.peers.peers import CURRENT, SHORT_LIVED, java, prepare, properties
from tests.peers.processes import LOOPBACK, Server, free_ports

CONTAINER_POM = "container.xml"


class JavaContainer(Server):
    def __init__(self, folder: Path, name_servers: Sequence[str]) -> None:
        port = free_ports((-2, 0))
        self.address = f"{LOOPBACK}:{port}"
        prepare(folder)
        self._name_servers = ";".join(name_servers)
        settings = {
            "listenPort": port,
            "bindAddress": LOOPBACK,
            "brokerContainerIP": LOOPBACK,
            "namesrvAddr": self._name_servers,
        }
        (folder / "conf" / "container.properties").write_text(properties(settings))
        command = java(
            CURRENT,
            "org.apache.rocketmq.container.BrokerContainerStartup",
            *("-c", "conf/container.properties"),
            jvm=SHORT_LIVED,
            pom=CONTAINER_POM,
        )
        super().__init__("container", command, folder)

    def write_config(self, name: str, cluster: str) -> Path:
        port = free_ports((-2, 0, 1))
        store = self.folder.resolve() / name
        settings = {
            "brokerName": name,
            "brokerClusterName": cluster,
            "namesrvAddr": self._name_servers,
            "listenPort": port,
            "haListenPort": port + 1,
            "storePathRootDir": store,
            "storePathCommitLog": store / "commitlog",
        }
        base = (java_cache.INTEROP / "conf" / "broker.properties").read_text()
        path = self.folder.resolve() / f"{name}.properties"
        path.write_text(base + properties(settings))
        return path
