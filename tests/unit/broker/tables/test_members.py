"""Connections as members of groups, and their locks."""

import pytest

from rocketwire.codes import LanguageCode
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.message.host import Host
from rocketwire_broker.config import Config
from rocketwire_broker.tables.members import Locks, Member, Members, MembersLimitError, Peer
from tests.support.values import require


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

    group = require(members.online("readers"))

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

    assert require(members.producer("client-2")).peer.number == 2


def test_a_group_leaves_with_its_last_member(members: Members) -> None:
    members.join(consumer("orders", "payments"), member(2))
    members.leave(1, "readers", None)
    assert members.online("readers") is not None

    assert members.remove(2) == ["readers"]
    assert (members.online("readers"), dict(members.consumers), members.size) == (None, {}, 0)


def test_members_and_subscriptions_are_counted_once(members: Members) -> None:
    size = members.size
    members.join(consumer("orders"), member(1))
    assert members.size == size

    members.produce("producers", member(1))
    members.produce("producers", member(1))
    members.leave(1, None, "producers")
    assert members.size == size


@pytest.mark.parametrize("version", [1, 9])
def test_a_subscription_too_much_is_refused_and_changes_nothing(version: int) -> None:
    members = Members(Config(max_subscription_bytes=10_000))
    members.join(consumer("orders", tags="t" * 5_000, version=version), member(1))
    size = members.size

    with pytest.raises(MembersLimitError, match=r"rocketwire\.maxSubscriptionBytes is 10000"):
        members.join(consumer("orders", "payments", tags="t" * 5_000), member(2))
    assert list(require(members.online("readers")).subscriptions) == ["orders"]
    assert members.size == size
    members.join(consumer("orders"), member(2))


def test_a_producer_group_too_many_is_refused_and_others_stay(members: Members) -> None:
    members.config = Config(max_groups=1)
    members.produce("producers", member(1))

    with pytest.raises(MembersLimitError, match=r"rocketwire\.maxGroups is 1"):
        members.produce("others", member(2))
    with pytest.raises(MembersLimitError, match="121 characters"):
        Members(Config()).produce("g" * 121, member(2))
    members.produce("producers", member(2))


def test_requests_to_a_peer_have_numbers_of_their_own_within_31_bits() -> None:
    peer = Peer(1, "127.0.0.1:5", Host(bytes(4), 5))
    assert (peer.new_opaque(), peer.new_opaque()) == (1, 2)

    peer.next_opaque = 0x7FFFFFFF
    assert peer.new_opaque() == 0


FIRST, SECOND = (
    MessageQueue(topic="orders", broker_name="b", queue_id=number) for number in (1, 2)
)


def test_there_are_no_more_locks_than_the_limit() -> None:
    locks = Locks(60_000, max_locks=1)

    assert locks.lock("g", "a", (FIRST, SECOND), now=0) == (FIRST,)
    assert locks.lock("g", "a", (FIRST,), now=1) == (FIRST,)


def test_free_locks_make_room_for_others() -> None:
    locks = Locks(60_000, max_locks=1)
    locks.lock("g", "a", (FIRST,), now=0)

    assert locks.lock("h", "b", (SECOND,), now=60_000) == ()
    assert locks.lock("h", "b", (SECOND,), now=60_001) == (SECOND,)


def test_names_too_long_are_not_locked() -> None:
    locks = Locks(60_000, max_locks=10)
    queue = MessageQueue(topic="t" * 1_025, broker_name="b", queue_id=1)

    assert locks.lock("g", "a", (queue, FIRST), now=0) == (FIRST,)
    assert locks.lock("g" * 1_025, "a", (FIRST,), now=0) == ()
    assert locks.lock("h", "a" * 1_025, (FIRST,), now=0) == ()
