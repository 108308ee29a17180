"""Brokers, clients and mqadmin of 5.5.0, 5.3.3 and 4.9.4 together, at a name server of each driver and at Java's.

All three brokers register with all the name servers, so that these can be compared while they know the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pytest

from tests.peers import raw_call
from tests.peers.peers import BINARY_HEADERS, RELEASES, JavaBroker, JavaPeer, number_keys, sort_keys
from tests.peers.processes import wait_until
from tests.support.name_servers import DEFAULT_KIND, NameServer, name_server, start_all

DRIVERS = ("reactor", "portable") if DEFAULT_KIND == "ours" else ("java",)
EVERYWHERE = "Everywhere"
"""A topic of all three brokers; those of a single one are named after its release."""
EACH = 10
"""Messages that one producer sends to one topic."""


@dataclass(frozen=True, slots=True)
class Cluster:
    servers: Mapping[str, NameServer]
    brokers: Mapping[str, JavaBroker]

    def routed(self, topic: str, release: str) -> bool:
        address = self.brokers[release].address
        return all(
            raw_call.routes_to(server.port, topic, address) for server in self.servers.values()
        )


def topics_of(release: str) -> list[str]:
    # Topics at the broker of that release: one of its own and one of all brokers, for the clients of each driver.
    return [f"{topic}-{driver}" for driver in DRIVERS for topic in (name_of(release), EVERYWHERE)]


def name_of(release: str) -> str:
    return f"Of{release.replace('.', '')}"


@pytest.fixture(scope="module")
def site(
    peers: Mapping[str, JavaPeer], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("mixed")
    products = dict.fromkeys(DRIVERS, DEFAULT_KIND) | {"java": "java"}
    servers = {
        name: name_server(product, folder / name, {"rocketwire.driver": name})
        for name, product in products.items()
    }
    addresses = [server.address for server in servers.values()]
    often = {"registerNameServerPeriod": 10_000}
    brokers = {
        release: JavaBroker(
            folder / release, addresses, often, name=f"broker-{release}", version=release
        )
        for release in RELEASES
    }
    with start_all(*servers.values()), start_all(*brokers.values()):
        cluster = Cluster(servers, brokers)
        for release, broker in brokers.items():
            for server in servers.values():
                broker.wait_registered(server.port)
            for topic in topics_of(release):
                line = f"updateTopic -b {broker.address} -t {topic} -r 2 -w 2"
                peers[release].admin(addresses[0], line)
        for release in RELEASES:
            for topic in topics_of(release):
                what = f"{topic} is routed to {release}"
                wait_until(partial(cluster.routed, topic, release), what)
        yield cluster


def exchange(clients: Mapping[str, JavaPeer], address: str, topic: str) -> dict[str, list[str]]:
    # Let every client send to the topic, and then every one read it; returns the different keys that each received.
    for number, producer in enumerate(clients.values()):
        numbers = range(number * EACH, (number + 1) * EACH)
        producer.send(address, topic, f"{topic}-producers", numbers)
        producer.close(f"{topic}-producers")
    groups = {release: f"{topic}-{name_of(release)}" for release in clients}
    for release, consumer in clients.items():
        consumer.consume(address, topic, groups[release])
    received: dict[str, list[str]] = {}
    for release, consumer in clients.items():
        keys = consumer.received(groups[release], len(clients) * EACH)
        received[release] = sort_keys(keys)
        consumer.close(groups[release])
    return received


@pytest.mark.parametrize(
    "topic",
    [*(pytest.param(name_of(release), marks=pytest.mark.full) for release in RELEASES), EVERYWHERE],
)
@pytest.mark.parametrize(
    "driver",
    [DRIVERS[0], *(pytest.param(driver, marks=pytest.mark.full) for driver in DRIVERS[1:])],
)
def test_clients_of_all_releases_exchange_messages(
    driver: str, topic: str, site: Cluster, peers: Mapping[str, JavaPeer]
) -> None:
    address = site.servers[driver].address

    received = exchange(peers, address, f"{topic}-{driver}")

    assert received == dict.fromkeys(RELEASES, number_keys(len(RELEASES) * EACH))


@pytest.mark.full
@pytest.mark.parametrize("release", RELEASES)
def test_clients_of_each_release_may_have_binary_headers(
    release: str, site: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    address = site.servers[DRIVERS[0]].address
    folder = tmp_path_factory.mktemp("binary")
    with JavaPeer(folder, version=release, jvm=[BINARY_HEADERS]) as binary:
        table = binary.admin(address, "clusterList").out
        received = exchange({release: binary}, address, f"Binary-{name_of(release)}")

    assert all(broker.address in table for broker in site.brokers.values())
    assert received == {release: number_keys(EACH)}
