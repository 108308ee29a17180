"""Name servers are restarted one after the other, and Java's producers of three releases lose no send."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.peers import raw_call
from tests.peers.peers import CURRENT, JavaBroker, JavaPeer
from tests.peers.processes import wait_until
from tests.support.name_servers import OurNameServer

pytestmark = pytest.mark.full

OFTEN = {"registerNameServerPeriod": 10_000}
"""The least that Java allows; the default is 30 s."""
WAIT = {"needWaitForService": "true", "waitSecondsForService": 12}
"""A name server that has just started returns no route before the brokers have registered again."""


def wait_routed(server: OurNameServer, broker: JavaBroker) -> None:
    wait_until(
        lambda: raw_call.routes_to(server.port, "Rolling", broker.address),
        f"{server.address} returns the route",
    )


def test_a_rolling_restart_of_three_name_servers_loses_no_send(
    peers: Mapping[str, JavaPeer], tmp_path: Path
) -> None:
    servers = [OurNameServer(tmp_path / f"n{number}", WAIT) for number in range(3)]
    addresses = ";".join(server.address for server in servers)
    groups = {release: f"rolling-{release.replace('.', '-')}" for release in peers}
    peer = peers[CURRENT]

    def wait_sent() -> None:
        for release, group in groups.items():
            peers[release].wait_loaded(group, 100)

    with ExitStack() as running:
        for server in servers:
            running.enter_context(server)
        broker = JavaBroker(tmp_path / "broker", [server.address for server in servers], OFTEN)
        running.enter_context(broker)
        for server in servers:
            broker.wait_registered(server.port)
        peer.admin(servers[0].address, "updateTopic -c DefaultCluster -t Rolling -r 4 -w 4")
        for server in servers:
            wait_routed(server, broker)
        peer.consume(addresses, "Rolling", "rolling-consumers")
        for release, group in groups.items():
            peers[release].load(addresses, "Rolling", group)
        wait_sent()

        for server in servers:
            server.stop()
            wait_sent()
            server.start()
            wait_routed(server, broker)
            wait_sent()

        loads = {release: peers[release].unload(group) for release, group in groups.items()}
        stored = frozenset[str]().union(*(load.stored for load in loads.values()))
        received = set(peer.received("rolling-consumers", len(stored)))
        peer.close("rolling-consumers")
        for release, group in groups.items():
            peers[release].close(group)

    assert {release: load.failures for release, load in loads.items()} == {
        release: [] for release in peers
    }
    assert stored <= received
