"""Requests that wait for messages (long polling).

A wait has one or more queues, which wake it, and a deadline. A request that is woken is tried
again, and may keep waiting. At its deadline it must answer. ``ANY_QUEUE`` stands for all queues
of a topic.

Java: ``PullRequestHoldService``, ``PopLongPollingService``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocketwire_broker.state.response import Response
    from rocketwire_broker.state.schedule import Entry
    from rocketwire_broker.tables.members import Peer

ANY_QUEUE: Final = -1  # queue id that stands for all queues of a topic

WakeUp = Callable[[int, bool], "Response | None"]
"""Tries a request again, at a time, and maybe for the last time; returns None to keep waiting."""

TopicQueue = tuple[str, int]  # a topic and a queue id


@dataclass(slots=True, eq=False)
class Wait:
    peer: Peer
    opaque: int
    queues: tuple[TopicQueue, ...]
    wake_up: WakeUp
    size: int  # about the bytes that it takes, if they depend on the client
    deadline: Entry | None = None  # entry of the schedule at which it must answer


class Waits:
    def __init__(self) -> None:
        self._by_queue: dict[TopicQueue, dict[int, Wait]] = {}
        self._by_peer: dict[int, dict[int, Wait]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, wait: Wait) -> bool:
        return id(wait) in self._by_peer.get(wait.peer.number, ())

    def add(self, wait: Wait) -> None:
        self._count += 1
        wait.peer.held += 1
        wait.peer.held_bytes += wait.size
        self._by_peer.setdefault(wait.peer.number, {})[id(wait)] = wait
        for queue in wait.queues:
            self._by_queue.setdefault(queue, {})[id(wait)] = wait

    def remove(self, wait: Wait) -> None:
        of_peer = self._by_peer.get(wait.peer.number, {})
        if of_peer.pop(id(wait), None) is None:
            return
        self._count -= 1
        wait.peer.held -= 1
        wait.peer.held_bytes -= wait.size
        if not of_peer:
            del self._by_peer[wait.peer.number]
        for queue in wait.queues:
            waits = self._by_queue.get(queue, {})
            waits.pop(id(wait), None)
            if not waits:
                self._by_queue.pop(queue, None)

    def find_waiting(self, queues: Iterable[TopicQueue]) -> list[Wait]:
        by_queue = self._by_queue
        if not by_queue:
            return []
        waiting: dict[int, Wait] = {}
        for topic, queue_id in queues:
            for key in ((topic, queue_id), (topic, ANY_QUEUE)):
                waiting |= by_queue.get(key, {})
        return list(waiting.values())

    def of_queue(self, queue: TopicQueue) -> Iterable[Wait]:
        return self._by_queue.get(queue, {}).values()

    def of_topic(self, topic: str) -> list[Wait]:
        return [
            wait
            for (name, _), waits in self._by_queue.items()
            if name == topic
            for wait in waits.values()
        ]

    def of_peer(self, connection_number: int) -> list[Wait]:
        return list(self._by_peer.get(connection_number, {}).values())
