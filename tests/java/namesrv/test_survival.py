"""Brokers and name servers that die and come back, with clients that live through it."""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.java.namesrv.conftest import Cluster
from tests.peers import raw_call
from tests.peers.peers import JavaBroker, JavaPeer
from tests.peers.processes import wait_until
from tests.support.name_servers import DEFAULT_KIND, name_server

FORGOTTEN_SECONDS = 60.0
"""Half of what a name server waits for a broker whose connection is still there."""


@pytest.fixture(scope="module")
def mortal(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # A cluster whose parts may be killed; each test leaves them alive.
    folder = tmp_path_factory.mktemp("mortal")
    server = name_server(DEFAULT_KIND, folder / "namesrv")
    often = {"registerNameServerPeriod": 10_000}  # the least that Java allows; the default is 30 s
    broker = JavaBroker(folder / "broker", [server.address], often)
    with server, broker:
        broker.wait_registered(server.port)
        yield Cluster(server, broker)


def is_routed(cluster: Cluster, topic: str = "TBW102") -> bool:
    return raw_call.routes_to(cluster.server.port, topic, cluster.broker.address)


def test_a_killed_broker_leaves_the_route_and_comes_back(mortal: Cluster, peer: JavaPeer) -> None:
    address = mortal.server.address
    peer.admin(address, "updateTopic -c DefaultCluster -t OfMortals -r 4 -w 4")
    peer.consume(address, "OfMortals", "mortal-consumers")
    peer.send(address, "OfMortals", "mortal-producers", range(10))

    mortal.broker.kill()
    wait_until(
        lambda: not is_routed(mortal), "the killed broker leaves the route", FORGOTTEN_SECONDS
    )
    missing = "OfMortals" not in peer.admin(address, "topicList").out
    mortal.broker.start()
    mortal.broker.wait_registered(mortal.server.port)
    wait_until(lambda: is_routed(mortal, "OfMortals"), "the topic is routed again")
    peer.send(address, "OfMortals", "mortal-producers", range(10, 20))
    keys = set(peer.received("mortal-consumers", 20))
    peer.close("mortal-producers")
    peer.close("mortal-consumers")

    assert missing
    assert keys == set(map(str, range(20)))


def test_clients_survive_a_restart_of_the_name_server(mortal: Cluster, peer: JavaPeer) -> None:
    address = mortal.server.address
    peer.admin(address, "updateTopic -c DefaultCluster -t Lasting -r 4 -w 4")
    wait_until(lambda: is_routed(mortal, "Lasting"), "the topic is routed")
    peer.consume(address, "Lasting", "lasting-consumers")
    peer.send(address, "Lasting", "lasting-producers", range(10))

    mortal.server.kill()
    peer.send(address, "Lasting", "lasting-producers", range(10, 20))
    mortal.server.start()
    peer.send(address, "Lasting", "lasting-producers", range(20, 30))
    mortal.broker.wait_registered(mortal.server.port)
    wait_until(lambda: is_routed(mortal, "Lasting"), "the topic is routed again")
    peer.send(address, "Lasting", "new-producers", range(30, 40))
    peer.send(address, "Lasting", "lasting-producers", range(40, 50))
    keys = peer.received("lasting-consumers", 50)
    for group in ("lasting-producers", "lasting-consumers", "new-producers"):
        peer.close(group)

    assert set(keys) == set(map(str, range(50)))


@pytest.mark.full
def test_a_broker_that_ends_unregisters_first(mortal: Cluster) -> None:
    log_before = mortal.server.log
    listed = partial(raw_call.knows_broker, mortal.server.port, mortal.broker.address)
    mortal.broker.ask_to_end()  # it takes 17 s, and unregisters at once
    wait_until(lambda: not listed(), "the broker unregisters", FORGOTTEN_SECONDS)
    log = mortal.server.log[len(log_before) :]
    mortal.broker.kill()
    mortal.broker.start()
    mortal.broker.wait_registered(mortal.server.port)

    if DEFAULT_KIND == "ours":
        assert "unregisterBroker, remove from brokerLiveTable OK" in log
