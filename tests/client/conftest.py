"""Java peers that all tests of clients share; starting a JVM costs seconds of a core, so everybody uses these."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.interop.conftest import have_here
from tests.support import javaarchive, javacache
from tests.support.javacluster import JavaCluster
from tests.support.javapeers import CURRENT, JavaPeer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def shared_java_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaCluster]:
    """What ``java_cluster`` gives to one module after the other."""
    have_here(
        partial(javacache.classes, CURRENT, "Peer.java"),
        partial(javaarchive.record_broker, CURRENT),
    )
    with JavaCluster(tmp_path_factory.mktemp("java-cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def java_cluster(shared_java_cluster: JavaCluster) -> Iterator[JavaCluster]:
    """Java's name server and a broker of 5.5.0 with everything switched on; tests leave both running.

    ``java_cluster.slave()`` and ``java_cluster.broker(name, version=...)`` start more, once for all of a module who ask: those
    of one module would get messages of the next.
    """
    yield shared_java_cluster
    shared_java_cluster.end_brokers()


@pytest.fixture(scope="session")
def java_peer(
    shared_java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaPeer]:
    """One JVM for Java producers, consumers and mqadmin lines beside ours."""
    with JavaPeer(tmp_path_factory.mktemp("java-peer")) as running:
        yield running
