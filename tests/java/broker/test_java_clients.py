"""Unmodified Java clients of three releases at the broker for development: they send, consume and leave."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.peers import cache as java_cache
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
        wait_until(lambda: java.queues("two") == queues, "the second has all")
