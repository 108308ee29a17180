"""A broker container starts and stops brokers for ``rocketwire-admin`` as it does for mqadmin."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.java.admin.commands import Mqadmin, Ours
from tests.peers import cache as java_cache
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import CURRENT, SHORT_LIVED, java, prepare, properties
from tests.peers.processes import LOOPBACK, Server, free_ports, wait_until
from tests.peers.shared_peers import have_here

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


pytestmark = pytest.mark.full

CLUSTER = "contained"


@pytest.fixture
def container(
    java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaContainer]:
    have_here(partial(java_cache.jars, CURRENT, CONTAINER_POM))
    folder = tmp_path_factory.mktemp("container")
    with JavaContainer(folder, [java_cluster.address]) as started:
        yield started


def test_a_container_starts_and_stops_brokers_for_both_tools(
    container: JavaContainer, ours: Ours, mqadmin: Mqadmin
) -> None:
    def list_brokers() -> set[str]:
        return {row["brokerName"] for row in ours(f"clusterList -c {CLUSTER}") or ()}

    by_us, by_mqadmin = unique("by-us"), unique("by-mqadmin")
    paths = {name: container.write_config(name, CLUSTER) for name in (by_us, by_mqadmin)}
    add, remove = f"addBroker -c {container.address} -b", f"removeBroker -c {container.address} -b"
    (added,) = ours(f"{add} {paths[by_us]}")
    assert added == {"containerAddr": container.address, "configPath": str(paths[by_us])}
    assert "success" in mqadmin(f"{add} {paths[by_mqadmin]}")
    wait_until(lambda: list_brokers() == {by_us, by_mqadmin}, "both brokers have registered")

    ours.expect_error(f"{add} {paths[by_us]}")
    assert ours.error.count("\n") == 1, ours.error
    assert "success" in mqadmin(f"{remove} {CLUSTER}:{by_us}:0")
    wait_until(lambda: list_brokers() == {by_mqadmin}, "mqadmin has removed ours")
    ours(f"{remove} {CLUSTER}:{by_mqadmin}:0")
    assert ours.status == 0, ours.error
    wait_until(lambda: not list_brokers(), "we have removed mqadmin's")
    ours.expect_error(f"{remove} {CLUSTER}:{by_us}:0")
