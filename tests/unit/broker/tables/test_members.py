"""Members of groups."""

from __future__ import annotations

import pytest

from rocketwire.codes import LanguageCode
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
from rocketwire.wire.message.host import Host
from rocketwire_broker.config import Config
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
    members = Members(Config())
    members.join(consumer("orders"), member(1))
    return members


def test_the_newest_version_of_a_subscription_stays(members: Members) -> None:
    members.join(consumer("orders", version=5, tags="new"), member(1))
    members.join(consumer("orders", version=4, tags="old"), member(2))

    group = members.online("readers")

    assert group is not None
    assert group.subscriptions["orders"].sub_string == "new"
    assert group.client_ids() == ["client-1", "client-2"]
    assert group.find("client-2") is not None
    assert group.find("client-3") is None


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
