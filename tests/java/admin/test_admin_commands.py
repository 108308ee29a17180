"""The commands of ``rocketwire-admin`` that mqadmin has too, compared with mqadmin."""

import json
import re
from typing import Any

from rocketwire.messages import decode_body
from rocketwire.messages.route import TopicRouteData
from tests.java.admin.commands import CLUSTER, QUEUE_ENDS, Mqadmin, Ours, columns, rows
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until


def test_a_topic_is_created_and_shown_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    topic = unique("cmd")
    created = ours(f"updateTopic -c {CLUSTER} -t {topic} -r 3 -w 2 -o true -a +message.type=FIFO")
    place = {"addr": ours.broker, "topic": topic}
    assert {**place, "setting": "perm", "change": {"old": None, "new": 6}} in created
    ours.wait_for_route(topic)
    assert {"topic": topic} in ours("topicList")
    assert topic in mqadmin("topicList").split()
    assert ours(f"topicClusterList -t {topic}") == [{"clusterName": CLUSTER}]
    assert CLUSTER in mqadmin(f"topicClusterList -t {topic}")

    (route,) = ours(f"topicRoute -t {topic} -l")
    assert (route["readQueueNums"], route["writeQueueNums"], route["perm"]) == (3, 2, 6)
    route = json.dumps(ours(f"topicRoute -t {topic}")).encode()
    printed = mqadmin(f"topicRoute -t {topic}").encode()
    assert decode_body(TopicRouteData, route) == decode_body(TopicRouteData, printed)
    (change,) = ours(f"updateTopicPerm -b {ours.broker} -t {topic} -p 4")
    assert change["change"] == {"old": 6, "new": 4}
    allocated = ours(f"allocateMQ -t {topic} -i a,b")
    assert [row["queueId"] for row in allocated if row["ip"] == "b"] == [2]

    assert ours(f"updateOrderConf -t {topic} -m get")["orderConf"] == "broker-a:2"
    assert "broker-a:2" in mqadmin(f"updateOrderConf -t {topic} -m get")
    ours(f"updateOrderConf -t {topic} -m delete")
    ours.expect_error(f"updateOrderConf -t {topic} -m get")

    ours(f"deleteTopic -c {CLUSTER} -t {topic}")
    assert ours.status == 0
    assert ours.expect_error(f"topicRoute -t {topic}", topic) is None


def test_messages_of_a_topic_are_shown_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    topic = ours.create_topic(unique("cmd"))
    ours.store(topic, [b"hello"], queue_id=1)
    table = columns(ours(f"topicStatus -t {topic}"), QUEUE_ENDS)
    printed = rows(mqadmin(f"topicStatus -t {topic}"), begin="broker-a")
    assert table == [row[:4] for row in printed]
    assert ["broker-a", "1", "0", "1"] in table
    (message,) = ours(f"printMsg -t {topic}")
    assert (message["body"], message["keys"]) == ("hello", "hello")
    line = f"queryMsgById -t {topic} -i {message['msgId']}"
    wait_until(lambda: ours(line) is not None, "the message is in its broker's index")
    described = ours(line)
    assert (described["body"], described["queueId"]) == ("hello", 1)
    assert ours(f"queryMsgByOffset -t {topic} -b broker-a -i 1 -o 0") == described
    # on a busy machine mqadmin now and then prints nothing
    wait_until(lambda: described["offsetMsgId"] in mqadmin(line), "mqadmin prints the message")


def test_groups_and_offsets_are_shown_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    topic = ours.create_topic(unique("cmd"))
    group, target = ours.create_group("-r 5"), ours.create_group()
    ours.store(topic, numbered(3), queue_id=0)
    (config,) = ours(f"getConsumerConfig -g {group}")
    assert config["retryMaxTimes"] == 5
    assert re.search(r"retryMaxTimes\s*=\s*5\b", mqadmin(f"getConsumerConfig -g {group}"))

    ours(f"resetOffsetByTime -g {group} -t {topic} -s 0")
    moved = ours(f"resetOffsetByTime -g {group} -t {topic} -s 0 -b {ours.broker} -q 0 -o 2")
    assert moved, ours.error
    assert [row["offset"] for row in moved] == [2]
    progress = ours(f"consumerProgress -g {group} -t {topic}")
    printed = rows(mqadmin(f"consumerProgress -g {group} -t {topic}"), begin=topic)
    assert columns(progress, "topic brokerName queueId brokerOffset consumerOffset") == [
        row[:5] for row in printed
    ]
    assert [row["diff"] for row in progress] == [1, 0]
    ours(f"setConsumeMode -c {CLUSTER} -t {topic} -g {group} -m POP -q 1")
    ours.expect_error(f"consumerConnection -g {group} -b {ours.broker}", "CONSUMER_NOT_ONLINE")
    deleted = ours(f"deleteSubGroup -c {CLUSTER} -g {target} -r true")
    assert {(row["group"], row["brokerAddr"]) for row in deleted} == {(target, ours.broker)}
    assert ours.status == 0


