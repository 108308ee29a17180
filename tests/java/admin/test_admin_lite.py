"""Lite topics in ``rocketwire-admin`` and mqadmin: without members, and with one that subscribes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import open_client
from rocketwire.codes import RequestCode
from rocketwire.messages.enums import LiteSubscriptionAction
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO
from tests.java.admin.commands import Ours, rows
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import unique

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.peers.cluster import JavaCluster


@pytest.fixture
def lite(java_cluster: JavaCluster, ours: Ours) -> tuple[str, str]:
    """A parent of lite topics, and a group that is bound to it."""
    topic, group, address = unique("lite"), unique("g"), java_cluster.master.address
    ours(f"updateTopic -b {address} -t {topic} -r 1 -w 1 -a +message.type=LITE")
    ours(f"updateSubGroup -b {address} -g {group} --attributes +lite.bind.topic={topic}")
    ours.wait_for(topic)
    return topic, group


def test_lite_topics_are_told_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str], lite: tuple[str, str]
) -> None:
    address, (topic, group) = java_cluster.master.address, lite
    (told,) = ours(f"getBrokerLiteInfo -b {address} -d")
    printed = mqadmin(f"getBrokerLiteInfo -b {address}").split()
    assert [told["storeType"], str(told["maxLmqNum"])] == printed[printed.index(address) + 1 :][:2]
    assert topic in told["topicMeta"]
    assert told["groupMeta"][topic] == [group]
    (told,) = ours(f"getParentTopicInfo -p {topic}")
    assert told["groups"] == [group]
    (printed,) = rows(mqadmin(f"getParentTopicInfo -p {topic}"), of="broker-a")
    assert [str(told["ttl"]), str(told["liteTopicCount"]), str(told["lmqNum"])] == printed[1:4]
    told = ours(f"getLiteGroupInfo -p {topic} -g {group}")
    assert told["totalLagCount"] == 0
    assert "Total Lag Count: 0" in mqadmin(f"getLiteGroupInfo -p {topic} -g {group}")
    (told,) = ours(f"getLiteClientInfo -p {topic} -g {group} -c nobody -s")
    (printed,) = rows(mqadmin(f"getLiteClientInfo -p {topic} -g {group} -c nobody"), of="broker-a")
    assert (told["liteTopicCount"], told["lastAccessTime"]) == (None, None)
    assert printed[1:] == ["N/A"] * 3
    (dispatched,) = ours(f"triggerLiteDispatch -p {topic} -g {group} -b broker-a")
    assert dispatched == {"brokerAddr": address}
    assert "dispatched" in mqadmin(f"triggerLiteDispatch -p {topic} -g {group}")
    ours(f"getLiteTopicInfo -p {topic} -l room-1 -s")
    printed_error = "error" in mqadmin(f"getLiteTopicInfo -p {topic} -l room-1")
    assert (ours.status == 1) == printed_error
    ours("getParentTopicInfo -p TBW102")
    assert (ours.status, "error" in mqadmin("getParentTopicInfo -p TBW102")) == (1, True)


@pytest.mark.full
async def test_who_subscribes_to_lite_topics_is_told_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str], lite: tuple[str, str]
) -> None:
    address, (topic, group) = java_cluster.master.address, lite

    async def by_us(line: str) -> Any:
        return await trio.to_thread.run_sync(ours, line)

    async def by_mqadmin(line: str) -> str:
        return await trio.to_thread.run_sync(mqadmin, line)

    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        member = client.client_id

        async def subscribe(action: LiteSubscriptionAction, *names: str) -> None:
            change = LiteSubscriptionDTO(
                action=action, client_id=member, group=group, topic=topic, lite_topic_set=names
            )
            body = LiteSubscriptionCtlRequestBody(subscription_set=(change,))
            code = RequestCode.LITE_SUBSCRIPTION_CTL
            await client.brokers.call(address, code, None, body, within=PATIENCE)

        await subscribe(LiteSubscriptionAction.PARTIAL_ADD, "room-1", "room-2")
        line = f"getLiteClientInfo -p {topic} -g {group} -c {member} -s"
        (told,) = await by_us(line)
        assert told["liteTopicCount"] == 2
        assert told["liteTopics"] == [f"%LMQ%${topic}$room-{number}" for number in (1, 2)]
        printed = await by_mqadmin(line)
        (row,) = rows(printed, of="broker-a")
        assert row[1] == "2"
        assert all(name in printed for name in told["liteTopics"])

        line = f"getLiteTopicInfo -p {topic} -l room-1 -s"
        (told,) = await by_us(line)
        assert (told["subClientCount"], told["subscribers"]) == (1, [f"{member}@{group}"])
        printed = await by_mqadmin(line)
        assert re.search(rf"{re.escape(member)}@{group}", printed), printed

        await by_us(f"triggerLiteDispatch -p {topic} -g {group} -c {member}")
        assert ours.status == 0
        await subscribe(LiteSubscriptionAction.PARTIAL_REMOVE, "room-1")
        (told,) = await by_us(f"getLiteClientInfo -p {topic} -g {group} -c {member} -s")
        assert told["liteTopics"] == [f"%LMQ%${topic}$room-2"]
        assert told["lastAccessTime"] is not None
        await subscribe(LiteSubscriptionAction.COMPLETE_REMOVE)
        (told,) = await by_us(f"getLiteClientInfo -p {topic} -g {group} -c {member}")
        assert told["liteTopicCount"] is None
