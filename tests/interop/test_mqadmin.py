"""Java's mqadmin prints the same tables whether it talks to Java's name server or to ours."""

from __future__ import annotations

import os
import re
import subprocess
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.javapeers import CURRENT, SHORT_LIVED, JavaBroker, java, prepare
from tests.support.nameservers import DEFAULT_KIND, name_server, started

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.conftest import Cluster
    from tests.support.javapeers import AdminOutput, JavaPeer
    from tests.support.nameservers import NameServer

pytestmark = pytest.mark.java

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
    """What the script printed with each name server, one text for each line of it."""

    java: list[str]
    ours: list[str]


@pytest.fixture(scope="module")
def tables(java: None, peer: JavaPeer, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Run the script with both name servers, each with a fresh broker of the same name."""
    # ours must be told that it may; Java's shows the line as one it does not know
    options = {"rocketwire.allowConfigUpdate": "true"}
    folders = [tmp_path_factory.mktemp(name) for name in ("java", "ours")]
    servers = [
        name_server(kind, folder / "namesrv", options)
        for kind, folder in zip(("java", DEFAULT_KIND), folders, strict=True)
    ]
    brokers = [
        JavaBroker(folder / "broker", [server.address])
        for server, folder in zip(servers, folders, strict=True)
    ]
    with started(*servers), started(*brokers):
        for server, broker in zip(servers, brokers, strict=True):
            broker.wait_registered(server.port)
        return Tables(*map(partial(run_script, peer), servers, brokers))


def run_script(peer: JavaPeer, server: NameServer, broker: JavaBroker) -> list[str]:
    peer.cluster_table(server.address, "V5_5_0")
    outputs = [peer.admin(server.address, line) for line in SCRIPT]
    return [comparable(output, server.address, broker.address) for output in outputs]


def comparable(output: AdminOutput, server: str, broker: str) -> str:
    """Take out what differs between two runs: ports, times, loads, and where in Java's code a failure was noticed."""
    failures = [line for line in output.err.splitlines() if not line.startswith("\t")]
    text = "\n".join([output.out, *failures])
    for address, name in ((server, "NAMESRV"), (broker, "BROKER")):
        port = address.rpartition(":")[2]
        text = text.replace(address, name).replace(port, f"{name} PORT")
    text = re.sub(r"\d+-\d+\(", "LAG(", text)  # of the broker's timer, behind by a second or not
    text = re.sub(r"\(\d+,\d+ms(\|\d+,\d+ms)?\)|\d+\.\d+", "N", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+|\b1[0-9]{12}\b", "TIME", text)
    return re.sub(" +", " ", text)


@pytest.mark.parametrize(
    "number", range(len(SCRIPT)), ids=lambda number: f"{number}: {SCRIPT[number]}"
)
def test_mqadmin_prints_what_it_prints_with_java(number: int, tables: Tables) -> None:
    assert tables.java[number] == tables.ours[number]


def test_the_tables_say_what_the_script_did(tables: Tables) -> None:
    printed = dict(zip(SCRIPT, tables.ours, strict=True))  # of lines said twice: the last

    assert re.search(
        r"^DefaultCluster broker-a 0 BROKER V5_5_0 ", printed["clusterList"], re.MULTILINE
    )
    assert "TopicA\n" in printed["topicList"]
    assert "TopicOrdered\n" not in printed["topicList"]
    assert "CODE: 17" in printed["topicRoute -t TopicOrdered"]
    assert "waitSecondsForService = 46" in printed["getNamesrvConfig"]


def test_the_mqadmin_command_lists_the_cluster_of_a_server_started_with_the_defaults(
    cluster: Cluster, peer: JavaPeer, tmp_path: Path
) -> None:
    main = "org.apache.rocketmq.tools.command.MQAdminStartup"
    command = java(CURRENT, main, "clusterList", "-n", cluster.server.address, jvm=SHORT_LIVED)

    peer.cluster_table(cluster.server.address, "V5_5_0")  # the broker answers by now
    done = subprocess.run(
        command,
        cwd=prepare(tmp_path),
        env={**os.environ, "ROCKETMQ_HOME": "."},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    heading, row = done.stdout.splitlines()
    assert heading.startswith("#Cluster Name")
    assert row.split()[:5] == ["DefaultCluster", "broker-a", "0", cluster.broker.address, "V5_5_0"]
