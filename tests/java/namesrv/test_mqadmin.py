"""Java's mqadmin prints the same tables whether it talks to Java's name server or to ours.

Each release with a broker of its own: they take turns at the same two name servers.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import pytest

from tests.peers.mqadmin_output import comparable
from tests.peers.peers import RELEASES, JavaBroker, JavaPeer, number_keys
from tests.support.name_servers import DEFAULT_KIND, NameServer, name_server, start_all

SCRIPT = (
    "clusterList",
    "topicList",
    "updateTopic -c DefaultCluster -t TopicA -r 4 -w 4",
    "updateTopic -c DefaultCluster -t TopicOrdered -r 2 -w 2 -o true",
    "topicList",
    "topicRoute -t TopicA",
    "topicRoute -t TopicA -l",
    "topicRoute -t TopicOrdered",
    "topicRoute -t NoSuchTopic",
    "topicClusterList -t TopicA",
    "topicStatus -t TopicA",
    "updateKvConfig -s SPACE -k key -v value",
    "deleteKvConfig -s SPACE -k key",
    "updateOrderConf -t TopicA -m put -v broker-a:4",
    "updateOrderConf -t TopicA -m get",
    "updateOrderConf -t TopicA -m delete",
    "updateOrderConf -t TopicA -m get",
    "wipeWritePerm -b broker-a",
    "topicRoute -t TopicA",
    "addWritePerm -b broker-a",
    "topicRoute -t TopicA",
    "wipeWritePerm -b no-such-broker",
    "getNamesrvConfig",
    "updateNamesrvConfig -k waitSecondsForService -v 46",
    "updateNamesrvConfig -k kvConfigPath -v elsewhere",
    "getNamesrvConfig",
    "updateStaticTopic -c DefaultCluster -t TopicStatic -qn 3",
    "topicRoute -t TopicStatic",
    "deleteTopic -c DefaultCluster -t TopicOrdered",
    "topicRoute -t TopicOrdered",
    "topicList",
)


class Tables(NamedTuple):
    """The output of the script with each name server, one text for each line of it; and the keys of messages after it."""

    java: list[str]
    ours: list[str]
    version: str
    keys: list[str]


@pytest.fixture(scope="module")
def both(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[NameServer]]:
    # ours must permit it; Java's prints the line as unknown
    options = {"rocketwire.allowConfigUpdate": "true"}
    servers = [
        name_server(product, tmp_path_factory.mktemp(folder), options)
        for product, folder in (("java", "java"), (DEFAULT_KIND, "ours"))
    ]
    with start_all(*servers):
        yield servers


@pytest.fixture(scope="module", params=RELEASES)
def tables(
    request: pytest.FixtureRequest,
    both: list[NameServer],
    peers: Mapping[str, JavaPeer],
    tmp_path_factory: pytest.TempPathFactory,
) -> Tables:
    version: str = request.param
    peer = peers[version]
    brokers = [
        JavaBroker(tmp_path_factory.mktemp("broker"), [server.address], version=version)
        for server in both
    ]
    shown = f"V{version.replace('.', '_')}"
    with start_all(*brokers):
        for server, broker in zip(both, brokers, strict=True):
            broker.wait_registered(server.port)
        javas, ours = map(partial(run_script, peer, shown), both, brokers)
        return Tables(javas, ours, shown, peer.exchange(both[1].address, "TopicA", 20))


def run_script(peer: JavaPeer, version: str, server: NameServer, broker: JavaBroker) -> list[str]:
    peer.cluster_table(server.address, version)
    outputs = [peer.admin(server.address, line) for line in SCRIPT]
    return [comparable(output, NAMESRV=server.address, BROKER=broker.address) for output in outputs]


@pytest.mark.parametrize(
    "number", range(len(SCRIPT)), ids=lambda number: f"{number}: {SCRIPT[number]}"
)
def test_mqadmin_prints_the_same_as_with_java(number: int, tables: Tables) -> None:
    assert tables.java[number] == tables.ours[number]


def test_the_tables_show_the_effects_of_the_script(tables: Tables) -> None:
    printed = dict(zip(SCRIPT, tables.ours, strict=True))  # the last of repeated lines

    row = rf"^DefaultCluster broker-a 0 BROKER {tables.version} "
    assert re.search(row, printed["clusterList"], re.MULTILINE)
    assert "TopicA\n" in printed["topicList"]
    assert "TopicOrdered\n" not in printed["topicList"]
    assert "CODE: 17" in printed["topicRoute -t TopicOrdered"]
    assert "waitSecondsForService = 46" in printed["getNamesrvConfig"]


def test_messages_go_through_the_broker_after_the_script(tables: Tables) -> None:
    assert tables.keys == number_keys(20)
