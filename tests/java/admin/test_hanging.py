"""A broker of Java's that accepts connections and answers nothing: the system has stopped it."""

from __future__ import annotations

import json
import socket
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from rocketwire.client.trace.records import build_record
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import create_offset_message_id
from tests.peers import raw_call
from tests.peers.messages import unique
from tests.peers.processes import wait_until
from tests.support.admin_process import begin, end, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaBroker, JavaPeer

pytestmark = pytest.mark.full


TOPIC = unique("hanging")
CREATE_TOPIC = f"updateTopic -t {TOPIC} -r 2 -w 2"
KEY = uuid4().hex.upper()


@pytest.fixture(scope="module")
def second(java_cluster: JavaCluster, java_peer: JavaPeer) -> JavaBroker:
    """The second broker, with the topic and the group that the first one has."""
    broker = java_cluster.broker("broker-hanging")
    for line in (f"updateSubGroup -g {TOPIC}", f"updateTopic -t %RETRY%{TOPIC} -r 1 -w 1"):
        _create(java_cluster, java_peer, line)
    _create(java_cluster, java_peer, CREATE_TOPIC)
    return broker


def _create(cluster: JavaCluster, peer: JavaPeer, line: str) -> None:
    peer.admin(cluster.address, f"{line} -c DefaultCluster")


@pytest.fixture(scope="module")
def stored(java_cluster: JavaCluster, second: JavaBroker) -> dict[str, Any]:
    """A message that the first broker has indexed, as ``queryMsgByKey`` lists it; its body is a record of a trace."""
    record = build_record("Recall", TOPIC, "r", KEY, None, 1, "r", "g", TOPIC, KEY, True)
    to_first = ("-b", "broker-a", "-p", record.text, "-k", KEY)
    run("sendMessage", "-t", TOPIC, *to_first, "-n", java_cluster.address)
    found: list[dict[str, Any]] = []

    def is_indexed() -> bool:
        wanted = ("-t", TOPIC, "-k", KEY, "-o", "json", "-n", java_cluster.address)
        found.extend(run("queryMsgByKey", *wanted).rows)
        return bool(found)

    wait_until(is_indexed, "the message is indexed")
    return found[0]


@pytest.fixture
def frozen(
    java_cluster: JavaCluster, java_peer: JavaPeer, second: JavaBroker
) -> Iterator[JavaBroker]:
    """The second broker, which does nothing until the test is over."""
    # A new topic makes it register now: the name server forgets a broker after two minutes, and it was frozen before.
    # If it was forgotten, the name server has that topic alone until the broker registers all of them, every 30 s.
    topic = unique("before-freezing")
    java_peer.admin(java_cluster.address, f"updateTopic -t {topic} -r 1 -w 1 -b {second.address}")
    port = int(java_cluster.address.rpartition(":")[2])
    for each in (topic, TOPIC, second.name):
        wait_until(partial(raw_call.routes_to, port, each, second.address), f"{each} has a route")
    second.freeze()
    try:
        yield second
    finally:
        second.thaw()


@pytest.mark.parametrize(
    ("command", "column", "others"),
    [
        ("topicStatus -t {topic}", "brokerName", {"broker-a"}),
        ("haStatus -c DefaultCluster", "brokerAddr", {"{master}"}),
        ("getBrokerConfig -c DefaultCluster -k brokerName", "brokerAddr", {"{master}"}),
        ("statsAll -t {topic}", "topic", {"{topic}"}),
        ("getBrokerLiteInfo -c DefaultCluster", "brokerAddr", {"{master}"}),
        ("exportPopRecord -c DefaultCluster", "brokerAddr", {"{master}"}),
    ],
)
def test_what_the_others_know_is_listed_and_who_does_not_answer_is_named(
    java_cluster: JavaCluster,
    frozen: JavaBroker,
    command: str,
    column: str,
    others: set[str],
) -> None:
    places = {"topic": TOPIC, "master": java_cluster.master.address}
    words = command.format(**places).split()
    done = run(*words, "-o", "json", "-n", java_cluster.address)

    assert done.status == 3
    assert {row[column] for row in done.rows} == {one.format(**places) for one in others}
    (line,) = done.complaint.splitlines()
    assert line.startswith(f"rocketwire-admin: left out: {frozen.address}: no answer to request")


def test_messages_of_the_others_are_printed(java_cluster: JavaCluster, frozen: JavaBroker) -> None:
    run("produce", "-t", TOPIC, "-n", java_cluster.address, given=b"printed\n")
    done = run("printMsg", "-t", TOPIC, "-o", "json", "-n", java_cluster.address)

    assert (done.status, frozen.address in done.complaint) == (3, True)
    assert "printed" in {row["body"] for row in done.rows}


