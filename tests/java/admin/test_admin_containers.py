"""A broker container starts and stops brokers for ``rocketwire-admin`` as it does for mqadmin."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.java.namesrv.conftest import have_here
from tests.peers import cache as java_cache
from tests.peers.container import CONTAINER_POM, JavaContainer
from tests.peers.messages import unique
from tests.peers.peers import CURRENT
from tests.peers.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.java.admin.commands import Ours
    from tests.peers.cluster import JavaCluster

pytestmark = pytest.mark.full


CLUSTER = "contained"


@pytest.fixture
def container(
    java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaContainer]:
    have_here(partial(java_cache.jars, CURRENT, CONTAINER_POM))
    folder = tmp_path_factory.mktemp("container")
    with JavaContainer(folder, [java_cluster.address]) as made:
        yield made


def test_a_container_starts_and_stops_brokers_for_either(
    container: JavaContainer, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    def listed() -> set[str]:
        return {one["brokerName"] for one in ours(f"clusterList -c {CLUSTER}") or ()}

    by_us, by_mqadmin = unique("by-us"), unique("by-mqadmin")
    path = container.configured(by_us, CLUSTER)
    (told,) = ours(f"addBroker -c {container.address} -b {path}")
    assert told == {"containerAddr": container.address, "configPath": str(path)}
    other = container.configured(by_mqadmin, CLUSTER)
    assert "success" in mqadmin(f"addBroker -c {container.address} -b {other}")
    wait_until(lambda: listed() == {by_us, by_mqadmin}, "both brokers have registered")

    ours(f"addBroker -c {container.address} -b {path}")
    assert (ours.status, ours.error.count("\n")) == (1, 1), ours.error
    assert "success" in mqadmin(f"removeBroker -c {container.address} -b {CLUSTER}:{by_us}:0")
    wait_until(lambda: listed() == {by_mqadmin}, "mqadmin has removed ours")
    ours(f"removeBroker -c {container.address} -b {CLUSTER}:{by_mqadmin}:0")
    assert ours.status == 0, ours.error
    wait_until(lambda: not listed(), "we have removed mqadmin's")
    ours(f"removeBroker -c {container.address} -b {CLUSTER}:{by_us}:0")
    assert ours.status == 1
