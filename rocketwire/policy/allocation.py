"""Allocation of a topic's queues to the consumers of a group, as Java's strategies do it.

Every member of a group computes its queues from the same two sorted lists, so all members, Java's
included, must compute the same result.  ``sorted_queues`` and ``sorted_client_ids`` sort as Java
does.

Java: ``client.consumer.rebalance``, ``common.consistenthash``, ``RebalanceImpl.rebalanceByTopic``.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from rocketwire.errors import LocalProtocolError
from rocketwire.policy.java_strings import sort_key, split

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue

_T = TypeVar("_T")

DEFAULT_VIRTUAL_NODES: Final = 10  # positions of each consumer on the ring of the consistent hash


class AllocateMessageQueueStrategy(Protocol):
    """A strategy of allocation (Java: ``AllocateMessageQueueStrategy``)."""

    @property
    def name(self) -> str:
        """Java's name of the strategy, which brokers use too (code 400)."""
        ...

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """Return the queues of one consumer.

        Args:
            client_id: the consumer.
            queues: all queues of the topic, sorted.
            client_ids: all consumers of the group, sorted.

        Raises:
            LocalProtocolError: no client id, no queues or no consumers.
        """
        ...


def sorted_queues(queues: Iterable[MessageQueue]) -> list[MessageQueue]:
    """Sort queues by topic, broker and number (Java: ``MessageQueue.compareTo``)."""
    return sorted(
        queues,
        key=lambda queue: (
            sort_key(queue.topic or ""),
            sort_key(queue.broker_name or ""),
            queue.queue_id,
        ),
    )


def sorted_client_ids(client_ids: Iterable[str]) -> list[str]:
    return sorted(client_ids, key=sort_key)


def queue_text(queue: MessageQueue) -> str:
    """Return Java's text of a queue (``MessageQueue.toString``), for the consistent hash."""
    topic = "null" if queue.topic is None else queue.topic
    broker = "null" if queue.broker_name is None else queue.broker_name
    return f"MessageQueue [topic={topic}, brokerName={broker}, queueId={queue.queue_id}]"


