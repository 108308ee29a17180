"""A broker that registers an address where nothing listens, as in Kubernetes and with NAT."""

from pathlib import Path

import pytest

from tests.peers.cluster import BROKER, ROOM
from tests.peers.messages import unique
from tests.peers.peers import JavaBroker, JavaNameServer
from tests.support.admin_process import run as run_admin


def test_commands_reach_it_through_a_remap_and_doctor_shows_both_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JavaNameServer(tmp_path / "namesrv") as name_server:
        options = {**BROKER, "brokerIP1": "127.99.99.99"}
        folder = tmp_path / "broker"
        with JavaBroker(folder, [name_server.address], options, jvm=ROOM) as broker:
            reachable = broker.address
            broker.address = reachable.replace("127.0.0.1", "127.99.99.99")
            broker.wait_registered(name_server.port)
            check_commands(name_server.address, broker.address, reachable, monkeypatch)


def check_commands(
    name_server: str, registered: str, reachable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = ("-n", name_server, "--request-timeout", "120")
    lost = run_admin("brokerStatus", "-b", registered, "-n", name_server)
    assert (lost.status, "Connection refused" in lost.complaint) == (3, True)
    monkeypatch.setenv("ROCKETWIRE_ADDRESS_MAP", f"127.99.*={reachable}")

    topic = unique("remapped")
    assert run_admin("updateTopic", "-c", "DefaultCluster", "-t", topic, *servers).status == 0
    produced = run_admin("produce", "-t", topic, "-o", "json", *servers, given=b"hello\n")
    assert produced.status == 0, produced
    (sent,) = produced.lines
    query = run_admin("queryMsgById", "-t", topic, "-i", sent["msgId"], "-o", "json", *servers)
    assert query.status == 0, query
    doctor = run_admin("doctor", "-t", topic, "-o", "json", *servers)
    (row,) = (row for row in doctor.rows if row["kind"] == "broker" and row["name"] == "broker-a")

    assert row["status"] == "ok"
    assert row["finding"] == (
        f"master {registered} responds at {reachable}, to which it is mapped, V5_5_0;"
        " not at its registered address (Connection refused)"
    )
