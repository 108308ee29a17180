"""Groups for operators (broker.md 16.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages import decode_body
from rocketwire.messages.groups import (
    DeleteSubscriptionGroupListRequestBody,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client


def test_attributes_of_groups_are_added_and_removed(client: Client, home: BrokerAtHand) -> None:
    for attributes in ({"+a": "1", "+b": "2"}, {"-a": ""}):
        client.call(200, {}, SubscriptionGroupConfig(group_name="g", attributes=attributes))

    group = home.broker.groups.get("g")
    assert group is not None
    assert group.attributes == {"b": "2"}


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


def test_a_list_of_groups_is_deleted_or_none_of_them(client: Client, home: BrokerAtHand) -> None:
    for name in ("g", "h"):
        client.call(200, {}, SubscriptionGroupConfig(group_name=name))
    for names in (("g", " "), ()):
        body = DeleteSubscriptionGroupListRequestBody(group_name_list=names)
        assert (client.call(5003, {}, body).code, "g" in home.broker.groups) == (29, True)
    assert client.call(5003, {}).remark == "The specified group name list is blank."

    home.broker.offsets.commit("g", "orders", 0, 7, home.now)
    body = DeleteSubscriptionGroupListRequestBody(group_name_list=("g", "h"), clean_offset=True)
    assert client.call(5003, {}, body).code == 0
    assert not any(name in home.broker.groups for name in ("g", "h"))
    assert "g" not in home.broker.offsets.groups_of("orders")
