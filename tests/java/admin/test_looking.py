"""``doctor`` and ``diff`` with Java's name server and brokers, and with our name server."""

from pathlib import Path

from tests.java.admin.commands import LONG, Programs, without_disk
from tests.peers.cluster import BROKER, JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import OLD, JavaBroker, JavaNameServer
from tests.peers.processes import free_ports, wait_until
from tests.support.admin_process import run

SLAVE = {**BROKER, "brokerRole": "SLAVE", "brokerId": 1}


def test_doctor_finds_no_fault_in_a_cluster_and_a_missing_name_server(
    java_cluster: JavaCluster,
) -> None:
    topic = Programs(java_cluster).create_topic("doctor", 2)
    silent = f"127.0.0.1:{free_ports()}"

    words = ("doctor", "-o", "json", "-t", topic, *LONG)
    well = run(*words, "-n", java_cluster.address)
    ill = run(*words, "-n", f"{java_cluster.address};{silent}")

    findings = without_disk(well.rows)
    assert (well.status, well.complaint) == (0 if findings == well.rows else 4, "")
    ok = {"status": "ok", "id": None, "advice": None}
    assert findings == [
        {**ok, "kind": words[0], "name": words[1], "finding": words[2]}
        for words in (
            ("nameServer", java_cluster.address, "responds, V5_5_0"),
            ("broker", "broker-a", f"master {java_cluster.master.address} responds, V5_5_0"),
            ("topics", "all", "1 checked, no findings"),
        )
    ]
    assert (ill.status, ill.complaint) == (1, "")
    (problem,) = (row for row in ill.rows if row["status"] == "problem")
    assert (problem["kind"], problem["name"]) == ("nameServer", silent)


def test_doctor_finds_the_faults_of_a_real_cluster(tmp_path: Path) -> None:
    # Two name servers; a master at both and its slave at the second only, a broker at the first only, one at another address.
    with (
        JavaNameServer(tmp_path / "one") as first,
        JavaNameServer(tmp_path / "two") as second,
        JavaBroker(tmp_path / "a", [first.address, second.address], BROKER, name="a") as both,
        JavaBroker(tmp_path / "slave", [second.address], SLAVE, name="a") as slave,
        JavaBroker(tmp_path / "b", [first.address], BROKER, name="b", version=OLD) as partly,
        JavaBroker(
            tmp_path / "c",
            [first.address, second.address],
            {**BROKER, "brokerIP1": "127.0.0.9"},
            name="c",
        ),
    ):
        both.wait_registered(second.port)
        slave.wait_registered(second.port)
        partly.wait_registered(first.port)
        servers = ("-n", f"{first.address};{second.address}", *LONG)
        topic = unique("readonly")
        for perm in ("6", "4"):
            words = ("updateTopic", "-b", both.address, "-t", topic, "-r", "1", "-w", "1")
            assert run(*words, "-p", perm, *servers).status == 0

        def read_findings() -> dict[tuple[str, str], str]:
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
        wait_until(lambda: read_findings() == expected, "all faults and nothing else")
