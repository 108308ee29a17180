"""Locks of orderly consumers on queues.

A lock is free when its owner has not renewed it for a while; the end of the owner's connection does
not free it.

Java: ``RebalanceLockManager``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.connection.guards import exceeds

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue


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
