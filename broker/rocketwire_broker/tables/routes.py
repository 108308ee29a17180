"""Queues of topics at all brokers, as a name server knows them.

A broker that assigns queues to the members of a group needs those of the other brokers as well. It
asks a name server: ``ask`` keeps what continues with the answer, the driver brings it with ``put``.

Java: ``TopicRouteInfoManager``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue

FRESH_MS: Final = 1_000
"""Time for which an answer of a name server is used; a member asks for its queues every 20 s."""

Waiting = Callable[[int], None]  # called with the time when the queues of a topic are there


class Routes:
    def __init__(self) -> None:
        # called when a topic was asked for; None while there is no name server
        self.on_asked: Callable[[], None] | None = None
        self._queues: dict[str, tuple[int, Sequence[MessageQueue]]] = {}
        self._asked: dict[str, list[Waiting]] = {}

    def is_fresh(self, topic: str, now: int) -> bool:
        if self.on_asked is None:
            return True
        time, _ = self._queues.get(topic, (0, ()))
        return time <= now < time + FRESH_MS

    def queues(self, topic: str) -> Sequence[MessageQueue]:
        return self._queues.get(topic, (0, ()))[1]

    def ask(self, topic: str, waiting: Waiting) -> None:
        self._asked.setdefault(topic, []).append(waiting)
        if self.on_asked is not None:
            self.on_asked()

    def pending(self) -> list[str]:
        return list(self._asked)

    def put(self, topic: str, queues: Sequence[MessageQueue] | None, now: int) -> None:
        """Take an answer; None if no name server has answered, and the last queues stay."""
        self._queues[topic] = (now, self.queues(topic) if queues is None else queues)
        for waiting in self._asked.pop(topic, ()):
            waiting(now)

    def delete_topic(self, topic: str) -> None:
        self._queues.pop(topic, None)
