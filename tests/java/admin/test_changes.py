"""Commands that change a configuration: nothing changes but what the command names.

The topic, the group and the other objects have a value other than the default for every setting.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from rocketwire.client.admin import Admin, open_admin
from rocketwire.messages import to_json
from rocketwire.messages.enums import GroupRetryPolicyType, MessageRequestMode, TopicFilterType
from rocketwire.messages.groups import (
    ExponentialRetryPolicy,
    GroupRetryPolicy,
    SubscriptionGroupConfig,
)
from rocketwire.messages.topic_config import TopicConfig
from tests.java.admin.commands import CLUSTER, Ours
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import numbered, unique

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
    def __init__(self, ours: Ours) -> None:
        self.ours = ours
        self.broker = ours.broker

    def ask(self, call: Callable[[Admin], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            config = patient(namesrv_addr=self.ours.cluster.address)
            async with open_admin(config, within=PATIENCE) as admin:
                return await call(admin)

        return trio.run(run)

    def topic(self, name: str) -> dict[str, Any]:
        config = to_json(self.ask(lambda admin: admin.topics.config(self.broker, name)))
        return {key: value for key, value in config.items() if key != "mappingDetail"}

    def group(self, name: str) -> dict[str, Any]:
        return dict(to_json(self.ask(lambda admin: admin.groups.config(self.broker, name))))


@pytest.fixture
def site(ours: Ours) -> Site:
    return Site(ours)


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


def check_change(
    site: Site, line: str, read: Callable[[], dict[str, Any]], **expected: Any
) -> list[dict[str, Any]]:
    # Run a command, first with ``--dry-run``, and check all that it changes; returns its rows.
    config = read()
    dry = site.ours(f"{line} --dry-run")
    assert (site.ours.status, site.ours.error, read()) == (0, "", config)
    rows: list[dict[str, Any]] = site.ours(line)
    assert (site.ours.status, site.ours.error) == (0, "")
    assert rows == dry
    assert read() == config | expected
    changes = {row["setting"]: row["change"] for row in rows}
    assert changes == {name: {"old": config[name], "new": new} for name, new in expected.items()}
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
    check_change(site, line, lambda: site.topic(topic), **expected)


def test_an_order_follows_the_write_queues_of_its_topic(site: Site, topic: str) -> None:
    site.ours(f"updateOrderConf -t {topic} -m put -v broker-a:3;broker-z:7")
    rows = site.ours(f"updateTopic -b {site.broker} -t {topic} -w 4")

    assert site.topic(topic)["writeQueueNums"] == 4
    assert [(row["setting"], row["change"]) for row in rows] == [
        ("writeQueueNums", {"old": 3, "new": 4}),
        ("orderConf", {"old": "broker-a:3;broker-z:7", "new": "broker-a:4;broker-z:7"}),
    ]


def test_a_new_permission_changes_nothing_else(site: Site, topic: str) -> None:
    line = f"updateTopicPerm -b {site.broker} -t {topic} -p 6"
    check_change(site, line, lambda: site.topic(topic), perm=6)
    site.ours.expect_error(f"updateTopicPerm -b {site.broker} -t {unique('never')} -p 6")


def test_topics_of_a_file_keep_other_settings(site: Site, topic: str, tmp_path: Path) -> None:
    new, file = unique("new"), tmp_path / "topics.json"
    file.write_text(json.dumps([{"topicName": name, "perm": 2} for name in (topic, new)]))
    config = site.topic(topic)

    rows = site.ours(f"updateTopicList -b {site.broker} -f {file}")

    assert site.topic(topic) == config | {"perm": 2}
    assert site.topic(new)["perm"] == 2
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
    check_change(site, line, lambda: site.group(group), **expected)


def test_groups_of_a_file_keep_other_settings(site: Site, group: str, tmp_path: Path) -> None:
    file = tmp_path / "groups.json"
    file.write_text(json.dumps([{"groupName": group, "retryMaxTimes": 2}]))
    line = f"updateSubGroupList -c {CLUSTER} -f {file}"
    check_change(site, line, lambda: site.group(group), retryMaxTimes=2)


def test_the_mode_of_a_group_keeps_its_number_of_shared_queues(
    site: Site, topic: str, group: str
) -> None:
    def read_mode() -> tuple[Any, int]:
        mode = site.ask(lambda admin: admin.groups.request_modes(site.broker))[topic][group]
        return mode.mode, mode.pop_share_queue_num

    line = f"setConsumeMode -c {CLUSTER} -t {topic} -g {group} -m"
    site.ours(f"{line} POP -q 5")
    site.ours(f"{line} PULL --dry-run")
    assert read_mode() == (MessageRequestMode.POP, 5)
    (row,) = site.ours(f"{line} PULL")
    assert read_mode() == (MessageRequestMode.PULL, 5)
    assert (row["setting"], row["change"]) == ("mode", {"old": "POP", "new": "PULL"})


def test_fewer_queues_than_hold_messages_need_force(
    ours: Ours, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    topic = ours.create_topic(unique("wide"), 6)
    for queue_id, number in ((1, 4), (3, 2), (5, 3)):
        ours.store(topic, numbered(number), queue_id=queue_id)

    line = f"updateTopic -c {CLUSTER} -t {topic}"
    for words in (f"{line} -r 3 -w 3", f"{line} -r 3 -w 3 --dry-run"):
        ours.expect_error(words, f"5 messages of topic {topic}")
        assert "queues 3, 5" in ours.error
    assert site.topic(topic)["readQueueNums"] == 6
    ours(f"{line} -w 3")
    assert ours.status == 0

    ours(f"{line} -r 3 -w 3 --force")
    assert (ours.status, "5 messages" in caplog.text) == (0, True)
    assert site.topic(topic)["readQueueNums"] == 3
    queues = {row["queueId"]: row for row in ours(f"topicStatus -t {topic}")}
    assert {number: row["inRoute"] for number, row in queues.items()} == {
        0: True, 1: True, 2: True, 3: False, 5: False,
    }  # fmt: skip
    assert (queues[5]["minOffset"], queues[5]["maxOffset"]) == (0, 3)
    findings = ours(f"doctor -q -t {topic}")
    (unread,) = [row for row in findings if row["id"] == "topic-unread-queues"]
    assert (unread["name"], "5 messages" in unread["finding"]) == (topic, True)


def test_a_setting_that_does_not_exist_is_an_error(ours: Ours) -> None:
    def read_setting() -> str:
        rows = ours(f"getBrokerConfig -b {ours.broker} -k defaultQueryMaxNum")
        return str(rows[0]["value"])

    value, line = read_setting(), f"updateBrokerConfig -b {ours.broker} -k"
    ours.expect_error(f"{line} defaultquerymaxnumber -v 1", "did you mean defaultQueryMaxNum")
    ours.expect_error(f"{line} defaultQueryMaxNum -v many", "defaultQueryMaxNum")
    (row,) = ours(f"{line} defaultQueryMaxNum -v 31 --dry-run")
    assert row["change"] == {"old": value, "new": "31"}
    assert read_setting() == value
    line = "updateNamesrvConfig -k waitSecondsForServices -v 1"
    ours.expect_error(line, "did you mean waitSecondsForService")


def test_a_deletion_is_shown_and_refused_for_a_missing_object(
    ours: Ours, topic: str, group: str
) -> None:
    space = unique("space")
    ours(f"updateKvConfig -s {space} -k colour -v red")
    (row,) = ours(f"updateKvConfig -s {space} -k colour -v green")
    assert row["change"] == {"old": "red", "new": "green"}
    for command, name, options in (
        (f"deleteTopic -c {CLUSTER} -t", topic, ""),
        (f"deleteSubGroup -c {CLUSTER} -g", group, " -r true"),
        (f"deleteKvConfig -s {space} -k", "colour", ""),
    ):
        line = f"{command} {name}{options}"
        dry = ours(f"{line} --dry-run")
        ours.expect_error(f"{command} {name}s", "did you mean")
        assert ours(line) == dry
        assert ours.status == 0
        assert all(row["change"]["new"] is None for row in dry)
        ours.expect_error(line)


def test_permission_to_write_stays_in_a_dry_run(ours: Ours, topic: str) -> None:
    ours.wait_for_route(topic)

    def read_perms() -> list[int]:
        return [queue["perm"] for queue in ours(f"topicRoute -t {topic}")["queueDatas"]]

    perms = read_perms()
    for command in ("wipeWritePerm", "addWritePerm"):
        (dry,) = ours(f"{command} -b broker-a --dry-run")
        assert read_perms() == perms
        (address, count) = dry.values()
        assert count > 1, address
        ours.expect_error(f"{command} -b broker-ab --dry-run", "did you mean broker-a")


def test_offsets_are_shown_before_they_are_moved(ours: Ours) -> None:
    topic = ours.create_topic(unique("moved"), 1)
    group, target = ours.create_group(), ours.create_group()
    ours.store(topic, numbered(4), queue_id=0)
    reset = f"resetOffsetByTime -g {group} -t {topic} -s"
    row: dict[str, Any] = {"brokerName": "broker-a", "queueId": 0, "resetTo": None}
    ours(f"{reset} 0")
    for line, expected in (
        (f"{reset} 0 -b {ours.broker} -q 0 -o 2", {"before": 0, "offset": 2}),
        (f"skipAccumulatedMessage -g {group} -t {topic}", {"before": 2, "offset": 4}),
        (f"{reset} 5", {"before": 4, "offset": 0, "resetTo": 5}),
    ):
        assert ours(f"{line} --dry-run") == [row | expected]
        assert ours(line) == [row | expected], ours.error
    clone = f"cloneGroupOffset -s {group} -d {target} -t {topic}"
    assert ours(f"{clone} --dry-run")[0]["offset"] == 0
    assert ours(f"consumerProgress -g {target}") in (None, [])
    assert ours(clone)[0]["offset"] == 0
