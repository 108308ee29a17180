"""A missing object is an error with a reason, and lag counts all waiting messages."""

import time
from typing import Any

import pytest

from tests.java.admin.commands import CLUSTER, LONG, Ours
from tests.peers.cluster import JavaCluster
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until
from tests.support.admin_in_process import run as run_here


@pytest.fixture(scope="module")
def topic(java_cluster: JavaCluster) -> str:
    # Return a topic without messages; the group ``readers-TOPIC`` has a topic of retries.
    name = unique("found")
    for command in (
        f"updateTopic -t {name} -c {CLUSTER} -r 2 -w 2",
        f"updateSubGroup -c {CLUSTER} -g readers-{name}",
        f"updateTopic -b {java_cluster.master.address} -t %RETRY%readers-{name} -r 1 -w 1",
    ):
        assert run_here(*command.split(), "-n", java_cluster.address, *LONG).status == 0
    return name


@pytest.mark.parametrize(
    ("line", "reason"),
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
        ("getConsumerConfig -g nosuch", "rocketwire-admin: no such group nosuch: "),
        ("consumerConnection -g nosuch", "rocketwire-admin: no such group nosuch: "),
        ("consumerProgress -g nosuch", "rocketwire-admin: no such group nosuch: "),
    ],
)  # fmt: skip
def test_a_missing_object_is_named(ours: Ours, topic: str, line: str, reason: str) -> None:
    group = f"readers-{topic}"
    ours.wait_for_route(f"%RETRY%{group}")
    ours.wait_for_route(topic)
    names = {"topic": topic, "group": group}
    assert ours.expect_error(line.format(**names), reason.format(**names)) in (None, [])


def test_messages_that_wait_for_a_retry_are_lag(ours: Ours) -> None:
    topic, group = ours.create_topic(unique("lag")), ours.create_group()
    retry = ours.create_topic(f"%RETRY%{group}")
    ours.store(topic, numbered(1), queue_id=0)
    ours(f"resetOffsetByTime -g {group} -t {topic} -s 0")
    ours.store(retry, numbered(3), queue_id=1)
    now = time.time() * 1000
    rows: list[dict[str, Any]] = []

    def are_counted() -> bool:
        rows[:] = ours(f"consumerProgress -g {group}") or []
        return len(rows) == 3

    wait_until(are_counted, "the queues of both topics")
    assert [(row["topic"], row["queueId"], row["diff"]) for row in rows] == [
        (retry, 1, 3), (topic, 0, 1), (topic, 1, 0)
    ]  # fmt: skip
    assert all(0 < now - row["oldestWaiting"] < 600_000 for row in rows[:2])
    (total,) = (row for row in ours("consumerProgress") if row["group"] == group)
    assert total["diffTotal"] == 4
    table = run_here("consumerProgress", "-g", group, "-n", ours.cluster.address, *LONG).out
    assert "\n4 messages behind, oldest " in table


def test_a_route_is_an_object_in_json_and_a_table_for_people(ours: Ours, topic: str) -> None:
    ours.wait_for_route(topic)
    assert ours(f"topicRoute -t {topic}")["queueDatas"][0]["readQueueNums"] == 2
    table = run_here("topicRoute", "-t", topic, "-n", ours.cluster.address, *LONG).out
    assert table.splitlines()[0].split() == [
        "clusterName", "brokerName", "brokerAddrs", "readQueueNums", "writeQueueNums", "perm"
    ]  # fmt: skip
