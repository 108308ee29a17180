"""Which queues of a topic one consumer of a group reads: Java's strategies, result for result.

Every member of a group computes this alone, from the same two sorted lists; Java's members and ours share groups only as long as
both come to the same result.  ``sorted_queues`` and ``sorted_client_ids`` give the order that Java sorts by.

Rules of this file: a strategy is a value with a ``name`` (what the broker calls it, code 400) and an ``allocate``.

Java: ``client.consumer.rebalance``, ``common.consistenthash``, ``RebalanceImpl.rebalanceByTopic``.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from rocketwire.errors import LocalProtocolError
from rocketwire.policy.java_strings import sort_key, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rocketwire.messages.message_queue import MessageQueue

_T = TypeVar("_T")

DEFAULT_VIRTUAL_NODES: Final = 10
"""Places that each consumer has on the ring of the consistent hash."""


class AllocateMessageQueueStrategy(Protocol):
    """A way to share queues (Java: ``AllocateMessageQueueStrategy``)."""

    @property
    def name(self) -> str:
        """What Java calls it."""
        ...

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """The queues of one consumer.

        Args:
            client_id: whose.
            queues: all queues of the topic, sorted.
            client_ids: all consumers of the group, sorted.

        Raises:
            LocalProtocolError: no client id, no queues or no consumers.
        """
        ...


def sorted_queues(queues: Iterable[MessageQueue]) -> list[MessageQueue]:
    """Queues by topic, broker and number (Java: ``MessageQueue.compareTo``)."""
    return sorted(
        queues,
        key=lambda queue: (
            sort_key(queue.topic or ""),
            sort_key(queue.broker_name or ""),
            queue.queue_id,
        ),
    )


def sorted_client_ids(client_ids: Iterable[str]) -> list[str]:
    """Client ids as Java sorts them; a list with one of them twice keeps both."""
    return sorted(client_ids, key=sort_key)


def queue_text(queue: MessageQueue) -> str:
    """Java's text of a queue (``MessageQueue.toString``), which the consistent hash is taken of."""
    topic = "null" if queue.topic is None else queue.topic
    broker = "null" if queue.broker_name is None else queue.broker_name
    return f"MessageQueue [topic={topic}, brokerName={broker}, queueId={queue.queue_id}]"


