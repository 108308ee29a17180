"""Our broker at name servers of Java, which come, go and come back."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import CURRENT, OLD, JavaNameServer
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here

PERIOD = {"registerNameServerPeriod": 10_000}
"""The least that Java allows; the default is 30 s."""


@pytest.mark.full
def test_restarted_name_servers_of_two_releases_know_the_broker_again(tmp_path: Path) -> None:
    for release in (CURRENT, OLD):
        have_here(partial(java_cache.jars, release))
    servers = [JavaNameServer(tmp_path / release, version=release) for release in (CURRENT, OLD)]
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server)
        addresses = [server.address for server in servers]
        broker = stack.enter_context(DevBroker(tmp_path / "broker", addresses, PERIOD))
        listed = [raw_call.brokers(server.port) for server in servers]

        for server in servers:
            server.kill()
        create_topic(broker, "orders")  # while no name server runs
        for server in servers:
            server.start()
        for server in servers:
            port = server.port
            wait_until(
                partial(raw_call.routes_to, port, "orders", broker.address), "registered", 120
            )

        broker.stop()
        for server in servers:
            port = server.port
            wait_until(partial(is_empty, port), "unregistered", 60)

    assert listed == [{broker.address}] * 2


def is_empty(port: int) -> bool:
    return not raw_call.brokers(port)


def create_topic(broker: DevBroker, topic: str) -> None:
    fields = {"topic": topic, "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4"}
    settings = {"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}
    port = int(broker.address.rpartition(":")[2])
    answer = raw_call.ask(port, 17, {**fields, **settings})
    assert answer.header["code"] == 0
