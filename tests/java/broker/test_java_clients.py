"""Unmodified Java clients of three releases at the broker for development: they send, consume and leave."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.dev_cluster import DevCluster
from tests.peers.peers import RELEASES, JavaPeer
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("dev")) as running:
        yield running


@pytest.mark.parametrize("version", RELEASES)
def test_a_release_sends_and_consumes(version: str, cluster: DevCluster, tmp_path: Path) -> None:
    have_here(partial(java_cache.classes, version, "Peer.java"))
    topic, group = f"orders-{version.replace('.', '-')}", f"readers-{version.replace('.', '-')}"
    with JavaPeer(tmp_path, version=version) as java:
        java.send(cluster.address, topic, "producers", range(20))
        java.consume(cluster.address, topic, group)
        first = java.received(group, 20)
        java.send(cluster.address, topic, "producers", range(20, 40))
        keys = java.received(group, 40)
        java.close(group)

    # a send that a busy machine answers late is sent again: then a key comes twice
    assert set(first) == {str(key) for key in range(20)}
    assert set(keys) == {str(key) for key in range(40)}


def test_two_java_consumers_share_the_queues_and_one_takes_over(
    cluster: DevCluster, tmp_path: Path
) -> None:
    have_here(partial(java_cache.classes, RELEASES[0], "Peer.java"))
    with JavaPeer(tmp_path) as java:
        java.send(cluster.address, "shared", "producers", range(1))
        for name in ("one", "two"):
            java.join(cluster.address, "shared", "sharers", name)
        queues = {("broker-a", number) for number in range(4)}
        wait_until(lambda: len(java.queues("one")) == len(java.queues("two")) == 2, "halves")
        assert java.queues("one") | java.queues("two") == queues

        java.close("one")
        wait_until(lambda: java.queues("two") == queues, "the other has all")


def test_mqadmin_lists_the_cluster(cluster: DevCluster, tmp_path: Path) -> None:
    have_here(partial(java_cache.classes, RELEASES[0], "Peer.java"))
    with JavaPeer(tmp_path) as java:
        table = java.cluster_table(cluster.address, "V5_5_0")

    assert cluster.master.address in table
    assert raw_call.brokers(cluster.master.name_server_port) == {cluster.master.address}
