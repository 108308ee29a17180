"""What operators see of a server that a real broker, its clients and mqadmin use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.name_servers import DEFAULT_KIND
from tests.support.processes import wait_until

if TYPE_CHECKING:
    from tests.java.namesrv.conftest import Cluster
    from tests.support.java.peers import JavaPeer

pytestmark = pytest.mark.skipif(
    DEFAULT_KIND != "ours", reason="Java's name server has no such port"
)

URL = re.compile(r"operators find metrics and status at (http://127\.0\.0\.1:\d+/)")
SECONDS = 60


def page(cluster: Cluster, path: str = "") -> str:
    found = URL.search(cluster.server.log)
    assert found, "the log names the port"
    with urlopen(found[1] + path, timeout=SECONDS) as answer:
        text: str = answer.read().decode()
    return text


def series(cluster: Cluster, name: str, **labels: str) -> float:
    """The sum of a metric over the series that have these labels."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(page(cluster, "metrics"))
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def requests(cluster: Cluster, code: str) -> float:
    return series(cluster, "rocketmq_namesrv_requests_total", request_code=code)


def test_the_page_shows_the_broker_and_the_metrics_count_it(cluster: Cluster) -> None:
    shown = page(cluster)

    assert cluster.broker.address in shown
    assert "<td>DefaultCluster</td><td>broker-a</td>" in shown
    assert "<td>master</td>" in shown
    assert "<td>V5_5_0</td>" in shown
    assert page(cluster, "readyz") == "ready\n"
    assert series(cluster, "rocketmq_namesrv_active_brokers") >= 1
    assert requests(cluster, "register_broker") >= 1
    labels = {"broker": "broker-a", "address": cluster.broker.address}
    last_seen = "rocketmq_namesrv_broker_last_seen_timestamp_seconds"
    assert series(cluster, last_seen, **labels) > 1_700_000_000
    assert series(cluster, "rocketmq_rpc_latency_count", request_code="register_broker") >= 1


def test_what_clients_and_mqadmin_do_is_counted_and_shown(cluster: Cluster, peer: JavaPeer) -> None:
    address = cluster.server.address
    before = requests(cluster, "get_routeinfo_by_topic")
    wipes = requests(cluster, "wipe_write_perm_of_broker")
    peer.admin(address, "updateTopic -c DefaultCluster -t Observed -r 4 -w 4")
    wait_until(lambda: "Observed" in page(cluster, "?topic=Observed"), "the topic is shown")
    peer.send(address, "Observed", "observed-producers", range(10))
    peer.close("observed-producers")
    peer.admin(address, "wipeWritePerm -b broker-a")
    wiped = page(cluster, "?topic=Observed")
    peer.admin(address, "addWritePerm -b broker-a")

    assert requests(cluster, "get_routeinfo_by_topic") > before
    assert requests(cluster, "wipe_write_perm_of_broker") == wipes + 1
    assert "<tr><td>broker-a</td><td>wipe</td>" in wiped
    assert re.search(r"Observed</code></td><td>broker-a: 4 4 R-", wiped)
    assert "<td>broker-a</td><td>add</td>" in page(cluster)
