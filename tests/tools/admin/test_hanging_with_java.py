"""A broker of Java's that accepts connections and answers nothing: the system has stopped it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.client.interop.messages import unique
from tests.tools.admin.processes import begin, end, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.javacluster import JavaCluster
    from tests.support.javapeers import JavaBroker, JavaPeer

pytestmark = [pytest.mark.java, pytest.mark.slow]


@pytest.fixture(scope="module")
def topic() -> str:
    return unique("hanging")


@pytest.fixture
def frozen(java_cluster: JavaCluster, java_peer: JavaPeer, topic: str) -> Iterator[JavaBroker]:
    """The second broker of the topic, until the test is over."""
    broker = java_cluster.broker("broker-hanging")
    java_peer.admin(java_cluster.address, f"updateTopic -c DefaultCluster -t {topic} -r 2 -w 2")
    broker.freeze()
    try:
        yield broker
    finally:
        broker.thaw()


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
    topic: str,
    command: str,
    column: str,
    others: set[str],
) -> None:
    places = {"topic": topic, "master": java_cluster.master.address}
    words = command.format(**places).split()
    done = run(*words, "-o", "json", "-n", java_cluster.address)

    assert done.status == 3
    assert {row[column] for row in done.rows} == {one.format(**places) for one in others}
    (line,) = done.complaint.splitlines()
    assert line.startswith(f"rocketwire-admin: left out: {frozen.address}: no answer to request")


def test_messages_of_the_others_are_printed(
    java_cluster: JavaCluster, frozen: JavaBroker, topic: str
) -> None:
    run("produce", "-t", topic, "-n", java_cluster.address, given=b"printed\n")
    done = run("printMsg", "-t", topic, "-o", "json", "-n", java_cluster.address)

    assert (done.status, frozen.address in done.complaint) == (3, True)
    assert "printed" in {row["body"] for row in done.rows}


@pytest.mark.parametrize("command", ["exportConfigs", "exportMetrics"])
def test_a_document_has_what_the_others_know(
    java_cluster: JavaCluster, frozen: JavaBroker, tmp_path: Path, command: str
) -> None:
    done = run(command, "-c", "DefaultCluster", "-f", str(tmp_path), "-n", java_cluster.address)

    assert (done.status, frozen.address in done.complaint) == (3, True)
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
    java_cluster: JavaCluster, frozen: JavaBroker, topic: str
) -> None:
    lines = {"clusterRT -a 3 -c DefaultCluster": 2, f"checkMsgSendRT -t {topic} -a 8": 3}
    begun = [begin(*one.split(), "-o", "json", "-n", java_cluster.address) for one in lines]
    for process, unsent in zip(begun, lines.values(), strict=True):
        done = end(process)

        assert done.status == 3
        (failed,) = (row for row in done.rows if row["error"])
        assert failed["brokerName"] == frozen.name
        assert failed["error"].startswith(f"{frozen.address}: no answer")
        (line,) = done.complaint.splitlines()
        assert line.startswith(f"rocketwire-admin: left out: {frozen.address}: no answer")
        assert line.endswith(f"; {unsent} more not sent")


def test_a_broker_whose_first_message_has_no_answer_is_sent_none_that_counts(
    java_cluster: JavaCluster, frozen: JavaBroker
) -> None:
    done = run("sendMsgStatus", "-b", frozen.name, "-n", java_cluster.address)

    assert (done.status, done.out) == (3, b"")
    (line,) = done.complaint.splitlines()
    assert line.startswith(f"rocketwire-admin: {frozen.address}: no answer")


def test_messages_go_to_the_other_broker_in_time(
    java_cluster: JavaCluster, frozen: JavaBroker, topic: str
) -> None:
    lines = b"".join(b"%d\n" % number for number in range(20))
    done = run("produce", "-t", topic, "-n", java_cluster.address, given=lines)

    assert (done.status, done.complaint) == (0, "")
    assert [row["brokerName"] for row in done.lines] == ["broker-a"] * 20
