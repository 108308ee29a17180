"""A broker of Java's that accepts connections and answers nothing: the system has stopped it."""

import json
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from rocketwire.client.trace import build_record
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import create_offset_message_id
from tests.java.admin.commands import CLUSTER
from tests.peers import raw_call
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import JavaBroker, JavaPeer
from tests.peers.processes import wait_until
from tests.support.admin_process import begin, end, run

pytestmark = pytest.mark.full


TOPIC = unique("hanging")
KEY = uuid4().hex.upper()
NO_ANSWER = "rocketwire-admin: left out: {}: no answer"


@pytest.fixture(scope="module")
def second(java_cluster: JavaCluster, java_peer: JavaPeer) -> JavaBroker:
    broker = java_cluster.broker("broker-hanging")
    for line in (
        f"updateSubGroup -g {TOPIC}",
        f"updateTopic -t %RETRY%{TOPIC} -r 1 -w 1",
        f"updateTopic -t {TOPIC} -r 2 -w 2",
    ):
        java_peer.admin(java_cluster.address, f"{line} -c {CLUSTER}")
    return broker


@pytest.fixture
def servers(java_cluster: JavaCluster) -> tuple[str, ...]:
    return ("--output", "json", "-n", java_cluster.address)


@pytest.fixture(scope="module")
def message(java_cluster: JavaCluster, second: JavaBroker) -> dict[str, Any]:
    # A message that the first broker has indexed, as ``queryMsgByKey`` lists it; its body is a record of a trace.
    record = build_record("Recall", TOPIC, "r", KEY, None, 1, "r", "g", TOPIC, KEY, True)
    to_first = ("-b", "broker-a", "-p", record.text, "-k", KEY)
    run("sendMessage", "-t", TOPIC, *to_first, "-n", java_cluster.address)
    rows: list[dict[str, Any]] = []

    def is_indexed() -> bool:
        words = ("-t", TOPIC, "-k", KEY, "-o", "json", "-n", java_cluster.address)
        rows.extend(run("queryMsgByKey", *words).rows)
        return bool(rows)

    wait_until(is_indexed, "the message is indexed")
    return rows[0]


@pytest.fixture
def frozen(
    java_cluster: JavaCluster, java_peer: JavaPeer, second: JavaBroker
) -> Iterator[JavaBroker]:
    # The second broker, which does nothing until the test is over.
    # A new topic makes it register now: the name server forgets a broker after two minutes, and it was frozen before.
    # If it was forgotten, the name server has that topic alone until the broker registers all of them, every 30 s.
    topic = unique("before-freezing")
    java_peer.admin(java_cluster.address, f"updateTopic -t {topic} -r 1 -w 1 -b {second.address}")
    port = int(java_cluster.address.rpartition(":")[2])
    for name in (topic, TOPIC, second.name):
        wait_until(partial(raw_call.routes_to, port, name, second.address), f"{name} has a route")
    second.freeze()
    try:
        yield second
    finally:
        second.thaw()


@pytest.mark.parametrize(
    ("command", "column", "expected"),
    [
        ("topicStatus -t {topic}", "brokerName", "broker-a"),
        ("haStatus -c DefaultCluster", "brokerAddr", "{master}"),
        ("getBrokerConfig -c DefaultCluster -k brokerName", "brokerAddr", "{master}"),
        ("statsAll -t {topic}", "topic", "{topic}"),
        ("getBrokerLiteInfo -c DefaultCluster", "brokerAddr", "{master}"),
        ("exportPopRecord -c DefaultCluster", "brokerAddr", "{master}"),
    ],
)
def test_other_brokers_are_listed_and_the_hanging_one_is_named(
    java_cluster: JavaCluster,
    servers: tuple[str, ...],
    frozen: JavaBroker,
    command: str,
    column: str,
    expected: str,
) -> None:
    names = {"topic": TOPIC, "master": java_cluster.master.address}
    answer = run(*command.format(**names).split(), *servers)

    assert answer.status == 3
    assert {row[column] for row in answer.rows} == {expected.format(**names)}
    (line,) = answer.complaint.splitlines()
    assert line.startswith(f"{NO_ANSWER.format(frozen.address)} to request")


def test_messages_of_other_brokers_are_printed(
    java_cluster: JavaCluster, servers: tuple[str, ...], frozen: JavaBroker
) -> None:
    run("produce", "-t", TOPIC, "-n", java_cluster.address, given=b"printed\n")
    answer = run("printMsg", "-t", TOPIC, *servers)

    assert (answer.status, frozen.address in answer.complaint) == (3, True)
    assert "printed" in {row["body"] for row in answer.rows}


@pytest.mark.parametrize("command", ["exportConfigs", "exportMetrics"])
def test_a_document_describes_other_brokers(
    java_cluster: JavaCluster, frozen: JavaBroker, tmp_path: Path, command: str
) -> None:
    answer = run(command, "-c", CLUSTER, "-f", str(tmp_path), "-n", java_cluster.address)

    (line,) = answer.complaint.splitlines()
    assert (answer.status, frozen.address in line) == (3, True)
    (path,) = tmp_path.iterdir()
    document = json.loads(path.read_bytes())
    assert (document.get("brokerConfigs") or document["evaluateReport"]).keys() == {"broker-a"}


def test_messages_traces_and_groups_of_other_brokers_are_shown(
    servers: tuple[str, ...], message: dict[str, Any], frozen: JavaBroker
) -> None:
    host, _, port = frozen.address.rpartition(":")
    at_hung = create_offset_message_id(Host.of(socket.inet_aton(host), int(port)), 0)
    msg_id, place = message["msgId"], f"-i {message['queueId']} -o {message['queueOffset']}"
    commands: dict[str, tuple[str, object]] = {
        f"queryMsgById -t {TOPIC} -i {msg_id}": ("msgId", msg_id),
        f"queryMsgById -t {TOPIC} -i {message['offsetMsgId']}": ("msgId", msg_id),
        f"queryMsgById -t {TOPIC} -i {at_hung},{msg_id}": ("msgId", msg_id),
        f"queryMsgByOffset -t {TOPIC} -b broker-a {place}": ("msgId", msg_id),
        f"queryMsgTraceById -t {TOPIC} -i {KEY}": ("type", "Recall"),
        f"getConsumerConfig -g {TOPIC}": ("brokerName", "broker-a"),
    }
    running = {line: begin(*line.split(), *servers) for line in commands}
    progress = begin("consumerProgress", *servers)
    for line, (member, value) in commands.items():
        answer = end(running[line])

        row: dict[str, Any] = json.loads(answer.out.strip(b"[]\n"))
        assert (line, answer.status, row[member]) == (line, 3, value)
        first, *complaints = answer.complaint.splitlines()
        assert first.startswith(NO_ANSWER.format(frozen.address))
        text = f"rocketwire-admin: no message {at_hung} in topic {TOPIC}"
        assert complaints == ([text] if at_hung in line else [])
    groups = {row["group"]: row for row in end(progress).rows}
    assert (groups[TOPIC]["count"], groups[TOPIC]["diffTotal"]) == (None, 0)


def test_messages_go_to_another_broker_in_time(
    java_cluster: JavaCluster, frozen: JavaBroker
) -> None:
    lines = b"".join(b"%d\n" % number for number in range(20))
    answer = run("produce", "-t", TOPIC, "-n", java_cluster.address, given=lines)

    assert (answer.status, answer.complaint) == (0, "")
    assert [row["brokerName"] for row in answer.lines] == ["broker-a"] * 20
