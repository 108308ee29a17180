"""Who is connected: the members of consumer and producer groups.

A member is a connection with a client id. What a group subscribes to is what its last heartbeat
said.

Java: ``ConsumerManager``, ``ConsumerGroupInfo``, ``ProducerManager``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rocketwire.messages.enums import MessageModel

if TYPE_CHECKING:
    from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
    from rocketwire.wire.header_fields import Language
    from rocketwire_broker.tables.peer import Peer


MOST_PRODUCER_GROUPS: Final = 20_000
"""Most groups of producers that are connected."""


@dataclass(slots=True)
class Member:
    """A client in a group.

    Attributes:
        peer: its connection.
        client_id: its id.
        language: its language.
        version: its protocol version.
        heard: time of its last heartbeat, in milliseconds.
    """

    peer: Peer
    client_id: str
    language: Language
    version: int
    heard: int


@dataclass(slots=True)
class ConsumerGroup:
    """A consumer group that has members, or had them.

    Attributes:
        name: name of the group.
        consume_type: pushed or pulled, as its last heartbeat said.
        message_model: clustering or broadcasting, likewise.
        consume_from_where: where new members begin, likewise.
        members: members by the number of their connection.
        subscriptions: subscriptions by topic.
    """

    name: str
    consume_type: object = None
    message_model: object = None
    consume_from_where: object = None
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    subscriptions: dict[str, SubscriptionData] = field(
        default_factory=dict[str, "SubscriptionData"]
    )

    @property
    def is_broadcasting(self) -> bool:
        """Whether each member receives every message."""
        return self.message_model == MessageModel.BROADCASTING

    def client_ids(self) -> list[str]:
        """Return the ids of all members."""
        return [member.client_id for member in self.members.values()]

    def find(self, client_id: str) -> Member | None:
        """Return the member with a client id, or None."""
        for member in self.members.values():
            if member.client_id == client_id:
                return member
        return None


class Members:
    """Members of all groups.

    Attributes:
        consumers: consumer groups by name; one stays when its last member leaves.
        producers: members of producer groups by name and number of the connection.
        fingerprints: known fingerprints of heartbeats, by number of the connection.
    """

    def __init__(self) -> None:
        self.consumers: dict[str, ConsumerGroup] = {}
        self.producers: dict[str, dict[int, Member]] = {}
        self.fingerprints: dict[int, int] = {}

    # ------------------------------------------------------------------ consumers

    def online(self, group: str) -> ConsumerGroup | None:
        """Return a consumer group that has members; else None."""
        found = self.consumers.get(group)
        return found if found is not None and found.members else None

    def join(self, data: ConsumerData, member: Member) -> bool:
        """Apply a heartbeat to a consumer group.

        Returns:
            Whether the others should know: there is a new member, or another set of topics.
        """
        name = data.group_name or ""
        group = self.consumers.get(name)
        if group is None:
            group = self.consumers[name] = ConsumerGroup(name)
        group.consume_type = data.consume_type
        group.message_model = data.message_model
        group.consume_from_where = data.consume_from_where
        is_new = self._put(group.members, member)
        return self._subscribe(group, data) or is_new

    def touch(self, member: Member) -> None:
        """Note a heartbeat without subscriptions."""
        tables = [group.members for group in self.consumers.values()]
        for members in (*tables, *self.producers.values()):
            known = members.get(member.peer.number)
            if known is not None and known.client_id == member.client_id:
                known.heard = member.heard

    @staticmethod
    def _put(members: dict[int, Member], member: Member) -> bool:
        known = members.get(member.peer.number)
        members[member.peer.number] = member
        return known is None or known.client_id != member.client_id

    @staticmethod
    def _subscribe(group: ConsumerGroup, data: ConsumerData) -> bool:
        """Replace the subscriptions; per topic the newest version stays."""
        subscriptions = {item.topic or "": item for item in data.subscription_data_set or ()}
        known = group.subscriptions
        for topic, item in subscriptions.items():
            old = known.get(topic)
            if old is not None and (old.sub_version or 0) > (item.sub_version or 0):
                subscriptions[topic] = old
        group.subscriptions = subscriptions
        return known.keys() != subscriptions.keys()

    # ------------------------------------------------------------------ producers

    def produce(self, group: str, member: Member) -> None:
        """Note the heartbeat of a producer, unless there are too many groups."""
        if len(self.producers) >= MOST_PRODUCER_GROUPS and group not in self.producers:
            return
        self._put(self.producers.setdefault(group, {}), member)

    def producer(self, client_id: str) -> Member | None:
        """Return a producer by its client id, or None."""
        for members in self.producers.values():
            for member in members.values():
                if member.client_id == client_id:
                    return member
        return None

    def producers_of(self, group: str) -> Mapping[int, Member]:
        """Return the members of a producer group by the number of their connection."""
        return self.producers.get(group, {})

    # ------------------------------------------------------------------ leaving

    def leave(self, number: int, consumer_group: str | None, producer_group: str | None) -> bool:
        """Remove a connection from groups; return whether it was in the consumer group."""
        if producer_group:
            self._leave_producers(number, producer_group)
        group = self.consumers.get(consumer_group or "")
        self.fingerprints.pop(number, None)
        return group is not None and group.members.pop(number, None) is not None

    def lost(self, number: int) -> list[str]:
        """Remove a connection from all groups; return the consumer groups that it was in."""
        for name in list(self.producers):
            self._leave_producers(number, name)
        self.fingerprints.pop(number, None)
        return [
            name
            for name, group in self.consumers.items()
            if group.members.pop(number, None) is not None
        ]

    def _leave_producers(self, number: int, name: str) -> None:
        members = self.producers.get(name)
        if members is not None:
            members.pop(number, None)
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
        """Yield the connections of members without a heartbeat since a time."""
        tables = [group.members for group in self.consumers.values()]
        peers = {
            member.peer.number: member.peer
            for members in (*tables, *self.producers.values())
            for member in members.values()
            if member.heard < heard_before
        }
        yield from peers.values()
