"""``doctor`` and ``diff`` with Java's name server and brokers, and with our name server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.java.admin.commands import without_disk
from tests.peers.cluster import BROKER
from tests.peers.messages import unique
from tests.peers.peers import OLD, JavaBroker, JavaNameServer
from tests.peers.processes import free_ports, wait_until
from tests.support.admin_process import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer

SLAVE = {**BROKER, "brokerRole": "SLAVE", "brokerId": 1}


PATIENT = ("--request-timeout", "120")


def test_doctor_finds_nothing_wrong_with_a_cluster_that_is_well_and_a_name_server_that_is_gone(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    topic = unique("doctor")
    java_peer.admin(
        java_cluster.address, f"updateTopic -b {java_cluster.master.address} -t {topic} -r 2 -w 2"
    )
    nobody = f"127.0.0.1:{free_ports()}"

    words = ("doctor", "-o", "json", "-t", topic, *PATIENT)
    well = run(*words, "-n", java_cluster.address)
    ill = run(*words, "-n", f"{java_cluster.address};{nobody}")

    findings = without_disk(well.rows)
    status = 0 if findings == well.rows else 4
    assert (status, "") == (well.status, well.complaint)
    assert [
        {
            "status": "ok",
            "kind": "nameServer",
            "name": java_cluster.address,
            "finding": "responds, V5_5_0",
            "id": None,
            "advice": None,
        },
        {
            "status": "ok",
            "kind": "broker",
            "name": "broker-a",
            "finding": f"master {java_cluster.master.address} responds, V5_5_0",
            "id": None,
            "advice": None,
        },
        {
            "status": "ok",
            "kind": "topics",
            "name": "all",
            "finding": "1 checked, no findings",
            "id": None,
            "advice": None,
        },
    ] == findings
    assert (1, "") == (ill.status, ill.complaint)
    (problem,) = (row for row in ill.rows if row["status"] == "problem")
    assert ("nameServer", nobody) == (problem["kind"], problem["name"])


def test_doctor_finds_what_is_wrong_with_a_real_cluster(tmp_path: Path) -> None:
    """Two name servers; a master at both and its slave at the second only, a broker at the first only, one at another address."""
    with (
        JavaNameServer(tmp_path / "one") as one,
        JavaNameServer(tmp_path / "two") as two,
        JavaBroker(tmp_path / "a", [one.address, two.address], BROKER, name="a") as both,
        JavaBroker(tmp_path / "slave", [two.address], SLAVE, name="a") as slave,
        JavaBroker(tmp_path / "b", [one.address], BROKER, name="b", version=OLD) as partly,
        JavaBroker(
            tmp_path / "c",
            [one.address, two.address],
            {**BROKER, "brokerIP1": "127.0.0.9"},
            name="c",
        ),
    ):
        both.wait_registered(two.port)
        slave.wait_registered(two.port)
        partly.wait_registered(one.port)
        servers = ("-n", f"{one.address};{two.address}", *PATIENT)
        topic = unique("readonly")
        for perm in ("6", "4"):
            words = ("updateTopic", "-b", both.address, "-t", topic, "-r", "1", "-w", "1")
            assert run(*words, "-p", perm, *servers).status == 0

        def look() -> dict[tuple[str, str], str]:
            rows = run("doctor", "-q", "-o", "json", "-t", topic, *servers).rows
            return {(row["id"], row["name"]): row["status"] for row in without_disk(rows)}

        expected = {
            ("broker-registered-partly", "a"): "problem",
            ("broker-registered-partly", "b"): "problem",
            ("broker-other-address", "c"): "problem",
            ("topic-not-writable", topic): "warning",
            ("versions-brokers", "DefaultCluster"): "warning",
        }
        # name servers learn of the permission, and the slave begins to fetch
        wait_until(lambda: look() == expected, "all that is wrong and nothing else")


def test_a_group_that_no_broker_has_is_named_as_such(java_cluster: JavaCluster) -> None:
    for command in ("getConsumerConfig", "consumerProgress", "consumerConnection"):
        refused = run(command, "-g", "nosuch", "-n", java_cluster.address, *PATIENT)
        assert (1, b"") == (refused.status, refused.out)
        assert refused.complaint.startswith("rocketwire-admin: no such group nosuch: ")
