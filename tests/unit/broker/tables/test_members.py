"""Members of groups."""

from __future__ import annotations

import pytest

from rocketwire.codes import LanguageCode
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
from rocketwire.wire.message.host import Host
from rocketwire_broker.tables.members import Member, Members
from rocketwire_broker.tables.peer import Peer


def member(number: int, heard: int = 0) -> Member:
    peer = Peer(number, f"127.0.0.1:{number}", Host(bytes(4), number))
    return Member(peer, f"client-{number}", LanguageCode.JAVA, 513, heard)


def consumer(*topics: str, version: int = 1, tags: str = "*") -> ConsumerData:
    subscriptions = tuple(
        SubscriptionData(topic=topic, sub_string=tags, sub_version=version) for topic in topics
    )
    return ConsumerData(
        group_name="readers",
        message_model=MessageModel.CLUSTERING,
        subscription_data_set=subscriptions,
    )


@pytest.fixture
def members() -> Members:
    members = Members()
    members.join(consumer("orders"), member(1))
    return members


def test_a_new_member_and_another_set_of_topics_are_changes(members: Members) -> None:
    assert not members.join(consumer("orders"), member(1))
    assert not members.join(consumer("orders", version=2, tags="a"), member(1))
    assert members.join(consumer("orders"), member(2))
    assert members.join(consumer("orders", "others"), member(1))


def test_the_newest_version_of_a_subscription_stays(members: Members) -> None:
    members.join(consumer("orders", version=5, tags="new"), member(1))
    members.join(consumer("orders", version=4, tags="old"), member(2))

    group = members.online("readers")

    assert group is not None
    assert group.subscriptions["orders"].sub_string == "new"
    assert group.client_ids() == ["client-1", "client-2"]
    assert group.find("client-2") is not None
    assert group.find("client-3") is None


def test_a_lost_connection_leaves_all_groups(members: Members) -> None:
    members.produce("producers", member(1))

    assert members.lost(1) == ["readers"]
    assert members.lost(1) == []
    assert members.online("readers") is None
    assert members.producers_of("producers") == {}


def test_a_client_leaves_the_groups_that_it_names(members: Members) -> None:
    members.produce("producers", member(1))

    assert not members.leave(1, None, "producers")
    assert members.producer("client-1") is None
    assert members.leave(1, "readers", None)
    assert not members.leave(1, "readers", None)


def test_silent_members_are_those_without_a_late_heartbeat(members: Members) -> None:
    members.produce("producers", member(2, heard=50))

    assert [peer.number for peer in members.silent(10)] == [1]
    members.touch(member(1, heard=60))
    assert [peer.number for peer in members.silent(10)] == []
    assert sorted(peer.number for peer in members.silent(100)) == [1, 2]


def test_a_producer_is_found_by_its_client_id(members: Members) -> None:
    members.produce("producers", member(2))

    found = members.producer("client-2")

    assert found is not None
    assert found.peer.number == 2
