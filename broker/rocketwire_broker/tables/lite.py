"""Lite topics: what clients have subscribed to, and the LMQs that they should read next.

A client of a group with wildcards subscribes to all lite topics of its parent. It is kept under a
name of its own in the place of a queue, ``topic@group``, which operators see.

Java: ``LiteSubscriptionRegistryImpl``, ``LiteEventDispatcher.ClientEventSet``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocketwire_broker.tables.members import Peer


@dataclass(slots=True)
class LiteSubscription:
    group: str
    topic: str  # the parent topic
    updated: int  # time of its last change, in milliseconds
    queues: dict[str, None] = field(default_factory=dict[str, None])  # names of the LMQs
    # its connection, or that of its proxy; None if it has only ended subscriptions
    peer: Peer | None = None


class LiteSubscriptions:
    def __init__(self) -> None:
        self.count = 0  # pairs of a client and a queue
        self._by_client: dict[str, LiteSubscription] = {}
        self._by_queue: dict[str, dict[str, str]] = {}  # group of each client

    def __len__(self) -> int:
        return len(self._by_client)

    def get(self, client_id: str) -> LiteSubscription | None:
        return self._by_client.get(client_id)

    def of_client(self, client_id: str, group: str, topic: str, now: int) -> LiteSubscription:
        """Return the subscription of a client, empty if it is new; its group never changes."""
        subscription = self._by_client.setdefault(client_id, LiteSubscription(group, topic, now))
        subscription.updated = now
        return subscription

    def add(self, client_id: str, queue: str) -> bool:
        subscription = self._by_client[client_id]
        subscription.queues[queue] = None
        clients = self._by_queue.setdefault(queue, {})
        if client_id in clients:
            return False
        clients[client_id] = subscription.group
        self.count += 1
        return True

    def remove(self, client_id: str, queue: str) -> bool:
        subscription = self._by_client.get(client_id)
        if subscription is not None:
            subscription.queues.pop(queue, None)
        clients = self._by_queue.get(queue, {})
        if clients.pop(client_id, None) is None:
            return False
        self.count -= 1
        if not clients:
            del self._by_queue[queue]
        return True

    def remove_client(self, client_id: str) -> LiteSubscription | None:
        subscription = self._by_client.get(client_id)
        for queue in () if subscription is None else tuple(subscription.queues):
            self.remove(client_id, queue)
        return self._by_client.pop(client_id, None)

    def remove_if_empty(self, client_id: str) -> None:
        subscription = self._by_client.get(client_id)
        if subscription is not None and not subscription.queues:
            del self._by_client[client_id]

    def clients_of(self, queue: str, group: str) -> Sequence[str]:
        clients = self._by_queue.get(queue, {})
        return [client_id for client_id, name in clients.items() if name == group]

    def groups_of(self, queue: str) -> Iterable[str]:
        return dict.fromkeys(self._by_queue.get(queue, {}).values())

    def clients_of_group(self, group: str) -> Sequence[str]:
        return [name for name, one in self._by_client.items() if one.group == group]

    def silent(self, before: int) -> Iterator[str]:
        for client_id, subscription in list(self._by_client.items()):
            if subscription.updated < before:
                yield client_id


_SILENT_MS: Final = 35_000
"""Time without a pop after which a client may have ended: more than a long poll."""

_BUSY_MS: Final = 10_000  # the same for a client that has events

_LOW: Final = 0.2


class LiteEvents:
    __slots__ = ("_limit", "_queues", "accessed", "group")

    def __init__(self, group: str, limit: int, now: int) -> None:
        self.group = group
        # when the client has read its events, in milliseconds; at first its creation
        self.accessed = now
        self._limit = limit
        self._queues: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def offer(self, queue: str) -> bool:
        if len(self._queues) >= self._limit:
            return False
        self._queues[queue] = None
        return True

    def take(self, now: int) -> str | None:
        if not self._queues:
            return None
        self.accessed = now
        queue = next(iter(self._queues))
        del self._queues[queue]
        return queue

    def is_silent(self, now: int) -> bool:
        """Return whether the client may have ended, so that others must get its events."""
        silence = now - self.accessed
        return silence > _SILENT_MS or (bool(self._queues) and silence > _BUSY_MS)

    @property
    def is_low(self) -> bool:
        return len(self._queues) < _LOW * self._limit
