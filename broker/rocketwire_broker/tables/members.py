"""The members of consumer and producer groups, which are connections.

A member is a connection with a client id. The subscriptions of a group are those of its last
heartbeat, and end with the last member. Members and subscriptions of all groups are bounded in
bytes.

Java: ``ConsumerManager``, ``ConsumerGroupInfo``, ``ProducerManager``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rocketwire.connection.guards import exceeds
from rocketwire.errors import RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.validation import MAX_GROUP_LENGTH

if TYPE_CHECKING:
    from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
    from rocketwire.wire.header_fields import Language
    from rocketwire_broker.config import Config
    from rocketwire_broker.tables.peer import Peer


ITEM_BYTES: Final = 256  # bytes of a member or a subscription, besides those of its texts


class MembersLimitError(RocketWireError):
    pass


@dataclass(slots=True)
class Member:
    peer: Peer
    client_id: str
    language: Language
    version: int
    heard: int  # time of its last heartbeat, in milliseconds

    @property
    def size(self) -> int:
        return ITEM_BYTES + len(self.client_id)


@dataclass(slots=True)
class ConsumerGroup:
    name: str
    consume_type: object = None  # pushed or pulled; these three are from the last heartbeat
    message_model: object = None  # clustering or broadcasting
    consume_from_where: object = None  # where new members begin
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    subscriptions: dict[str, SubscriptionData] = field(
        default_factory=dict[str, "SubscriptionData"]
    )
    size: int = 0

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model == MessageModel.BROADCASTING

    def client_ids(self) -> list[str]:
        return [member.client_id for member in self.members.values()]

    def find(self, client_id: str) -> Member | None:
        for member in self.members.values():
            if member.client_id == client_id:
                return member
        return None


class Members:
    def __init__(self, config: Config) -> None:
        self.config = config  # the settings that are valid now
        self.size = 0  # bytes of all members and subscriptions
        self.consumers: dict[str, ConsumerGroup] = {}  # consumer groups with members by name
        # members of producer groups by name and number of the connection
        self.producers: dict[str, dict[int, Member]] = {}
        # known fingerprints of heartbeats, by number of the connection
        self.fingerprints: dict[int, int] = {}

    # ------------------------------------------------------------------ consumers

    def online(self, group: str) -> ConsumerGroup | None:
        return self.consumers.get(group)

    def join(self, data: ConsumerData, member: Member) -> bool:
        """Apply a heartbeat; return whether there is a new member, or another set of topics."""
        name = data.group_name or ""
        group = self.consumers.get(name) or ConsumerGroup(name)
        subscriptions = _merge_subscriptions(group.subscriptions, data)
        size = sum(map(_size_of, subscriptions.values()))
        self._make_room(group.members, member, size - group.size)
        is_changed = group.subscriptions.keys() != subscriptions.keys()
        group.subscriptions, group.size = subscriptions, size
        self.consumers[name] = group
        group.consume_type = data.consume_type
        group.message_model = data.message_model
        group.consume_from_where = data.consume_from_where
        return self._put(group.members, member) or is_changed

    def touch(self, member: Member) -> None:
        tables = [group.members for group in self.consumers.values()]
        for members in (*tables, *self.producers.values()):
            previous = members.get(member.peer.number)
            if previous is not None and previous.client_id == member.client_id:
                previous.heard = member.heard

    def _make_room(self, members: dict[int, Member], member: Member, growth: int) -> None:
        previous = members.get(member.peer.number)
        growth += member.size - (0 if previous is None else previous.size)
        limit = self.config.max_subscription_bytes
        if growth > 0 and exceeds(self.size + growth, limit):
            raise MembersLimitError(
                f"{self.size + growth} bytes of members and subscriptions: this broker's"
                f" rocketwire.maxSubscriptionBytes is {limit}"
            )
        self.size += growth

    @staticmethod
    def _put(members: dict[int, Member], member: Member) -> bool:
        previous = members.get(member.peer.number)
        members[member.peer.number] = member
        return previous is None or previous.client_id != member.client_id

    # ------------------------------------------------------------------ producers

    def produce(self, group: str, member: Member) -> None:
        limit = self.config.max_groups
        if group not in self.producers and exceeds(len(self.producers) + 1, limit):
            text = f"{limit} producer groups, and another one: this broker's"
            raise MembersLimitError(f"{text} rocketwire.maxGroups is {limit}")
        if len(group) > MAX_GROUP_LENGTH:
            raise MembersLimitError(f"a group's name of {len(group)} characters")
        members = self.producers.get(group, {})
        self._make_room(members, member, 0)
        self.producers[group] = members
        self._put(members, member)

    def producer(self, client_id: str) -> Member | None:
        for members in self.producers.values():
            for member in members.values():
                if member.client_id == client_id:
                    return member
        return None

    def producers_of(self, group: str) -> Mapping[int, Member]:
        return self.producers.get(group, {})

    # ------------------------------------------------------------------ leaving

    def leave(
        self, connection_number: int, consumer_group: str | None, producer_group: str | None
    ) -> bool:
        """Remove a connection from groups; return whether it was in the consumer group."""
        if producer_group:
            self._leave_producers(connection_number, producer_group)
        self.fingerprints.pop(connection_number, None)
        return self._leave_consumers(connection_number, consumer_group or "")

    def remove(self, connection_number: int) -> list[str]:
        """Remove a connection from all groups; return the consumer groups that it was in."""
        for name in list(self.producers):
            self._leave_producers(connection_number, name)
        self.fingerprints.pop(connection_number, None)
        return [
            name for name in list(self.consumers) if self._leave_consumers(connection_number, name)
        ]

    def _leave_consumers(self, connection_number: int, name: str) -> bool:
        group = self.consumers.get(name)
        member = None if group is None else group.members.pop(connection_number, None)
        if group is None or member is None:
            return False
        self.size -= member.size
        if not group.members:
            self.size -= group.size
            del self.consumers[name]
        return True

    def _leave_producers(self, connection_number: int, name: str) -> None:
        members = self.producers.get(name, {})
        member = members.pop(connection_number, None)
        if member is not None:
            self.size -= member.size
            if not members:
                del self.producers[name]

    def postpone_expiry(self, milliseconds: int) -> None:
        """Let members expire later, because the clock was moved and they could send nothing."""
        tables = [group.members for group in self.consumers.values()]
        members = {
            id(member): member
            for table in (*tables, *self.producers.values())
            for member in table.values()
        }
        for member in members.values():
            member.heard += milliseconds

    def silent(self, heard_before: int) -> Iterator[Peer]:
        tables = [group.members for group in self.consumers.values()]
        peers = {
            member.peer.number: member.peer
            for members in (*tables, *self.producers.values())
            for member in members.values()
            if member.heard < heard_before
        }
        yield from peers.values()


def _merge_subscriptions(
    known: Mapping[str, SubscriptionData], data: ConsumerData
) -> dict[str, SubscriptionData]:
    # the newest version of each topic stays
    subscriptions = {item.topic or "": item for item in data.subscription_data_set or ()}
    for topic, item in subscriptions.items():
        old = known.get(topic)
        if old is not None and (old.sub_version or 0) > (item.sub_version or 0):
            subscriptions[topic] = old
    return subscriptions


def _size_of(subscription: SubscriptionData) -> int:
    tags, codes = subscription.tags_set or (), subscription.code_set or ()
    texts = (subscription.topic, subscription.sub_string, subscription.expression_type, *tags)
    return ITEM_BYTES + sum(64 + len(text or "") for text in texts) + 64 * len(codes)
