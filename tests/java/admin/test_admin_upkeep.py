"""Changes and exports by ``rocketwire-admin``, compared with mqadmin: lists, static topics, exports, stores."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.java.admin.commands import CLUSTER, QUEUE_ENDS, Mqadmin, Ours, columns, rows
from tests.peers.messages import numbered, unique
from tests.peers.peers import JavaPeer
from tests.peers.processes import wait_until


def test_topics_and_groups_are_created_from_files_of_mqadmin(
    ours: Ours, mqadmin: Mqadmin, tmp_path: Path
) -> None:
    names = [unique("list") for _ in range(4)]
    pairs = (names[:2], names[2:])

    def write_list(pair: list[str], key: str, setting: str) -> Path:
        path = tmp_path / f"{key}-{pair[0]}.json"
        path.write_text(json.dumps([{key: name, setting: 3} for name in pair]))
        return path

    topics, more_topics = [write_list(pair, "topicName", "readQueueNums") for pair in pairs]
    groups, more_groups = [write_list(pair, "groupName", "retryMaxTimes") for pair in pairs]
    changed = {(name, ours.broker) for name in pairs[0]}
    created = ours(f"updateTopicList -b {ours.broker} -f {topics}")
    assert {(row["topic"], row["brokerAddr"]) for row in created} == changed
    mqadmin(f"updateTopicList -b {ours.broker} -f {more_topics}")
    created = ours(f"updateSubGroupList -c {CLUSTER} -f {groups}")
    assert {(row["group"], row["brokerAddr"]) for row in created} == changed
    mqadmin(f"updateSubGroupList -b {ours.broker} -f {more_groups}")

    exported = ours(f"exportMetadata -b {ours.broker}")
    configs = [exported["topicConfigTable"][name] for name in names]
    assert [config["readQueueNums"] for config in configs] == [3] * 4
    assert {**configs[0], "topicName": ""} == {**configs[2], "topicName": ""}
    table = exported["subscriptionGroupTable"]
    assert [table[name]["retryMaxTimes"] for name in names] == [3] * 4

    topics.write_text("{")
    line = f"updateTopicList -b {ours.broker} -f {topics}"
    assert ours.expect_error(line, topics.name, status=2) is None


def test_a_static_topic_is_shown_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    topic = unique("static")
    created = ours(f"updateStaticTopic -t {topic} -qn 3 -c {CLUSTER}")
    assert [(row["logicalQueueId"], row["brokerName"]) for row in created] == [
        (number, "broker-a") for number in range(3)
    ]
    ours.wait_for_route(topic)
    ours.store(topic, numbered(2), queue_id=1)
    logical = "__syslo__"

    def read_queues() -> list[dict[str, Any]]:
        status = ours(f"topicStatus -t {topic}") or ()
        return [row for row in status if row["brokerName"].startswith(logical)]

    wait_until(lambda: sum(row["maxOffset"] for row in read_queues()) == 2, "both are shown")
    printed = rows(mqadmin(f"topicStatus -t {topic}"), begin=logical)
    assert columns(read_queues(), QUEUE_ENDS) == [words[:4] for words in printed]
    assert ours(f"remappingStaticTopic -t {topic} -b broker-a") is not None
    ours.expect_error(f"updateStaticTopic -t {topic} -qn 2 -b broker-a", status=2)
    ours.expect_error(f"remappingStaticTopic -t {topic} -b broker-none", "broker-none")


def test_stores_and_cold_data_are_shown_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    place, group = f"-b {ours.broker}", unique("cold")

    def read_limits() -> str:
        info = ours(f"getColdDataFlowCtrInfo {place}")[0]["info"]
        return str(info.get("configTable", ""))

    ours(f"updateColdDataFlowCtrGroupConfig {place} -g {group} -v 4096")
    wait_until(lambda: group in read_limits(), "the group has a limit")
    assert group in mqadmin(f"getColdDataFlowCtrInfo {place}")
    ours(f"removeColdDataFlowCtrGroupConfig -c {CLUSTER} -g {group}")
    wait_until(lambda: group not in read_limits(), "the group has none")
    line = f"setCommitLogReadAheadMode {place} -m"
    (mode,) = ours(f"{line} 0")
    assert mode["answer"] in mqadmin(f"{line} 0")
    ours.expect_error(f"{line} 7", status=2)

    # the broker was started without RocksDB for timers
    ours.expect_error(f"switchTimerEngine {place} -e R", "timerRocksDBEnable")
    (exported,) = ours(f"rocksDBConfigToJson {place} -t topics;consumerOffsets")
    assert exported["exported"] == ["topics", "consumerOffsets"]
    (checked,) = ours(f"checkRocksdbCqWriteProgress -c {CLUSTER}")
    assert checked["checkStatus"] == 2
    records = ours(f"exportPopRecord {place}")
    assert records == [{"brokerAddr": ours.broker, "dryRun": False}]
    assert f"brokerAddr={ours.broker}" in mqadmin(f"exportPopRecord {place}")


def test_a_broker_cleans_up_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    for command in ("cleanExpiredCQ", "deleteExpiredCommitLog"):
        assert ours(f"{command} -b {ours.broker}") == [{"brokerAddr": ours.broker}]
        assert "success" in mqadmin(f"{command} -b {ours.broker}")
    (reset,) = ours(f"resetMasterFlushOffset -b {ours.broker} -o 0")  # a master ignores it
    assert reset == {"brokerAddr": ours.broker, "masterFlushOffset": 0}
    ours.expect_error("cleanExpiredCQ -b 127.0.0.1:1", status=3)


def test_a_name_server_is_configured_as_by_mqadmin(ours: Ours, mqadmin: Mqadmin) -> None:
    key = "waitSecondsForService"
    (value,) = {row["value"] for row in ours("getNamesrvConfig") if row["key"] == key}
    try:
        ours(f"updateNamesrvConfig -k {key} -v 47")
        assert ours.status == 0
        assert re.search(rf"{key}\s*=\s*47\b", mqadmin("getNamesrvConfig"))
    finally:
        ours(f"updateNamesrvConfig -k {key} -v {value}")


def test_a_group_that_is_away_is_moved(ours: Ours) -> None:
    topic, group = ours.create_topic(unique("old"), 1), ours.create_group()
    ours.store(topic, numbered(2), queue_id=0)

    def are_shown() -> bool:
        return [row["maxOffset"] for row in ours(f"topicStatus -t {topic}") or ()] == [2]

    wait_until(are_shown, "both messages are shown")
    (moved,) = ours(f"resetOffsetByTimeOld -g {group} -t {topic} -s -1")
    assert (moved["brokerOffset"], moved["rollbackOffset"]) == (2, 2)
    (moved,) = ours(f"resetOffsetByTimeOld -g {group} -t {topic} -s 0")
    assert (moved["consumerOffset"], moved["rollbackOffset"]) == (2, 0)


@pytest.mark.parametrize("command", ["addBroker -b x.conf", "removeBroker -b c:b:0"])
def test_a_broker_that_is_no_container_refuses(
    java_peer: JavaPeer, ours: Ours, command: str
) -> None:
    line = f"{command} -c {ours.broker}"
    ours.expect_error(line, "not supported")
    output = java_peer.admin(ours.cluster.address, line)
    assert "not supported" in output.out + output.err
