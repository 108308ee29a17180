"""Changes and exports by ``rocketwire-admin``, compared with mqadmin: lists, static topics, exports, stores."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.java.admin.commands import CLUSTER, Ours, rows, store
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


def test_topics_and_groups_are_made_from_the_files_that_mqadmin_takes(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str], tmp_path: Path
) -> None:
    address = java_cluster.master.address
    names = [unique("list") for _ in range(4)]
    files: list[Path] = []
    for at, (key, queues) in enumerate(
        [("topicName", "readQueueNums"), ("groupName", "retryMaxTimes")]
    ):
        for two in (names[:2], names[2:]):
            path = tmp_path / f"{at}-{two[0]}.json"
            path.write_text(json.dumps([{key: name, queues: 3} for name in two]))
            files.append(path)

    done = ours(f"updateTopicList -b {address} -f {files[0]}")
    assert {(one["topic"], one["brokerAddr"]) for one in done} == {(n, address) for n in names[:2]}
    mqadmin(f"updateTopicList -b {address} -f {files[1]}")
    done = ours(f"updateSubGroupList -c {CLUSTER} -f {files[2]}")
    assert {(one["group"], one["brokerAddr"]) for one in done} == {(n, address) for n in names[:2]}
    mqadmin(f"updateSubGroupList -b {address} -f {files[3]}")

    exported = ours(f"exportMetadata -b {address}")
    for two in (names[:2], names[2:]):
        assert [exported["topicConfigTable"][name]["readQueueNums"] for name in two] == [3, 3]
        assert [exported["subscriptionGroupTable"][one]["retryMaxTimes"] for one in two] == [3, 3]
    topic, other = (exported["topicConfigTable"][name] for name in (names[0], names[2]))
    assert {**topic, "topicName": ""} == {**other, "topicName": ""}

    files[0].write_text("{")
    assert ours(f"updateTopicList -b {address} -f {files[0]}") is None
    assert (ours.status, files[0].name in ours.error) == (2, True)


def test_a_static_topic_is_told_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    topic = unique("static")
    made = ours(f"updateStaticTopic -t {topic} -qn 3 -c {CLUSTER}")
    assert [(one["logicalQueueId"], one["brokerName"]) for one in made] == [
        (number, "broker-a") for number in range(3)
    ]
    ours.wait_for(topic)
    store(java_cluster, topic, numbered(2), queue_id=1)

    def logical() -> list[dict[str, Any]]:
        told = ours(f"topicStatus -t {topic}") or ()
        return [one for one in told if one["brokerName"].startswith("__syslo__")]

    wait_until(lambda: sum(one["maxOffset"] for one in logical()) == 2, "both messages are shown")
    printed = rows(mqadmin(f"topicStatus -t {topic}"), of="__syslo__")
    told = [
        [str(one[name]) for name in ("brokerName", "queueId", "minOffset", "maxOffset")]
        for one in logical()
    ]
    assert sorted(told) == [row[:4] for row in printed]
    assert ours(f"remappingStaticTopic -t {topic} -b broker-a") is not None
    ours(f"updateStaticTopic -t {topic} -qn 2 -b broker-a")
    assert ours.status == 2
    ours(f"remappingStaticTopic -t {topic} -b broker-none")
    assert (ours.status, "broker-none" in ours.error) == (1, True)


def test_stores_and_cold_data_are_told_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    address, group = java_cluster.master.address, unique("cold")

    def thresholds() -> str:
        told = ours(f"getColdDataFlowCtrInfo -b {address}")[0]["info"]
        return str(told.get("configTable", ""))

    ours(f"updateColdDataFlowCtrGroupConfig -b {address} -g {group} -v 4096")
    wait_until(lambda: group in thresholds(), "the group has a limit")
    assert group in mqadmin(f"getColdDataFlowCtrInfo -b {address}")
    ours(f"removeColdDataFlowCtrGroupConfig -c {CLUSTER} -g {group}")
    wait_until(lambda: group not in thresholds(), "the group has none")
    (told,) = ours(f"setCommitLogReadAheadMode -b {address} -m 0")
    assert told["answer"] in mqadmin(f"setCommitLogReadAheadMode -b {address} -m 0")
    ours(f"setCommitLogReadAheadMode -b {address} -m 7")
    assert ours.status == 2

    ours(f"switchTimerEngine -b {address} -e R")  # it was started without RocksDB for timers
    assert (ours.status, "timerRocksDBEnable" in ours.error) == (1, True)
    (done,) = ours(f"rocksDBConfigToJson -b {address} -t topics;consumerOffsets")
    assert done["exported"] == ["topics", "consumerOffsets"]
    (checked,) = ours(f"checkRocksdbCqWriteProgress -c {CLUSTER}")
    assert checked["checkStatus"] == 2
    assert ours(f"exportPopRecord -b {address}") == [{"brokerAddr": address, "dryRun": False}]
    assert f"brokerAddr={address}" in mqadmin(f"exportPopRecord -b {address}")


def test_a_broker_is_told_to_clean_up_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    address = java_cluster.master.address
    for command in ("cleanExpiredCQ", "deleteExpiredCommitLog"):
        assert ours(f"{command} -b {address}") == [{"brokerAddr": address}]
        assert "success" in mqadmin(f"{command} -b {address}")
    (told,) = ours(f"resetMasterFlushOffset -b {address} -o 0")  # which a master takes no notice of
    assert told == {"brokerAddr": address, "masterFlushOffset": 0}
    ours("cleanExpiredCQ -b 127.0.0.1:1")
    assert ours.status == 3


def test_a_name_server_is_configured_as_by_mqadmin(
    ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    key = "waitSecondsForService"
    (before,) = {one["value"] for one in ours("getNamesrvConfig") if one["key"] == key}
    try:
        ours(f"updateNamesrvConfig -k {key} -v 47")
        assert ours.status == 0
        assert re.search(rf"{key}\s*=\s*47\b", mqadmin("getNamesrvConfig"))
    finally:
        ours(f"updateNamesrvConfig -k {key} -v {before}")


def test_a_group_that_is_away_is_moved(java_cluster: JavaCluster, ours: Ours) -> None:
    topic, group, address = unique("old"), unique("g"), java_cluster.master.address
    ours(f"updateTopic -b {address} -t {topic} -r 1 -w 1")
    ours(f"updateSubGroup -b {address} -g {group}")
    ours.wait_for(topic)
    store(java_cluster, topic, numbered(2), queue_id=0)
    wait_until(
        lambda: [one["maxOffset"] for one in ours(f"topicStatus -t {topic}") or ()] == [2],
        "both messages are shown",
    )
    (moved,) = ours(f"resetOffsetByTimeOld -g {group} -t {topic} -s -1")
    assert (moved["brokerOffset"], moved["rollbackOffset"]) == (2, 2)
    (back,) = ours(f"resetOffsetByTimeOld -g {group} -t {topic} -s 0")
    assert (back["consumerOffset"], back["rollbackOffset"]) == (2, 0)


@pytest.mark.parametrize(
    "line", ["addBroker -c {address} -b x.conf", "removeBroker -c {address} -b c:b:0"]
)
def test_a_broker_that_is_no_container_says_so(
    java_cluster: JavaCluster, java_peer: JavaPeer, ours: Ours, line: str
) -> None:
    words = line.format(address=java_cluster.master.address)
    ours(words)
    output = java_peer.admin(java_cluster.address, words)
    assert ours.status == 1
    assert re.search(r"not supported", ours.error)
    assert "not supported" in output.out + output.err