def test_a_broker_is_shown_and_changed_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    address = ours.broker

    def read_broker() -> dict[str, Any]:
        (broker,) = [
            row for row in ours(f"clusterList -c {CLUSTER}") if row["brokerName"] == "broker-a"
        ]
        return dict(broker)

    def is_idle() -> bool:  # after what other tests have left it
        broker = read_broker()
        return (broker["inQueue"], broker["ackWaitMillis"]) == (0, 0)

    wait_until(is_idle, "no send waits")
    broker = read_broker()
    assert (broker["addr"], broker["version"], broker["brokerId"]) == (address, "V5_5_0", 0)
    assert broker["timerCongestNum"] >= 0  # other tests share this broker, so the number varies
    (printed,) = rows(mqadmin(f"clusterList -c {CLUSTER}"), begin=f"{CLUSTER} ")
    assert {broker["addr"], broker["version"], str(broker["active"])} <= set(printed)
    assert ours("clusterList -m")[0].keys() >= {"inTotalToday", "outTotalYest"}
    status = {row["key"] for row in ours(f"brokerStatus -b {address}")}
    assert status == set(re.findall(r"^(\S+)\s*: ", mqadmin(f"brokerStatus -b {address}"), re.M))
    (ha,) = ours(f"haStatus -b {address}")
    assert ha["role"] == "master"

    (config,) = ours(f"getBrokerConfig -b {address} -k defaultQueryMaxNum")
    try:
        ours(f"updateBrokerConfig -b {address} -k defaultQueryMaxNum -v 34")
        assert re.search(r"defaultQueryMaxNum\s*=\s*34\b", mqadmin(f"getBrokerConfig -b {address}"))
    finally:
        ours(f"updateBrokerConfig -b {address} -k defaultQueryMaxNum -v {config['value']}")
    ours.expect_error(f"updateBrokerConfig -b {address} -k brokerConfigPath -v x", "NO_PERMISSION")
    assert ours(f"cleanUnusedTopic -b {address}") == [{"brokerAddr": address}]
    assert ours("statsAll -t TBW102") is not None


def test_name_servers_are_shown_and_changed(ours: Ours, mqadmin: Mqadmin) -> None:
    space, topic = unique("kv"), ours.create_topic(unique("perm"))
    ours(f"updateKvConfig -s {space} -k a -v 1")
    mqadmin(f"updateKvConfig -s {space} -k b -v 2")
    ours(f"deleteKvConfig -s {space} -k a")
    ours(f"deleteKvConfig -s {space} -k b")
    assert ours.status == 0
    assert "listenPort" in {row["key"] for row in ours("getNamesrvConfig")}

    def read_perms() -> set[int]:
        return {queue["perm"] for queue in ours(f"topicRoute -t {topic}")["queueDatas"]}

    def is_wiped_and_restored() -> bool:
        try:
            wiped = ours("wipeWritePerm -b broker-a")[0]["wipeTopicCount"]
            perms = [read_perms()]
        finally:
            restored = ours("addWritePerm -b broker-a")[0]["addTopicCount"]
        perms.append(read_perms())
        assert wiped > 0
        return (perms, restored) == ([{4}, {6}], wiped)

    wait_until(is_wiped_and_restored, "as many topics are given back")


def test_wrong_arguments_have_a_status_of_their_own(ours: Ours) -> None:
    ours.expect_error("updateTopic -t x", "exactly one of", status=2)
    ours.expect_error("updateTopic -t x -c nowhere", "nowhere")
    ours.expect_error("brokerStatus -b 127.0.0.1:1", status=3)
