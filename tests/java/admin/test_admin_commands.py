"""The commands of ``rocketwire-admin`` that mqadmin has too, compared with mqadmin."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from rocketwire.messages import decode_body
from rocketwire.messages.route import TopicRouteData
from tests.java.admin.commands import CLUSTER, Ours, rows, store
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.peers.cluster import JavaCluster

NEW = {"old": None}


def test_a_topic_is_created_looked_at_and_deleted_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    topic, address = unique("cmd"), java_cluster.master.address
    created = ours(f"updateTopic -c {CLUSTER} -t {topic} -r 3 -w 2 -o true -a +message.type=FIFO")
    assert {
        "addr": address,
        "topic": topic,
        "setting": "perm",
        "change": NEW | {"new": 6},
    } in created
    ours.wait_for(topic)
    assert ours(f"updateOrderConf -t {topic} -m get")["orderConf"] == "broker-a:2"
    assert {"topic": topic} in ours("topicList")
    assert topic in mqadmin("topicList").split()
    assert ours(f"topicClusterList -t {topic}") == [{"clusterName": CLUSTER}]

    (route,) = ours(f"topicRoute -t {topic} -l")
    assert (route["readQueueNums"], route["writeQueueNums"], route["perm"]) == (3, 2, 6)
    told = decode_body(TopicRouteData, mqadmin(f"topicRoute -t {topic}").encode())
    shown = ours(f"topicRoute -t {topic}")
    assert decode_body(TopicRouteData, json.dumps(shown).encode()) == told
    assert ours(f"updateTopicPerm -b {address} -t {topic} -p 4")[0]["change"] == {
        "old": 6,
        "new": 4,
    }

    store(java_cluster, topic, [b"hello"], queue_id=1)
    printed = rows(mqadmin(f"topicStatus -t {topic}"), of="broker-a")
    found = ours(f"topicStatus -t {topic}")
    table = [
        [str(one[name]) for name in ("brokerName", "queueId", "minOffset", "maxOffset")]
        for one in found
    ]
    assert sorted(table) == [row[:4] for row in printed]
    assert ["broker-a", "1", "0", "1"] in table
    (message,) = ours(f"printMsg -t {topic}")
    assert (message["body"], message["keys"]) == ("hello", "hello")
    line = f"queryMsgById -t {topic} -i {message['msgId']}"
    wait_until(lambda: ours(line) is not None, "the message is in its broker's index")
    described = ours(line)
    assert (described["body"], described["queueId"]) == ("hello", 1)
    assert ours(f"queryMsgByOffset -t {topic} -b broker-a -i 1 -o 0") == described
    # on a busy machine mqadmin now and then prints nothing
    wait_until(
        lambda: (
            described["offsetMsgId"] in mqadmin(f"queryMsgById -t {topic} -i {message['msgId']}")
        ),
        "mqadmin prints the message",
    )
    assert [
        one["queueId"] for one in ours(f"allocateMQ -t {topic} -i a,b") if one["ip"] == "b"
    ] == [2]

    ours(f"deleteTopic -c {CLUSTER} -t {topic}")
    assert ours.status == 0
    assert ours(f"topicRoute -t {topic}") is None
    assert (ours.status, topic in ours.error) == (1, True)


def test_groups_and_offsets_are_told_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    topic, group, other = unique("cmd"), unique("g"), unique("other")
    address = java_cluster.master.address
    ours(f"updateTopic -b {address} -t {topic} -r 2 -w 2")
    ours.wait_for(topic)
    for name in (group, other):
        ours(f"updateSubGroup -c {CLUSTER} -g {name} -r 5")
    store(java_cluster, topic, numbered(3), queue_id=0)
    (config,) = ours(f"getConsumerConfig -g {group}")
    assert config["retryMaxTimes"] == 5
    assert re.search(r"retryMaxTimes\s*=\s*5\b", mqadmin(f"getConsumerConfig -g {group}"))

    ours(f"resetOffsetByTime -g {group} -t {topic} -s 0")
    moved = ours(f"resetOffsetByTime -g {group} -t {topic} -s 0 -b {address} -q 0 -o 2")
    assert moved, ours.error
    assert [one["offset"] for one in moved] == [2]
    progress = ours(f"consumerProgress -g {group} -t {topic}")
    names = ("topic", "brokerName", "queueId", "brokerOffset", "consumerOffset")
    table = [[str(one[name]) for name in names] for one in progress]
    assert sorted(table) == [
        row[:5] for row in rows(mqadmin(f"consumerProgress -g {group} -t {topic}"), of=topic)
    ]
    assert [one["diff"] for one in progress] == [1, 0]
    ours(f"cloneGroupOffset -s {group} -d {other} -t {topic} -o true")
    assert ours(f"consumerProgress -g {other} -t {topic}")[0]["consumerOffset"] == 2
    skipped = ours(f"skipAccumulatedMessage -g {group} -t {topic}")
    assert [one["offset"] for one in skipped] == [3, 0]

    ours(f"setConsumeMode -c {CLUSTER} -t {topic} -g {group} -m POP -q 1")
    ours(f"consumerConnection -g {group}", "-b", address)
    assert (ours.status, "CONSUMER_NOT_ONLINE" in ours.error) == (1, True)
    gone = unique("gone")
    ours(f"updateSubGroup -b {address} -g {gone}")
    deleted = ours(f"deleteSubGroup -c {CLUSTER} -g {gone} -r true")
    assert {(one["group"], one["brokerAddr"]) for one in deleted} == {(gone, address)}
    assert ours.status == 0


def test_brokers_and_name_servers_are_told_and_changed_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    address = java_cluster.master.address

    def listed() -> dict[str, Any]:
        found: list[dict[str, Any]] = ours(f"clusterList -c {CLUSTER}")
        (broker,) = [one for one in found if one["brokerName"] == "broker-a"]
        return broker

    def is_idle() -> bool:  # once it has done what other tests have left it
        told = listed()
        return (told["inQueue"], told["ackWaitMillis"]) == (0, 0)

    wait_until(is_idle, "no send waits")
    broker = listed()
    assert (broker["addr"], broker["version"], broker["brokerId"]) == (address, "V5_5_0", 0)
    assert broker["timerCongestNum"] >= 0  # other tests share this broker, so the number varies
    (printed,) = rows(mqadmin(f"clusterList -c {CLUSTER}"), of=f"{CLUSTER} ")
    assert {broker["addr"], broker["version"], str(broker["active"])} <= set(printed)
    assert ours("clusterList -m")[0].keys() >= {"inTotalToday", "outTotalYest"}
    status = {one["key"] for one in ours(f"brokerStatus -b {address}")}
    assert status == set(re.findall(r"^(\S+)\s*: ", mqadmin(f"brokerStatus -b {address}"), re.M))
    (ha,) = ours(f"haStatus -b {address}")
    assert ha["role"] == "master"

    (before,) = ours(f"getBrokerConfig -b {address} -k defaultQueryMaxNum")
    try:
        ours(f"updateBrokerConfig -b {address} -k defaultQueryMaxNum -v 34")
        assert re.search(r"defaultQueryMaxNum\s*=\s*34\b", mqadmin(f"getBrokerConfig -b {address}"))
    finally:
        ours(f"updateBrokerConfig -b {address} -k defaultQueryMaxNum -v {before['value']}")
    ours(f"updateBrokerConfig -b {address} -k brokerConfigPath -v x")
    assert (ours.status, "NO_PERMISSION" in ours.error) == (1, True)

    space = unique("kv")
    ours(f"updateKvConfig -s {space} -k a -v 1")
    ours(f"deleteKvConfig -s {space} -k a")
    assert ours.status == 0
    assert "listenPort" in {one["key"] for one in ours("getNamesrvConfig")}

    def as_many_are_given_back() -> bool:  # unless a topic comes between the two
        try:
            wiped = ours("wipeWritePerm -b broker-a")
        finally:
            given = ours("addWritePerm -b broker-a")
        assert wiped[0]["wipeTopicCount"] > 0
        return bool(given[0]["addTopicCount"] == wiped[0]["wipeTopicCount"])

    wait_until(as_many_are_given_back, "as many topics are given back")
    assert ours(f"cleanUnusedTopic -b {address}") == [{"brokerAddr": address}]
    assert ours("statsAll -t TBW102") is not None


def test_what_makes_no_sense_is_told_with_a_status_of_its_own(ours: Ours) -> None:
    ours("updateTopic -t x")
    assert (ours.status, "exactly one of" in ours.error) == (2, True)
    ours("updateTopic -t x -c nowhere")
    assert (ours.status, "nowhere" in ours.error) == (1, True)
    ours("resetOffsetByTime -g g -t t -s yesterday")
    assert ours.status == 2
    ours("brokerStatus -b 127.0.0.1:1")
    assert ours.status == 3
