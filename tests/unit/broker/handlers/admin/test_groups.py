"""Groups for operators (broker.md 16.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.groups import (
    GroupForbidden,
    GroupList,
    SubscriptionGroupConfig,
    SubscriptionGroupList,
    SubscriptionGroupWrapper,
)
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.route import TopicList
from rocketwire.policy.subscription import subscription_data

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client


def test_a_group_is_created_changed_and_shown(client: Client) -> None:
    client.call(200, {}, SubscriptionGroupConfig(group_name="readers", retry_max_times=3))
    client.call(
        225,
        {},
        SubscriptionGroupList(group_config_list=(SubscriptionGroupConfig(group_name="others"),)),
    )

    shown = decode_body(SubscriptionGroupConfig, client.call(352, {"group": "readers"}).body or b"")

    assert shown == SubscriptionGroupConfig(group_name="readers", retry_max_times=3)
    assert client.call(352, {"group": "new"}).code == 0
    refused = client.call(352, {"group": "a b"})
    assert (refused.code, refused.remark) == (26, "No group in this broker")


def test_a_new_group_is_shown_as_java_shows_it(client: Client) -> None:
    assert client.call(352, {"group": "g"}).body == (
        b'{"attributes":{},"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,'
        b'"consumeFromMinEnable":true,"consumeMessageOrderly":false,"consumeTimeoutMinute":15,'
        b'"groupName":"g","groupRetryPolicy":{"type":"CUSTOMIZED"},"groupSysFlag":0,'
        b'"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,'
        b'"whichBrokerWhenConsumeSlowly":1}'
    )


def test_attributes_of_groups_are_added_and_removed(client: Client, home: BrokerAtHand) -> None:
    for attributes in ({"+a": "1", "+b": "2"}, {"-a": ""}):
        client.call(200, {}, SubscriptionGroupConfig(group_name="g", attributes=attributes))

    group = home.broker.groups.get("g")
    assert group is not None
    assert group.attributes == {"b": "2"}


@pytest.mark.parametrize("name", ["", "a b", "g" * 121])
def test_bad_names_are_refused(client: Client, name: str) -> None:
    answer = client.call(200, {}, SubscriptionGroupConfig(group_name=name))

    assert answer.code == 29
    assert (answer.remark or "").startswith("The specified group")


def test_a_deleted_group_takes_its_offsets_along_if_asked_to(
    client: Client, home: BrokerAtHand
) -> None:
    client.send()
    client.pulled(sysFlag=5, commitOffset=1)

    client.call(207, {"groupName": "readers", "cleanOffset": False})
    assert home.broker.offsets.table() != {}
    assert home.broker.statistics.group_gets == {}
    client.call(207, {"groupName": "readers", "cleanOffset": True})
    assert home.broker.offsets.table() == {}
    assert "readers" not in home.broker.groups


def test_all_groups_or_a_page_of_them_are_listed(client: Client, home: BrokerAtHand) -> None:
    home.broker.groups.forbid("readers", "orders", home.now, readable=False)
    whole = client.call(201, {})
    page = client.call(201, {"groupSeq": 0, "maxGroupNum": 2})

    everything = decode_body(SubscriptionGroupWrapper, whole.body or b"")
    two = decode_body(SubscriptionGroupWrapper, page.body or b"")

    assert everything is not None
    assert two is not None
    assert whole.ext_fields == {"totalGroupNum": str(len(home.broker.groups))}
    assert len(everything.subscription_group_table or {}) == len(home.broker.groups)
    assert len(two.subscription_group_table or {}) == 2
    assert set(everything.forbidden_table or {}) == {"readers"}


def test_readers_of_a_topic_and_topics_of_a_reader_are_listed(client: Client) -> None:
    client.send()
    client.pulled(sysFlag=5, commitOffset=1)
    subscription = subscription_data("orders", "new", version=1)
    online = ConsumerData(group_name="online", subscription_data_set=(subscription,))
    client.call(34, {}, HeartbeatData(client_id="c", consumer_data_set=(online,)))

    groups = decode_body(GroupList, client.call(300, {"topic": "orders"}).body or b"")
    topics = decode_body(TopicList, client.call(343, {"group": "readers"}).body or b"")
    known = client.call(345, {"group": "online", "topic": "orders"})
    unknown = client.call(345, {"group": "readers", "topic": "orders"})

    assert groups is not None
    assert set(groups.group_list or ()) == {"online", "readers"}
    assert topics is not None
    assert topics.topic_list == ("orders",)
    assert b'"subString":"new"' in (known.body or b"")
    assert unknown.body == b'{"group":"readers","topic":"orders"}'


def test_reading_is_forbidden_and_allowed(client: Client) -> None:
    fields: dict[str, object] = {"group": "g", "topic": "t"}

    def readable(**changes: object) -> bool | None:
        body = decode_body(GroupForbidden, client.call(353, {**fields, **changes}).body or b"")
        return None if body is None else body.readable

    assert readable() is True
    assert readable(readable=False) is False
    assert readable() is False
    assert readable(readable=True) is True
