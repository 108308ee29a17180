"""Commands that change a configuration: nothing changes but what the command names.

The topic, the group and the other objects have a value other than the default for every setting.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client.admin import open_admin
from rocketwire.messages import to_json
from rocketwire.messages.enums import GroupRetryPolicyType, MessageRequestMode, TopicFilterType
from rocketwire.messages.groups import (
    ExponentialRetryPolicy,
    GroupRetryPolicy,
    SubscriptionGroupConfig,
)
from rocketwire.messages.topic_config import TopicConfig
from tests.java.admin.commands import CLUSTER, Ours, store
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import numbered, unique

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from rocketwire.client.admin import Admin
    from tests.peers.cluster import JavaCluster

TOPIC = TopicConfig(
    read_queue_nums=5,
    write_queue_nums=3,
    perm=4,
    order=True,
    topic_sys_flag=3,
    topic_filter_type=TopicFilterType.MULTI_TAG,
    attributes={"message.type": "FIFO", "cleanup.policy": "COMPACTION"},
)
GROUP = SubscriptionGroupConfig(
    attributes={"lite.bind.topic": "parent", "priority.factor": "50"},
    broker_id=1,
    consume_broadcast_enable=False,
    consume_enable=False,
    consume_from_min_enable=False,
    consume_message_orderly=True,
    consume_timeout_minute=7,
    group_retry_policy=GroupRetryPolicy(
        type=GroupRetryPolicyType.EXPONENTIAL,
        exponential_retry_policy=ExponentialRetryPolicy(initial=1000, max=60_000, multiplier=3),
    ),
    group_sys_flag=1,
    notify_consumer_ids_changed_enable=False,
    retry_max_times=9,
    retry_queue_nums=3,
    which_broker_when_consume_slowly=2,
)


class Site:
    """A cluster, with the configurations that its broker has."""

    def __init__(self, cluster: JavaCluster, ours: Ours) -> None:
        self.ours = ours
        self.broker = cluster.master.address
        self._address = cluster.address

    def ask(self, call: Callable[[Admin], Awaitable[Any]]) -> Any:
        """The result of a call of ``Admin``."""

        async def run() -> Any:
            async with open_admin(patient(namesrv_addr=self._address), within=PATIENCE) as admin:
                return await call(admin)

        return trio.run(run)

    def topic(self, name: str) -> dict[str, Any]:
        """The configuration of a topic."""
        config = self.ask(lambda admin: admin.topics.config(self.broker, name))
        members: dict[str, Any] = to_json(config)
        members.pop("mappingDetail", None)
        return members

    def group(self, name: str) -> dict[str, Any]:
        """The configuration of a group."""
        members: dict[str, Any] = to_json(
            self.ask(lambda admin: admin.groups.config(self.broker, name))
        )
        return members


@pytest.fixture
def site(java_cluster: JavaCluster, ours: Ours) -> Site:
    return Site(java_cluster, ours)


@pytest.fixture
def topic(site: Site) -> str:
    name = unique("changed")
    config = replace(TOPIC, topic_name=name)
    site.ask(lambda admin: admin.topics.create_or_update(config, broker=site.broker))
    assert site.topic(name) == to_json(config)
    return name


@pytest.fixture
def group(site: Site) -> str:
    name = unique("changed")
    config = replace(GROUP, group_name=name)
    site.ask(lambda admin: admin.groups.create_or_update(config, broker=site.broker))
    assert site.group(name) == to_json(config)
    return name


def changed(
    site: Site, line: str, look: Callable[[], dict[str, Any]], **expected: Any
) -> list[dict[str, Any]]:
    """Run a command, first with ``--dry-run``, and check all that it changes; returns its rows."""
    before = look()
    dry = site.ours(f"{line} --dry-run")
    assert (site.ours.status, site.ours.error, look()) == (0, "", before)
    rows: list[dict[str, Any]] = site.ours(line)
    assert (site.ours.status, site.ours.error) == (0, "")
    assert rows == dry
    assert look() == before | expected
    told = {row["setting"]: row["change"] for row in rows}
    assert told == {name: {"old": before[name], "new": new} for name, new in expected.items()}
    return rows


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("-r 6", {"readQueueNums": 6}),
        ("-r 4", {"readQueueNums": 4}),
        ("-p 6", {"perm": 6}),
        ("-o false", {"order": False}),
        ("-u false", {"topicSysFlag": 2}),
        ("-s false", {"topicSysFlag": 1}),
        (
            "-a +message.type=NORMAL",
            {"attributes": {"message.type": "NORMAL", "cleanup.policy": "COMPACTION"}},
        ),
        ("--attributes=-message.type", {"attributes": {"cleanup.policy": "COMPACTION"}}),
    ],
)
def test_one_option_of_update_topic_changes_one_setting(
    site: Site, topic: str, option: str, expected: dict[str, Any]
) -> None:
    line = f"updateTopic -b {site.broker} -t {topic} {option}"
    changed(site, line, lambda: site.topic(topic), **expected)


def test_the_queues_of_an_ordered_topic_follow_its_write_queues(site: Site, topic: str) -> None:
    site.ours(f"updateOrderConf -t {topic} -m put -v broker-a:3;broker-z:7")
    rows = site.ours(f"updateTopic -b {site.broker} -t {topic} -w 4")

    assert site.topic(topic)["writeQueueNums"] == 4
    assert [(row["setting"], row["change"]) for row in rows] == [
        ("writeQueueNums", {"old": 3, "new": 4}),
        ("orderConf", {"old": "broker-a:3;broker-z:7", "new": "broker-a:4;broker-z:7"}),
    ]


def test_a_new_permission_leaves_the_rest_of_a_topic(site: Site, topic: str) -> None:
    line = f"updateTopicPerm -b {site.broker} -t {topic} -p 6"
    changed(site, line, lambda: site.topic(topic), perm=6)
    site.ours(f"updateTopicPerm -b {site.broker} -t {unique('never')} -p 6")
    assert site.ours.status == 1


def test_topics_of_a_file_keep_what_it_does_not_name(
    site: Site, topic: str, tmp_path: Path
) -> None:
    other = unique("new")
    file = tmp_path / "topics.json"
    file.write_text(json.dumps([{"topicName": topic, "perm": 2}, {"topicName": other, "perm": 2}]))
    before = site.topic(topic)

    rows = site.ours(f"updateTopicList -b {site.broker} -f {file}")

    assert site.topic(topic) == before | {"perm": 2}
    assert site.topic(other)["perm"] == 2
    assert [row["change"] for row in rows if row["topic"] == topic] == [{"old": 4, "new": 2}]


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("-s true", {"consumeEnable": True}),
        ("-m true", {"consumeFromMinEnable": True}),
        ("-d true", {"consumeBroadcastEnable": True}),
        ("-o false", {"consumeMessageOrderly": False}),
        ("-q 4", {"retryQueueNums": 4}),
        ("-r 5", {"retryMaxTimes": 5}),
        ("-i 3", {"brokerId": 3}),
        ("-w 4", {"whichBrokerWhenConsumeSlowly": 4}),
        ("-a true", {"notifyConsumerIdsChangedEnable": True}),
        ("--attributes=-priority.factor", {"attributes": {"lite.bind.topic": "parent"}}),
    ],
)
def test_one_option_of_update_sub_group_changes_one_setting(
    site: Site, group: str, option: str, expected: dict[str, Any]
) -> None:
    line = f"updateSubGroup -b {site.broker} -g {group} {option}"
    changed(site, line, lambda: site.group(group), **expected)


def test_groups_of_a_file_keep_what_it_does_not_name(
    site: Site, group: str, tmp_path: Path
) -> None:
    file = tmp_path / "groups.json"
    file.write_text(json.dumps([{"groupName": group, "retryMaxTimes": 2}]))
    line = f"updateSubGroupList -c {CLUSTER} -f {file}"
    changed(site, line, lambda: site.group(group), retryMaxTimes=2)


def test_the_mode_of_a_group_keeps_its_number_of_shared_queues(
    site: Site, topic: str, group: str
) -> None:
    def mode() -> tuple[Any, int]:
        found = site.ask(lambda admin: admin.groups.request_modes(site.broker))[topic][group]
        return found.mode, found.pop_share_queue_num

    site.ours(f"setConsumeMode -c {CLUSTER} -t {topic} -g {group} -m POP -q 5")
    site.ours(f"setConsumeMode -c {CLUSTER} -t {topic} -g {group} -m PULL --dry-run")
    assert mode() == (MessageRequestMode.POP, 5)
    rows = site.ours(f"setConsumeMode -c {CLUSTER} -t {topic} -g {group} -m PULL")
    assert mode() == (MessageRequestMode.PULL, 5)
    assert [(row["setting"], row["change"]) for row in rows] == [
        ("mode", {"old": "POP", "new": "PULL"})
    ]


def test_fewer_queues_than_hold_messages_need_force(
    java_cluster: JavaCluster, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    topic = unique("wide")
    site.ours(f"updateTopic -c {CLUSTER} -t {topic} -r 6 -w 6")
    site.ours.wait_for(topic)
    for queue_id, number in ((1, 4), (3, 2), (5, 3)):
        store(java_cluster, topic, numbered(number), queue_id=queue_id)

    line = f"updateTopic -c {CLUSTER} -t {topic} -r 3 -w 3"
    for words in (line, f"{line} --dry-run"):
        site.ours(words)
        assert site.ours.status == 1
        assert f"5 messages of topic {topic}" in site.ours.error
        assert "queues 3, 5" in site.ours.error
    assert site.topic(topic)["readQueueNums"] == 6
    site.ours(f"updateTopic -c {CLUSTER} -t {topic} -w 3")
    assert site.ours.status == 0

    site.ours(f"{line} --force")
    assert (site.ours.status, "5 messages" in caplog.text) == (0, True)
    assert site.topic(topic)["readQueueNums"] == 3
    found = {row["queueId"]: row for row in site.ours(f"topicStatus -t {topic}")}
    assert {number: row["inRoute"] for number, row in found.items()} == {
        0: True, 1: True, 2: True, 3: False, 5: False,
    }  # fmt: skip
    assert (found[5]["minOffset"], found[5]["maxOffset"]) == (0, 3)
    (finding,) = [
        row for row in site.ours(f"doctor -q -t {topic}") if row["id"] == "topic-unread-queues"
    ]
    assert (finding["name"], "5 messages" in finding["finding"]) == (topic, True)


def test_a_setting_of_a_broker_or_name_server_that_does_not_exist_is_an_error(site: Site) -> None:
    line = f"updateBrokerConfig -b {site.broker} -k"
    present = site.ours(f"getBrokerConfig -b {site.broker} -k defaultQueryMaxNum")[0]["value"]
    site.ours(f"{line} defaultquerymaxnumber -v 1")
    assert (site.ours.status, "did you mean defaultQueryMaxNum" in site.ours.error) == (1, True)
    site.ours(f"{line} defaultQueryMaxNum -v many")
    assert (site.ours.status, "defaultQueryMaxNum" in site.ours.error) == (1, True)
    rows = site.ours(f"{line} defaultQueryMaxNum -v 31 --dry-run")
    assert rows[0]["change"] == {"old": present, "new": "31"}
    assert (
        site.ours(f"getBrokerConfig -b {site.broker} -k defaultQueryMaxNum")[0]["value"] == present
    )
    site.ours("updateNamesrvConfig -k waitSecondsForServices -v 1")
    assert (site.ours.status, "did you mean waitSecondsForService" in site.ours.error) == (1, True)


def test_what_is_deleted_is_shown_and_what_is_not_there_is_an_error(
    site: Site, topic: str, group: str
) -> None:
    space = unique("space")
    site.ours(f"updateKvConfig -s {space} -k colour -v red")
    rows = site.ours(f"updateKvConfig -s {space} -k colour -v green")
    assert [row["change"] for row in rows] == [{"old": "red", "new": "green"}]
    for line, missing in (
        (f"deleteTopic -c {CLUSTER} -t {topic}", f"deleteTopic -c {CLUSTER} -t {topic}s"),
        (
            f"deleteSubGroup -c {CLUSTER} -g {group} -r true",
            f"deleteSubGroup -c {CLUSTER} -g {group}s",
        ),
        (f"deleteKvConfig -s {space} -k colour", f"deleteKvConfig -s {space} -k colours"),
    ):
        dry = site.ours(f"{line} --dry-run")
        site.ours(missing)
        assert (site.ours.status, "did you mean" in site.ours.error) == (1, True)
        assert site.ours(line) == dry
        assert site.ours.status == 0
        assert all(row["change"]["new"] is None for row in dry)
        site.ours(line)
        assert site.ours.status == 1


def test_a_broker_s_permission_to_write_stays_in_a_dry_run(site: Site, topic: str) -> None:
    site.ours.wait_for(topic)

    def perms() -> list[int]:
        return [each["perm"] for each in site.ours(f"topicRoute -t {topic}")["queueDatas"]]

    before = perms()
    for line in ("wipeWritePerm -b broker-a", "addWritePerm -b broker-a"):
        (dry,) = site.ours(f"{line} --dry-run")
        assert perms() == before
        (address, count) = dry.values()
        assert count > 1, address
        site.ours(f"{line}b --dry-run")
        assert (site.ours.status, "did you mean broker-a" in site.ours.error) == (1, True)


def test_offsets_are_shown_before_they_are_moved(java_cluster: JavaCluster, site: Site) -> None:
    topic, group, other = unique("moved"), unique("g"), unique("other")
    site.ours(f"updateTopic -c {CLUSTER} -t {topic} -r 1 -w 1")
    site.ours.wait_for(topic)
    for name in (group, other):
        site.ours(f"updateSubGroup -c {CLUSTER} -g {name}")
    store(java_cluster, topic, numbered(4), queue_id=0)
    reset = f"resetOffsetByTime -g {group} -t {topic} -s"
    skip = f"skipAccumulatedMessage -g {group} -t {topic}"
    clone = f"cloneGroupOffset -s {group} -d {other} -t {topic}"
    row: dict[str, Any] = {"brokerName": "broker-a", "queueId": 0, "resetTo": None}
    site.ours(f"{reset} 0")
    for line, expected in (
        (f"{reset} 0 -b {site.broker} -q 0 -o 2", row | {"before": 0, "offset": 2}),
        (skip, row | {"before": 2, "offset": 4}),
        (f"{reset} 5", row | {"before": 4, "offset": 0, "resetTo": 5}),
    ):
        assert site.ours(f"{line} --dry-run") == [expected]
        assert site.ours(line) == [expected], site.ours.error
    assert site.ours(f"{clone} --dry-run")[0]["offset"] == 0
    assert site.ours(f"consumerProgress -g {other}") in (None, [])
    assert site.ours(clone)[0]["offset"] == 0
