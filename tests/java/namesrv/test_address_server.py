"""Java's brokers and clients get their name servers from the second port, and see a new one without a restart."""

from functools import partial
from pathlib import Path

import pytest

from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaPeer
from tests.peers.processes import LOOPBACK, free_ports, wait_until
from tests.peers.shared_peers import have_here
from tests.support.name_servers import OurNameServer, start_all

FETCH = "-Drocketwire.fetchNameServersMillis=500"
"""Java's own timer fetches every two minutes."""
SETTINGS = {"fetchNamesrvAddrByAddressServer": "true", "registerNameServerPeriod": 10_000}


@pytest.mark.full
@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_brokers_and_clients_read_their_name_servers_from_a_list(
    release: str, java: None, tmp_path: Path
) -> None:
    for program in ("Broker.java", "Peer.java"):
        have_here(partial(java_cache.classes, release, program))
    lists = tmp_path / "addresses.properties"
    port, other_port = free_ports(), free_ports()
    domain = f"-Drocketmq.namesrv.domain={LOOPBACK}:{port}"
    first, second = (
        OurNameServer(
            tmp_path / name,
            {"rocketwire.addressServerFile": lists},
            jvm=[f"-Drocketwire.observePort={observe_port}"],
        )
        for name, observe_port in (("first", port), ("second", other_port))
    )
    lists.write_text(f"nsaddr={first.address}\n")
    broker = JavaBroker(
        tmp_path / "broker", [], SETTINGS, name="told", version=release, jvm=[domain, FETCH]
    )

    with start_all(first, second), broker:
        broker.wait_registered(first.port)
        lists.write_text(f"nsaddr={first.address};{second.address}\n")
        broker.wait_registered(second.port)
        with JavaPeer(tmp_path / "peer", version=release, jvm=[domain]) as peer:
            peer.admin(first.address, f"updateTopic -b {broker.address} -t Told -r 1 -w 1")
            routed = partial(raw_call.routes_to, first.port, "Told", broker.address)
            wait_until(routed, "the topic is routed")
            peer.send("", "Told", "told-producers", range(3))
