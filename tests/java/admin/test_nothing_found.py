"""A missing object is an error with a reason, and lag counts all waiting messages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.java.admin.commands import CLUSTER, Ours, store
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until
from tests.support.admin_in_process import run as run_here

if TYPE_CHECKING:
    from tests.peers.cluster import JavaCluster


@pytest.fixture(scope="module")
def topic(java_cluster: JavaCluster) -> str:
    """Return a topic without messages; the group ``readers-TOPIC`` has a topic of retries."""
    name = unique("found")
    for command in (
        f"updateTopic -t {name} -c {CLUSTER} -r 2 -w 2",
        f"updateSubGroup -c {CLUSTER} -g readers-{name}",
        f"updateTopic -b {java_cluster.master.address} -t %RETRY%readers-{name} -r 1 -w 1",
    ):
        words = (*command.split(), "-n", java_cluster.address, "--request-timeout", "120")
        assert run_here(*words).status == 0
    return name


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("queryMsgByKey -t {topic} -k order-99 -b 5", "no message with key order-99 in topic"),
        ("queryMsgByKey -t {topic} -k order-99 -b 5", "stored from 1970-01-01T00:00:00.005Z"),
        ("queryMsgByUniqueKey -t {topic} -i AC11 -a", "no message AC11 in topic"),
        ("queryMsgTraceById -i AC11", "no record of message AC11"),
        ("printMsg -t {topic} -s red", "no message with tags red in topic"),
        ("consumeMessage -t {topic}", "no message in topic"),
        ("getBrokerConfig -c DefaultCluster -k brokername", "did you mean brokerName"),
        ("clusterList -c Defaultcluster", "did you mean DefaultCluster"),
        ("brokerStatus -c defaultCluster", "did you mean DefaultCluster"),
        ("sendMsgStatus -b broker-a1", "did you mean broker-a"),
        ("wipeWritePerm -b broker-a1", "did you mean broker-a"),
        ("topicRoute -t {topic}s", "did you mean {topic}"),
        ("deleteTopic -t {topic}s -c DefaultCluster", "did you mean {topic}"),
        ("consumerProgress -g {group}s", "did you mean {group}"),
        ("consumerProgress -g {group}", "no offsets of group {group}"),
        ("getConsumerConfig -g {group}s", "did you mean {group}"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said(ours: Ours, topic: str, line: str, words: str) -> None:
    group = f"readers-{topic}"
    ours.wait_for(f"%RETRY%{group}")
    ours.wait_for(topic)
    shown = ours(line.format(topic=topic, group=group))
    assert shown in (None, [])
    assert ours.status == 1
    assert words.format(topic=topic, group=group) in ours.error


def test_messages_that_wait_for_a_retry_are_lag(java_cluster: JavaCluster, ours: Ours) -> None:
    topic, group = unique("lag"), unique("g")
    retry = f"%RETRY%{group}"
    for name in (topic, retry):
        ours(f"updateTopic -b {java_cluster.master.address} -t {name} -r 2 -w 2")
        ours.wait_for(name)
    ours(f"updateSubGroup -b {java_cluster.master.address} -g {group}")
    store(java_cluster, topic, numbered(1), queue_id=0)
    ours(f"resetOffsetByTime -g {group} -t {topic} -s 0")
    store(java_cluster, retry, numbered(3), queue_id=1)
    before = time.time() * 1000

    rows: list[dict[str, Any]] = []

    def are_counted() -> bool:
        rows[:] = ours(f"consumerProgress -g {group}") or []
        return len(rows) == 3

    wait_until(are_counted, "the queues of both topics")
    assert [(row["topic"], row["queueId"], row["diff"]) for row in rows] == [
        (retry, 1, 3), (topic, 0, 1), (topic, 1, 0)
    ]  # fmt: skip
    assert all(0 < before - row["oldestWaiting"] < 600_000 for row in rows[:2])
    (total,) = (row for row in ours("consumerProgress") if row["group"] == group)
    assert total["diffTotal"] == 4
    words = ("-n", java_cluster.address, "--request-timeout", "120")
    table = run_here("consumerProgress", "-g", group, *words).out
    assert "\n4 messages behind, oldest " in table


def test_a_route_is_an_object_in_json_and_a_table_for_people(
    java_cluster: JavaCluster, ours: Ours, topic: str
) -> None:
    ours.wait_for(topic)
    assert ours(f"topicRoute -t {topic}")["queueDatas"][0]["readQueueNums"] == 2
    words = ("-n", java_cluster.address, "--request-timeout", "120")
    table = run_here("topicRoute", "-t", topic, *words).out
    assert table.splitlines()[0].split() == [
        "clusterName", "brokerName", "brokerAddrs", "readQueueNums", "writeQueueNums", "perm"
    ]  # fmt: skip
