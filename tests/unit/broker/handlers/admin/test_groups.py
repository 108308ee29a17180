"""Groups for operators (broker.md 16.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.groups import (
    SubscriptionGroupConfig,
    SubscriptionGroupList,
    SubscriptionGroupWrapper,
)

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
