"""Connections, as members of consumer and producer groups, and their locks on queues.

A member is a connection with a client id. The subscriptions of a group are those of its last
heartbeat, and end with the last member. Members and subscriptions of all groups are bounded in
bytes. A lock is free when its owner has not renewed it for a while; the end of the connection does
not free it.

Java: ``ConsumerManager``, ``ConsumerGroupInfo``, ``ProducerManager``, ``RebalanceLockManager``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.connection.guards import exceeds
from rocketwire.errors import RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.validation import MAX_GROUP_LENGTH

if TYPE_CHECKING:
    from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.header_fields import Language
    from rocketwire.wire.message.host import Host
    from rocketwire_broker.config import Config


@dataclass(slots=True, eq=False)
class Peer:
    number: int  # number of the connection, never reused
    address: str  # ``host:port``
    host: Host  # the address as stored messages have it
    out: list[bytes] = field(default_factory=list[bytes])  # frames to send; the driver empties it
    unsent: int = 0  # bytes for it that its socket has not taken
    buffered: int = 0  # bytes from it that are not handled
    held: int = 0  # number of its requests that wait for messages
    held_bytes: int = 0  # bytes that these take
    # ends of queues, by topic and queue id, when a consumer that begins at the end asked for an
    # offset and there was none; it asks for the end next
    first_ends: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    gone: bool = False  # whether the connection has ended
    next_opaque: int = 0

    def new_opaque(self) -> int:
        self.next_opaque = self.next_opaque + 1 & 0x7FFFFFFF
        return self.next_opaque


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


LONGEST_NAME: Final = 1_024
"""Characters of a name in a lock; queues with longer ones are not locked."""


class _Lock(NamedTuple):
    client_id: str
    renewed: int


class Locks:
    """Locked queues by group; beyond ``max_locks`` locks no further queue is locked."""

    def __init__(self, expiry_ms: int, max_locks: int) -> None:
        self._expiry_ms = expiry_ms
        self.max_locks = max_locks
        self._groups: dict[str, dict[MessageQueue, _Lock]] = {}

    def lock(
        self, group: str, client_id: str, queues: Iterable[MessageQueue], now: int
    ) -> tuple[MessageQueue, ...]:
        """Lock or renew queues; return those that the client has now."""
        if max(len(group), len(client_id)) > LONGEST_NAME:
            return ()
        count = self._count(now)
        locks = self._groups.get(group, {})
        granted: list[MessageQueue] = []
        for queue in queues:
            lock = locks.get(queue)
            names = (queue.topic or "", queue.broker_name or "")
            if lock is None and (
                exceeds(count + 1, self.max_locks) or max(map(len, names)) > LONGEST_NAME
            ):
                continue
            if lock is None or lock.client_id == client_id or self._is_free(lock, now):
                count += lock is None
                locks[queue] = _Lock(client_id, now)
                granted.append(queue)
        if locks:
            self._groups[group] = locks
        return tuple(granted)

    def unlock(self, group: str, client_id: str, queues: Iterable[MessageQueue]) -> None:
        locks = self._groups.get(group, {})
        for queue in queues:
            lock = locks.get(queue)
            if lock is not None and lock.client_id == client_id:
                del locks[queue]

    def is_any_held(self, group: str, now: int) -> bool:
        locks = self._groups.get(group, {})
        return any(not self._is_free(lock, now) for lock in locks.values())

    def _count(self, now: int) -> int:
        # if there is no room for another lock, free ones are removed
        count = sum(map(len, self._groups.values()))
        if not exceeds(count + 1, self.max_locks):
            return count
        for group, locks in list(self._groups.items()):
            for queue in [queue for queue, lock in locks.items() if self._is_free(lock, now)]:
                del locks[queue]
            if not locks:
                del self._groups[group]
        return sum(map(len, self._groups.values()))

    def _is_free(self, lock: _Lock, now: int) -> bool:
        return now - lock.renewed > self._expiry_ms
