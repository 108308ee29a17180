"""Groups of brokers whose master dies: the slave acts for it until it is back, or is elected in its place.

Where the master comes back, brokers are of 5.3.3: a master of 5.5.0 does not come back once its slave has served a consumer, whatever the name server,
because it cannot read the offsets that the slave then hands over (integer keys inside a member that it wants to skip).
"""

import json
import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.peers import raw_call
from tests.peers.controller import JavaController
from tests.peers.peers import MIDDLE, JavaBroker, JavaPeer, number_keys, sort_keys
from tests.peers.processes import PeerFailedError, wait_until
from tests.support.name_servers import DEFAULT_KIND, name_server, start_all

pytestmark = pytest.mark.full


WRITE = 2
TOPIC = "Replicated"
LIVELY = {"registerNameServerPeriod": 10_000, "brokerNotActiveTimeoutMillis": 60_000}
"""They are back soon, and are not taken for dead when a busy machine lets them wait for the usual ten seconds."""


class View(NamedTuple):
    """The group in the route of the topic: id -> address, and whether it is writable."""

    members: dict[str, str]
    writable: bool


def read_view(port: int) -> View | None:
    answer = raw_call.ask(port, raw_call.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC})
    if answer.header["code"] != 0:
        return None
    route = json.loads(answer.body)
    (group,), (queues,) = route["brokerDatas"], route["queueDatas"]
    return View(group["brokerAddrs"], bool(queues["perm"] & WRITE))


def read_log_end(peer: JavaPeer, server: str, broker: JavaBroker) -> str | None:
    status = peer.admin(server, f"brokerStatus -b {broker.address}").out
    offset = re.search(r"commitLogMaxOffset\s*: (\d+)", status)
    return offset[1] if offset else None


def names(file: Path, topic: str) -> bool:
    return file.is_file() and f'"{topic}"' in file.read_text("utf-8")


def test_a_slave_acts_for_its_killed_master_and_gives_way_to_it(
    peer: JavaPeer, tmp_path: Path
) -> None:
    options = {"supportActingMaster": "true", "notifyMinBrokerIdChanged": "true"}
    server = name_server(DEFAULT_KIND, tmp_path / "namesrv", options)
    group = {
        "enableSlaveActingMaster": "true",
        "totalReplicas": 2,
        "slaveReadEnable": "true",
        **LIVELY,
    }
    as_slave = {**group, "brokerRole": "SLAVE", "brokerId": 1}
    master = JavaBroker(tmp_path / "master", [server.address], group, version=MIDDLE)
    slave = JavaBroker(tmp_path / "slave", [server.address], as_slave, version=MIDDLE)
    slaves_topics = tmp_path / "slave" / "store" / "config" / "topics.json"

    def shows(expected: View) -> bool:
        return read_view(server.port) == expected

    with server, start_all(master, slave):
        for broker in (master, slave):
            broker.wait_registered(server.port)
        peer.admin(server.address, f"updateTopic -b {master.address} -t {TOPIC} -r 2 -w 2")
        complete = View({"0": master.address, "1": slave.address}, writable=True)
        wait_until(partial(shows, complete), "the route of both")
        peer.send(server.address, TOPIC, "group-producers", range(20))
        wait_until(partial(names, slaves_topics, TOPIC), "the slave knows the topic")
        ends = read_log_end(peer, server.address, master)
        wait_until(lambda: read_log_end(peer, server.address, slave) == ends, "replication")

        master.kill()
        acting = View({"0": slave.address}, writable=False)
        wait_until(partial(shows, acting), "the slave acts as master")
        peer.consume(server.address, TOPIC, "group-consumers")
        from_slave = sort_keys(peer.received("group-consumers", 20))
        with pytest.raises(PeerFailedError):
            peer.send(server.address, TOPIC, "late-producers", range(1))

        master.start()
        wait_until(partial(shows, complete), "the master is back")
        peer.send(server.address, TOPIC, "new-producers", range(20, 40))
        from_both = sort_keys(peer.received("group-consumers", 40))
        for clients in ("group-producers", "late-producers", "new-producers", "group-consumers"):
            peer.close(clients)

    assert ends is not None
    assert from_slave == number_keys(20)
    assert from_both == number_keys(40)


def test_a_slave_that_a_controller_elects_is_the_master_of_the_route(
    peer: JavaPeer, tmp_path: Path
) -> None:
    server = name_server(DEFAULT_KIND, tmp_path / "namesrv")
    with server, JavaController(tmp_path / "controller") as controller:
        options = {
            "enableControllerMode": "true",
            "controllerAddr": controller.address,
            "brokerId": -1,
            **LIVELY,
        }
        brokers = [JavaBroker(tmp_path / name, [server.address], options) for name in "ab"]

        def shows_one_of_two() -> bool:
            route = read_view(server.port)
            return route is not None and len(route.members) == 2 and "0" in route.members

        def shows_the_slave_alone() -> bool:
            return read_view(server.port) == View({"0": slave.address}, writable=True)

        with start_all(*brokers):
            for broker in brokers:
                broker.wait_registered(server.port)
            peer.admin(server.address, f"updateTopic -c DefaultCluster -t {TOPIC} -r 2 -w 2")
            wait_until(shows_one_of_two, "the route of master and slave")
            route = read_view(server.port)
            assert route is not None
            (master,) = (broker for broker in brokers if broker.address == route.members["0"])
            (slave,) = (broker for broker in brokers if broker is not master)
            peer.send(server.address, TOPIC, "elected-producers", range(20))
            ends = read_log_end(peer, server.address, master)
            wait_until(lambda: read_log_end(peer, server.address, slave) == ends, "replication")

            master.kill()
            wait_until(shows_the_slave_alone, "the slave is elected")
            # a new one: the first still knows the old route for up to a second
            peer.send(server.address, TOPIC, "elected-producers-2", range(20, 40))
            peer.consume(server.address, TOPIC, "elected-consumers")
            keys = peer.received("elected-consumers", 40)
            for clients in ("elected-producers", "elected-producers-2", "elected-consumers"):
                peer.close(clients)

    assert sort_keys(keys) == number_keys(40)