def _is_member(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> bool:
    """Whether the consumer is in the group's list at all; the broker may not have heard of it yet."""
    if not client_id:
        raise LocalProtocolError("no client id to allocate queues for")
    if not queues:
        raise LocalProtocolError("no queues to allocate")
    if not client_ids:
        raise LocalProtocolError("no consumers to allocate queues to")
    return client_id in client_ids


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueAveragely:
    """Contiguous shares of as equal a size as can be; the first consumers get one more."""

    name: str = "AVG"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """As ``AllocateMessageQueueStrategy.allocate``."""
        if not _is_member(client_id, queues, client_ids):
            return []
        index = client_ids.index(client_id)
        size, more = divmod(len(queues), len(client_ids))
        if len(queues) <= len(client_ids):
            size = 1
        elif index < more:
            size += 1
        start = index * size if index < more else index * size + more
        return list(queues[start : start + size])


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueAveragelyByCircle:
    """Dealt out like cards."""

    name: str = "AVG_BY_CIRCLE"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """As ``AllocateMessageQueueStrategy.allocate``."""
        if not _is_member(client_id, queues, client_ids):
            return []
        return list(queues[client_ids.index(client_id) :: len(client_ids)])


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueByConfig:
    """What the configuration says, whoever else is there.

    Attributes:
        queues: this consumer's.
    """

    queues: tuple[MessageQueue, ...] = ()
    name: str = "CONFIG"

    def allocate(
        self,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        """The configured queues; none of the arguments matters."""
        return list(self.queues)


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueByMachineRoom:
    """Shares of the queues of some machine rooms, for brokers named ``room@broker``.

    Attributes:
        rooms: whose queues are shared; queues elsewhere are read by nobody.
    """

    rooms: frozenset[str]
    name: str = "MACHINE_ROOM"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """As ``AllocateMessageQueueStrategy.allocate``."""
        if not _is_member(client_id, queues, client_ids):
            return []
        index = client_ids.index(client_id)
        shared = [queue for queue in queues if self._is_shared(queue)]
        size, more = divmod(len(shared), len(client_ids))
        mine = shared[size * index : size * (index + 1)]
        if index < more:
            mine.append(shared[index + size * len(client_ids)])
        return mine

    def _is_shared(self, queue: MessageQueue) -> bool:
        pieces = split(queue.broker_name or "", "@")
        return len(pieces) == 2 and pieces[0] in self.rooms


def md5_hash(text: str) -> int:
    """Place of a text on the ring: the first four bytes of its MD5, unsigned."""
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


@dataclass(frozen=True, slots=True)
class AllocateMessageQueueConsistentHash:
    """Each queue goes to the next consumer on a ring; when one comes or goes, few queues move.

    Attributes:
        virtual_nodes: places of each consumer on the ring.
        hash_function: place of a text on the ring.
    """

    virtual_nodes: int = DEFAULT_VIRTUAL_NODES
    hash_function: Callable[[str], int] = md5_hash
    name: str = "CONSISTENT_HASH"

    def __post_init__(self) -> None:
        """Checks the number of places.

        Raises:
            LocalProtocolError: it is negative.
        """
        if self.virtual_nodes < 0:
            raise LocalProtocolError(f"{self.virtual_nodes} virtual nodes")

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """As ``AllocateMessageQueueStrategy.allocate``."""
        if not _is_member(client_id, queues, client_ids):
            return []
        owners = self._ring(client_ids)
        places = sorted(owners)
        if not places:
            return []
        mine: list[MessageQueue] = []
        for queue in queues:
            at = bisect_left(places, self.hash_function(queue_text(queue)))
            if owners[places[at % len(places)]] == client_id:
                mine.append(queue)
        return mine

    def _ring(self, client_ids: Sequence[str]) -> dict[int, str]:
        """Owner by place; of two on one place the later has it, and who is listed twice has twice as many."""
        owners: dict[int, str] = {}
        seen: set[str] = set()
        for client_id in client_ids:
            first = list(owners.values()).count(client_id) if client_id in seen else 0
            seen.add(client_id)
            for number in range(first, first + self.virtual_nodes):
                owners[self.hash_function(f"{client_id}-{number}")] = client_id
        return owners


@dataclass(frozen=True, slots=True)
class AllocateMachineRoomNearby:
    """Each room's queues to its own consumers; those of rooms without any to all.

    Attributes:
        inner: how the queues of a room are shared.
        room_of_queue: the room of a queue's broker; may not be empty.
        room_of_client: the room of a consumer; may not be empty.
    """

    inner: AllocateMessageQueueStrategy
    room_of_queue: Callable[[MessageQueue], str]
    room_of_client: Callable[[str], str]

    @property
    def name(self) -> str:
        """What Java calls it; the inner strategy's name is part of it."""
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        """As ``AllocateMessageQueueStrategy.allocate``.

        Raises:
            LocalProtocolError: also when somebody's room is not known.
        """
        if not _is_member(client_id, queues, client_ids):
            return []
        by_room = _grouped(queues, self.room_of_queue)
        clients = _grouped(client_ids, self.room_of_client)
        home = self.room_of_client(client_id)
        mine: list[MessageQueue] = []
        if home in by_room:
            mine += self.inner.allocate(client_id, by_room[home], clients[home])
        for room in sorted(by_room, key=sort_key):
            if room not in clients:
                mine += self.inner.allocate(client_id, by_room[room], client_ids)
        return mine


def _grouped(things: Sequence[_T], room_of: Callable[[_T], str]) -> dict[str, list[_T]]:
    groups: dict[str, list[_T]] = {}
    for thing in things:
        room = room_of(thing)
        if not room:
            raise LocalProtocolError(f"no machine room is known of {thing}")
        groups.setdefault(room, []).append(thing)
    return groups


@dataclass(frozen=True, slots=True)
class _AllPlaces:
    """The shares of all places at which the list has a consumer; ``inner`` goes by the place."""

    inner: AllocateMessageQueueStrategy

    @property
    def name(self) -> str:
        return self.inner.name

    def allocate(
        self, client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
    ) -> list[MessageQueue]:
        mine: list[MessageQueue] = []
        others = list(client_ids)
        for _ in range(client_ids.count(client_id)):
            mine += self.inner.allocate(client_id, queues, others)
            others[others.index(client_id)] = ""
        return mine


def of_all_places(strategy: AllocateMessageQueueStrategy) -> AllocateMessageQueueStrategy:
    """The same way to share queues, for a consumer that is alone in having its client id.

    A broker lists a client once for each of its connections, also for those whose end it has not noticed.  Whoever shares by the
    place in the list gives every connection its share, and whoever looks for the place finds the first one: the other shares are
    nobody's (so with Java's clients).  Here the consumer has all of them, and no other member takes any of these.
    """
    if isinstance(strategy, AllocateMachineRoomNearby):
        return replace(strategy, inner=of_all_places(strategy.inner))
    return _AllPlaces(strategy) if isinstance(strategy, _BY_PLACE) else strategy


_BY_PLACE: Final = (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByMachineRoom,
)


STRATEGIES: Final[dict[str, AllocateMessageQueueStrategy]] = {
    strategy.name: strategy
    for strategy in (
        AllocateMessageQueueAveragely(),
        AllocateMessageQueueAveragelyByCircle(),
        AllocateMessageQueueConsistentHash(),
    )
}
"""Those that need no configuration, by Java's name."""
