"""Peers out of the ordinary: compressed registrations, binary headers, several name servers, a slave, an old release."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers import raw_call
from tests.peers.peers import OLD, JavaBroker, JavaPeer, number_keys, sort_keys
from tests.peers.processes import PeerFailedError, wait_until
from tests.support.name_servers import DEFAULT_KIND, NameServer, name_server, start_all

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def server(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameServer]:
    # One name server for all tests of this file; their brokers have names and clusters of their own.
    with name_server(DEFAULT_KIND, tmp_path_factory.mktemp("variants")) as running:
        yield running


def exchange(peer: JavaPeer, server: NameServer, topic: str, broker: JavaBroker) -> list[str]:
    peer.admin(server.address, f"updateTopic -b {broker.address} -t {topic} -r 2 -w 2")
    wait_until(lambda: raw_call.routes_to(server.port, topic, broker.address), f"route of {topic}")
    return peer.exchange(server.address, topic, 50)


def test_a_broker_of_4_9_4_registers_compressed(
    server: NameServer, peer: JavaPeer, tmp_path: Path
) -> None:
    options = {"compressedRegister": "true", "brokerClusterName": "OldCluster"}
    broker = JavaBroker(
        tmp_path / "broker", [server.address], options, name="broker-old", version=OLD
    )
    with broker, JavaPeer(tmp_path / "peer", version=OLD) as old_peer:
        broker.wait_registered(server.port)
        table = old_peer.cluster_table(server.address, "V4_9_4")
        by_old = exchange(old_peer, server, "OfOld", broker)
        by_new = exchange(peer, server, "OfNew", broker)

    assert f"broker-old              0     {broker.address}        V4_9_4" in table
    assert by_old == by_new == number_keys(50)


@pytest.mark.skipif(DEFAULT_KIND == "java", reason="Java's name server refuses it")
def test_a_deflated_registration_without_its_mark_is_accepted(
    server: NameServer, peer: JavaPeer, tmp_path: Path
) -> None:
    options = {"compressedRegister": "true", "brokerClusterName": "DeflatingCluster"}
    with name_server("java", tmp_path / "namesrv") as javas:
        both = [javas.address, server.address]
        broker = JavaBroker(tmp_path / "broker", both, options, name="broker-deflating")
        with broker:
            broker.wait_registered(server.port)
            keys = exchange(peer, server, "Deflating", broker)
            with pytest.raises(PeerFailedError, match="not within"):
                broker.wait_registered(javas.port, seconds=1)

    assert keys == number_keys(50)


def test_one_of_two_name_servers_is_enough(peer: JavaPeer, tmp_path: Path) -> None:
    first = name_server(DEFAULT_KIND, tmp_path / "first")
    second = name_server(DEFAULT_KIND, tmp_path / "second")
    addresses = [first.address, second.address]
    both = ";".join(addresses)
    master = JavaBroker(tmp_path / "master", addresses)
    slave = JavaBroker(tmp_path / "slave", addresses, {"brokerRole": "SLAVE", "brokerId": 1})
    with start_all(first, second), start_all(master, slave):
        for broker in (master, slave):
            for port in (first.port, second.port):
                broker.wait_registered(port)
        groups = [read_members(port) for port in (first.port, second.port)]
        peer.admin(both, "updateTopic -c DefaultCluster -t Doubly -r 2 -w 2")
        peer.consume(both, "Doubly", "doubly-consumers")
        peer.send(both, "Doubly", "doubly-producers", range(25))
        first.kill()
        peer.admin(second.address, "updateTopic -c DefaultCluster -t Later -r 2 -w 2")
        wait_until(lambda: can_send(peer, both, "Later", "doubly-producers"), "a new route")
        peer.send(both, "Doubly", "doubly-producers", range(25, 50))
        keys = peer.received("doubly-consumers", 50)
        peer.close("doubly-consumers")
        peer.close("doubly-producers")

    assert groups == [{"0": master.address, "1": slave.address}] * 2
    assert sort_keys(keys) == number_keys(50)


def can_send(peer: JavaPeer, name_servers: str, topic: str, group: str) -> bool:
    # Whether a producer gets a message through; Java's may fail once after one of its name servers has died.
    try:
        peer.send(name_servers, topic, group, range(1))
    except PeerFailedError:
        return False
    return True


def read_members(port: int) -> dict[str, str]:
    # Return id -> address of the brokers of TBW102's route; asked with a version that gets strict JSON.
    body = raw_call.ask(port, raw_call.GET_ROUTEINFO_BY_TOPIC, {"topic": "TBW102"}).body
    (data,) = json.loads(body)["brokerDatas"]
    members: dict[str, str] = data["brokerAddrs"]
    return members