@pytest.mark.parametrize("command", ["exportConfigs", "exportMetrics"])
def test_a_document_has_what_the_others_know(
    java_cluster: JavaCluster, frozen: JavaBroker, tmp_path: Path, command: str
) -> None:
    done = run(command, "-c", "DefaultCluster", "-f", str(tmp_path), "-n", java_cluster.address)

    (line,) = done.complaint.splitlines()
    assert (done.status, frozen.address in line) == (3, True)
    (written,) = tmp_path.iterdir()
    found = json.loads(written.read_bytes())
    assert (found.get("brokerConfigs") or found["evaluateReport"]).keys() == {"broker-a"}


def test_cluster_rt_says_why_nothing_came_of_a_broker(
    java_cluster: JavaCluster, frozen: JavaBroker
) -> None:
    done = run("clusterRT", "-a", "1", "-o", "json", "-n", java_cluster.address)

    assert done.status == 1
    errors = {row["brokerName"]: row["error"] for row in done.rows}
    assert errors.pop(frozen.name).startswith(f"{frozen.address}: no answer")
    assert errors == {"broker-a": None}


def test_no_series_goes_on_at_a_broker_that_does_not_answer(
    java_cluster: JavaCluster, frozen: JavaBroker
) -> None:
    to = ("-o", "json", "-n", java_cluster.address)
    lines = {"clusterRT -a 3 -c DefaultCluster": 2, f"checkMsgSendRT -t {TOPIC} -a 8": 3}
    begun = [begin(*one.split(), *to) for one in lines]
    of_one = begin("sendMsgStatus", "-b", frozen.name, *to)  # its first message does not count
    for process, unsent in zip(begun, lines.values(), strict=True):
        done = end(process)

        assert done.status == 3
        (failed,) = (row for row in done.rows if row["error"])
        assert failed["brokerName"] == frozen.name
        assert failed["error"].startswith(f"{frozen.address}: no answer")
        (line,) = done.complaint.splitlines()
        assert line.startswith(f"rocketwire-admin: left out: {frozen.address}: no answer")
        assert line.endswith(f"; {unsent} more not sent")
    done = end(of_one)
    assert (done.status, done.out) == (3, b"")
    (line,) = done.complaint.splitlines()
    assert line.startswith(f"rocketwire-admin: {frozen.address}: no answer")


def test_messages_traces_and_groups_of_the_others_are_told(
    java_cluster: JavaCluster, stored: dict[str, Any], frozen: JavaBroker
) -> None:
    at_hung = _id_at(frozen.address)
    sender_s, place = stored["msgId"], f"-i {stored['queueId']} -o {stored['queueOffset']}"
    wanted: dict[str, tuple[str, object]] = {
        f"queryMsgById -t {TOPIC} -i {sender_s}": ("msgId", sender_s),
        f"queryMsgById -t {TOPIC} -i {stored['offsetMsgId']}": ("msgId", sender_s),
        f"queryMsgById -t {TOPIC} -i {at_hung},{sender_s}": ("msgId", sender_s),
        f"queryMsgByOffset -t {TOPIC} -b broker-a {place}": ("msgId", sender_s),
        f"queryMsgTraceById -t {TOPIC} -i {KEY}": ("type", "Recall"),
        f"getConsumerConfig -g {TOPIC}": ("brokerName", "broker-a"),
    }
    to = ("--output", "json", "-n", java_cluster.address)
    begun = {line: begin(*line.split(), *to) for line in wanted}
    progress = begin("consumerProgress", *to)
    for line, (member, value) in wanted.items():
        done = end(begun[line])

        row: dict[str, Any] = json.loads(done.out.strip(b"[]\n"))
        assert (line, done.status, row[member]) == (line, 3, value)
        first, *others = done.complaint.splitlines()
        assert first.startswith(f"rocketwire-admin: left out: {frozen.address}: no answer")
        text = f"rocketwire-admin: no message {at_hung} in topic {TOPIC}"
        missing = [text] if at_hung in line else []
        assert others == missing
    groups = {row["group"]: row for row in end(progress).rows}
    assert (groups[TOPIC]["count"], groups[TOPIC]["diffTotal"]) == (None, 0)


def _id_at(address: str) -> str:
    """The offset id of the first message of a broker."""
    host, _, port = address.rpartition(":")
    return create_offset_message_id(Host.of(socket.inet_aton(host), int(port)), 0)


def test_messages_go_to_the_other_broker_in_time(
    java_cluster: JavaCluster, frozen: JavaBroker
) -> None:
    lines = b"".join(b"%d\n" % number for number in range(20))
    done = run("produce", "-t", TOPIC, "-n", java_cluster.address, given=lines)

    assert (done.status, done.complaint) == (0, "")
    assert [row["brokerName"] for row in done.lines] == ["broker-a"] * 20
