"""Java peers that all tests of clients and of their command line share; starting a JVM costs seconds of a core."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from tests.peers import cache as java_cache
from tests.peers import class_archive
from tests.peers.cluster import JavaCluster
from tests.peers.dev_cluster import NOT_IN_DEV, DevCluster
from tests.peers.peers import CURRENT, JavaPeer


def have_here(*builds: Callable[[], Path]) -> None:
    """Fetch jars or compile; if that needs a network, skip, but not in CI."""
    try:
        for build in builds:
            build()
    except java_cache.JavaUnavailableError as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cluster",
        choices=("java", "dev"),
        default="java",
        help="what clients are tested against: Java's brokers, or our broker for development",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("cluster") != "dev":
        return
    unselected = [item for item in items if not _uses_shared_cluster(item)]
    items[:] = [item for item in items if _uses_shared_cluster(item)]
    config.hook.pytest_deselected(items=unselected)
    for item in items:
        for part, what in NOT_IN_DEV.items():
            if part in item.nodeid:
                reason = f"brokers for development have no {what}"
                item.add_marker(pytest.mark.skip(reason=reason))


def _uses_shared_cluster(item: pytest.Item) -> bool:
    return "shared_java_cluster" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session")
def shared_java_cluster(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[JavaCluster]:
    if pytestconfig.getoption("cluster") == "dev":
        have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
        with DevCluster(tmp_path_factory.mktemp("dev-cluster")) as dev:
            yield cast("JavaCluster", dev)
        return
    have_here(
        partial(java_cache.classes, CURRENT, "Peer.java"),
        partial(class_archive.record_broker, CURRENT),
    )
    with JavaCluster(tmp_path_factory.mktemp("java-cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def java_cluster(shared_java_cluster: JavaCluster) -> Iterator[JavaCluster]:
    """Java's name server and a broker of 5.5.0 with everything switched on; tests leave both running.

    ``java_cluster.slave()`` and ``java_cluster.broker(name, version=...)`` start more, once for a module: those
    of one module would get messages of the next.
    """
    yield shared_java_cluster
    shared_java_cluster.end_brokers()


@pytest.fixture(scope="session")
def java_peer(
    shared_java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaPeer]:
    """One JVM for Java producers, consumers and mqadmin lines that meet ours."""
    with JavaPeer(tmp_path_factory.mktemp("java-peer")) as running:
        yield running
