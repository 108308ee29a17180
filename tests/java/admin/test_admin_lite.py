"""Lite topics in ``rocketwire-admin`` and mqadmin: without members, and with one that subscribes."""

import re
from typing import Any

import pytest
import trio

from rocketwire.client import open_client
from rocketwire.codes import RequestCode
from rocketwire.messages.enums import LiteSubscriptionAction
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO
from tests.java.admin.commands import Mqadmin, Ours, rows
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import unique


@pytest.fixture
def lite(ours: Ours) -> tuple[str, str]:
    topic = ours.create_topic(unique("lite"), 1, "-a +message.type=LITE")
    return topic, ours.create_group(f"--attributes +lite.bind.topic={topic}")


def test_lite_topics_are_shown_as_by_mqadmin(
    ours: Ours, mqadmin: Mqadmin, lite: tuple[str, str]
) -> None:
    topic, group = lite
    (info,) = ours(f"getBrokerLiteInfo -b {ours.broker} -d")
    printed = mqadmin(f"getBrokerLiteInfo -b {ours.broker}").split()
    store = [info["storeType"], str(info["maxLmqNum"])]
    assert store == printed[printed.index(ours.broker) + 1 :][:2]
    assert topic in info["topicMeta"]
    assert info["groupMeta"][topic] == [group]
    (parent,) = ours(f"getParentTopicInfo -p {topic}")
    assert parent["groups"] == [group]
    (words,) = rows(mqadmin(f"getParentTopicInfo -p {topic}"), begin="broker-a")
    assert [str(parent[name]) for name in ("ttl", "liteTopicCount", "lmqNum")] == words[1:4]
    line = f"getLiteGroupInfo -p {topic} -g {group}"
    assert ours(line)["totalLagCount"] == 0
    assert "Total Lag Count: 0" in mqadmin(line)
    line = f"getLiteClientInfo -p {topic} -g {group} -c nobody"
    (client,) = ours(f"{line} -s")
    (words,) = rows(mqadmin(line), begin="broker-a")
    assert (client["liteTopicCount"], client["lastAccessTime"]) == (None, None)
    assert words[1:] == ["N/A"] * 3
    line = f"triggerLiteDispatch -p {topic} -g {group}"
    assert ours(f"{line} -b broker-a") == [{"brokerAddr": ours.broker}]
    assert "dispatched" in mqadmin(line)
    line = f"getLiteTopicInfo -p {topic} -l room-1"
    ours(f"{line} -s")
    assert (ours.status == 1) == ("error" in mqadmin(line))
    ours.expect_error("getParentTopicInfo -p TBW102")
    assert "error" in mqadmin("getParentTopicInfo -p TBW102")


@pytest.mark.full
async def test_subscriptions_to_lite_topics_are_shown_as_by_mqadmin(
    ours: Ours, mqadmin: Mqadmin, lite: tuple[str, str]
) -> None:
    topic, group = lite

    async def by_us(line: str) -> Any:
        (row,) = await trio.to_thread.run_sync(ours, line)
        return row

    async def by_mqadmin(line: str) -> str:
        return await trio.to_thread.run_sync(mqadmin, line)

    async with open_client(patient(namesrv_addr=ours.cluster.address)) as client:
        member = client.client_id

        async def subscribe(action: LiteSubscriptionAction, *names: str) -> None:
            change = LiteSubscriptionDTO(
                action=action, client_id=member, group=group, topic=topic, lite_topic_set=names
            )
            body = LiteSubscriptionCtlRequestBody(subscription_set=(change,))
            code = RequestCode.LITE_SUBSCRIPTION_CTL
            await client.brokers.call(ours.broker, code, None, body, within=PATIENCE)

        await subscribe(LiteSubscriptionAction.PARTIAL_ADD, "room-1", "room-2")
        client_line = f"getLiteClientInfo -p {topic} -g {group} -c {member} -s"
        info = await by_us(client_line)
        assert info["liteTopicCount"] == 2
        assert info["liteTopics"] == [f"%LMQ%${topic}$room-{number}" for number in (1, 2)]
        printed = await by_mqadmin(client_line)
        (words,) = rows(printed, begin="broker-a")
        assert words[1] == "2"
        assert all(name in printed for name in info["liteTopics"])

        line = f"getLiteTopicInfo -p {topic} -l room-1 -s"
        info = await by_us(line)
        assert (info["subClientCount"], info["subscribers"]) == (1, [f"{member}@{group}"])
        printed = await by_mqadmin(line)
        assert re.search(rf"{re.escape(member)}@{group}", printed), printed

        await by_us(f"triggerLiteDispatch -p {topic} -g {group} -c {member}")
        assert ours.status == 0
        await subscribe(LiteSubscriptionAction.PARTIAL_REMOVE, "room-1")
        info = await by_us(client_line)
        assert info["liteTopics"] == [f"%LMQ%${topic}$room-2"]
        assert info["lastAccessTime"] is not None
        await subscribe(LiteSubscriptionAction.COMPLETE_REMOVE)
        assert (await by_us(client_line.removesuffix(" -s")))["liteTopicCount"] is None
