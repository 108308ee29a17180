"""Java's brokers and clients get their name servers from the second port, and see a new one without a restart."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.peers import CURRENT, MIDDLE, OLD, JavaBroker, JavaPeer
from tests.peers.processes import LOOPBACK, free_ports, wait_until
from tests.peers.shared_peers import have_here
from tests.support.name_servers import OurNameServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RELEASES = (CURRENT, MIDDLE, OLD)
FETCH = "-Drocketwire.fetchNameServersMillis=500"
"""Java's own timer fetches every two minutes."""


class Told(NamedTuple):
    """Brokers whose configuration names no name server.

    Attributes:
        servers: four name servers; the first one has the lists.
        brokers: release -> broker.
        lists: the file of the lists.
        domain: JVM option that names the address server.
    """

    servers: list[OurNameServer]
    brokers: dict[str, JavaBroker]
    lists: Path
    domain: str

    def write(self, *servers: OurNameServer) -> None:
        """Let the address server give these name servers out."""
        self.lists.write_text(f"nsaddr={';'.join(server.address for server in servers)}\n")

    def wait_registered(self, server: OurNameServer) -> None:
        """Wait until all brokers have registered."""
        for broker in self.brokers.values():
            broker.wait_registered(server.port)


@pytest.fixture(scope="module")
def told(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Three name servers that the address server knows, one that it does not know, and a broker of each release."""
    folder = tmp_path_factory.mktemp("address-server")
    lists = folder / "addresses.properties"
    port, *others = (free_ports() for _ in range(4))
    domain = f"-Drocketmq.namesrv.domain={LOOPBACK}:{port}"
    with ExitStack() as running:
        servers = [
            OurNameServer(
                folder / f"n{number}",
                {} if number else {"rocketwire.addressServerFile": lists},
                jvm=[f"-Drocketwire.observePort={observed}"],
            )
            for number, observed in enumerate((port, *others))
        ]
        brokers: dict[str, JavaBroker] = {}
        for number, release in enumerate(RELEASES):
            have_here(partial(java_cache.classes, release, "Broker.java"))
            settings = {
                "fetchNamesrvAddrByAddressServer": "true",
                "registerNameServerPeriod": 10_000,
            }
            brokers[release] = JavaBroker(
                folder / release,
                [],
                settings,
                name=f"told-{number}",
                version=release,
                jvm=[domain, FETCH],
            )
        found = Told(servers, brokers, lists, domain)
        found.write(*servers[:3])
        for server in servers:
            running.enter_context(server)
        for broker in brokers.values():
            running.enter_context(broker)
        for server in servers[:3]:
            found.wait_registered(server)
        yield found


@pytest.mark.full
def test_running_brokers_register_at_a_name_server_that_is_added(told: Told) -> None:
    fourth = told.servers[3]
    pids = {release: broker.pid for release, broker in told.brokers.items()}

    told.write(*told.servers)

    told.wait_registered(fourth)
    assert {release: broker.pid for release, broker in told.brokers.items()} == pids
    assert raw_call.brokers(fourth.port) == {broker.address for broker in told.brokers.values()}


@pytest.mark.full
@pytest.mark.parametrize("release", RELEASES)
def test_clients_send_through_the_name_servers_that_they_are_given(
    told: Told, release: str, tmp_path: Path
) -> None:
    have_here(partial(java_cache.classes, release, "Peer.java"))
    topic = f"Told-{release.replace('.', '-')}"
    broker = told.brokers[release]
    with JavaPeer(tmp_path, version=release, jvm=[told.domain]) as peer:
        server = told.servers[0]
        peer.admin(server.address, f"updateTopic -b {broker.address} -t {topic} -r 1 -w 1")
        wait_until(
            lambda: raw_call.routes_to(server.port, topic, broker.address), f"{topic} is routed"
        )
        peer.send("", topic, "told-producers", range(3))
