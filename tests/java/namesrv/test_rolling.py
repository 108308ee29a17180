"""Name servers are restarted one after the other, and Java's producer loses no send."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from tests.support import raw_call
from tests.support.java.peers import JavaBroker
from tests.support.name_servers import OurNameServer
from tests.support.processes import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.java.peers import JavaPeer

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
    java: None, peer: JavaPeer, tmp_path: Path
) -> None:
    servers = [OurNameServer(tmp_path / f"n{number}", WAIT) for number in range(3)]
    addresses = ";".join(server.address for server in servers)
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
        peer.load(addresses, "Rolling", "rolling-producers")
        peer.loaded("rolling-producers", 100)

        for server in servers:
            server.stop()
            peer.loaded("rolling-producers", 100)
            server.start()
            wait_routed(server, broker)
            peer.loaded("rolling-producers", 100)

        load = peer.unload("rolling-producers")
        received = set(peer.received("rolling-consumers", len(load.stored)))
        peer.close("rolling-producers")
        peer.close("rolling-consumers")

    assert load.failures == []
    assert load.stored <= received