def _is_member(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> bool:
    if not client_id:
        raise LocalProtocolError("no client id to allocate queues for")
    if not queues:
        raise LocalProtocolError("no queues to allocate")
    if not client_ids:
        raise LocalProtocolError("no consumers to allocate queues to")
    return client_id in client_ids


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueAveragely:
    """Contiguous shares of equal size; the first consumers get one queue more if necessary."""

    name: str = "AVG"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        if not _is_member(client_id, queues, client_ids):
            return []
        index = client_ids.index(client_id)
        size, remainder = divmod(len(queues), len(client_ids))
        if len(queues) <= len(client_ids):
            size = 1
        elif index < remainder:
            size += 1
        start = index * size if index < remainder else index * size + remainder
        return list(queues[start : start + size])


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueAveragelyByCircle:
    """Round-robin: every n-th queue, for n consumers."""

    name: str = "AVG_BY_CIRCLE"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        if not _is_member(client_id, queues, client_ids):
            return []
        return list(queues[client_ids.index(client_id) :: len(client_ids)])


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueByConfig:
    """Configured queues, whatever the other consumers read."""

    queues: tuple[MessageQueue, ...] = ()
    name: str = "CONFIG"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        return list(self.queues)


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueByMachineRoom:
    """Shares of the queues of some machine rooms, for brokers named ``room@broker``."""

    rooms: frozenset[str]  #: the machine rooms; queues in other rooms are not allocated
    name: str = "MACHINE_ROOM"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        if not _is_member(client_id, queues, client_ids):
            return []
        index = client_ids.index(client_id)
        shared = [queue for queue in queues if self._is_shared(queue)]
        size, remainder = divmod(len(shared), len(client_ids))
        share = shared[size * index : size * (index + 1)]
        if index < remainder:
            share.append(shared[index + size * len(client_ids)])
        return share

    def _is_shared(self, queue: MessageQueue) -> bool:
        parts = split(queue.broker_name or "", "@")
        return len(parts) == 2 and parts[0] in self.rooms


def md5_hash(text: str) -> int:
    """Return a text's position on the ring: the first four bytes of its MD5, unsigned."""
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueConsistentHash:
    """Each queue goes to the next consumer on a ring; few queues move if the group changes."""

    virtual_nodes: int = DEFAULT_VIRTUAL_NODES  #: number of positions of each consumer on the ring
    hash_function: Callable[[str], int] = md5_hash  #: returns the position of a text on the ring
    name: str = "CONSISTENT_HASH"

    def __post_init__(self) -> None:
        if self.virtual_nodes < 0:
            raise LocalProtocolError(f"virtual_nodes is negative: {self.virtual_nodes}")

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        if not _is_member(client_id, queues, client_ids):
            return []
        owners = self._ring(client_ids)
        positions = sorted(owners)
        if not positions:
            return []
        share: list[MessageQueue] = []
        for queue in queues:
            index = bisect_left(positions, self.hash_function(queue_text(queue)))
            if owners[positions[index % len(positions)]] == client_id:
                share.append(queue)
        return share

    def _ring(self, client_ids: Sequence[str]) -> dict[int, str]:
        owners: dict[int, str] = {}
        placed: set[str] = set()
        for client_id in client_ids:
            first = list(owners.values()).count(client_id) if client_id in placed else 0
            placed.add(client_id)
            for number in range(first, first + self.virtual_nodes):
                owners[self.hash_function(f"{client_id}-{number}")] = client_id
        return owners


@dataclass(frozen=True, slots=True)
class AllocateMachineRoomNearby:
    """Each room's queues go to its own consumers; rooms without consumers are shared by all."""

    inner: AllocateMessageQueueStrategy  #: the strategy for the queues of a room
    room_of_queue: Callable[[MessageQueue], str]  #: returns the room of a queue's broker, not empty
    room_of_client: Callable[[str], str]  #: returns the room of a consumer, not empty

    @property
    def name(self) -> str:
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        if not _is_member(client_id, queues, client_ids):
            return []
        by_room = _group(queues, self.room_of_queue)
        clients = _group(client_ids, self.room_of_client)
        own_room = self.room_of_client(client_id)
        share: list[MessageQueue] = []
        if own_room in by_room:
            share += self.inner.allocate(client_id, by_room[own_room], clients[own_room])
        for room in sorted(by_room, key=sort_key):
            if room not in clients:
                share += self.inner.allocate(client_id, by_room[room], client_ids)
        return share


def _group(members: Sequence[_T], room_of: Callable[[_T], str]) -> dict[str, list[_T]]:
    groups: dict[str, list[_T]] = {}
    for member in members:
        room = room_of(member)
        if not room:
            raise LocalProtocolError(f"the machine room of {member} is unknown")
        groups.setdefault(room, []).append(member)
    return groups


@dataclass(frozen=True, slots=True)
class _AllPositions:
    inner: AllocateMessageQueueStrategy

    @property
    def name(self) -> str:
        return self.inner.name

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        share: list[MessageQueue] = []
        remaining = list(client_ids)
        for _ in range(client_ids.count(client_id)):
            share += self.inner.allocate(client_id, queues, remaining)
            remaining[remaining.index(client_id)] = ""
        return share


def use_all_positions(strategy: AllocateMessageQueueStrategy) -> AllocateMessageQueueStrategy:
    # A broker lists a client once for each of its connections, including dead ones. A strategy that
    # allocates by position gives each of them a share, but a Java client only reads the first, so
    # the messages of the other shares wait. With the result the consumer reads all its shares.
    if isinstance(strategy, AllocateMachineRoomNearby):
        return replace(strategy, inner=use_all_positions(strategy.inner))
    return _AllPositions(strategy) if isinstance(strategy, _BY_POSITION) else strategy


_BY_POSITION: Final = (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByMachineRoom,
)


# The strategies without configuration, by Java's name
STRATEGIES: Final[dict[str, AllocateMessageQueueStrategy]] = {
    strategy.name: strategy
    for strategy in (
        AllocateMessageQueueAveragely(),
        AllocateMessageQueueAveragelyByCircle(),
        AllocateMessageQueueConsistentHash(),
    )
}
