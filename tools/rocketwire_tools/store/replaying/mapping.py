"""Which topic and queue of the target a stored message goes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.policy.validation import check_topic
from rocketwire_tools.store.engine.topic_kinds import Kind, kind_of_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_tools.store.replaying.outgoing import ReplayMessage

SENT_UNASKED = frozenset({Kind.MESSAGE, Kind.INNER, Kind.COMMITTED})
"""Kinds that are sent if no topic is named: what consumers were meant to see, and each once."""

_SENDABLE = SENT_UNASKED | {Kind.RETRY, Kind.DLQ}


class TopicMap:
    """Names of topics at the target."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read ``TOPIC`` and ``OLD=NEW``; raises ``ValueError`` for two new names or a bad one."""
        self._names: dict[str, str] = {}
        for text in texts:
            old, separator, new = text.partition("=")
            name = new if separator else old
            check_topic(name)
            if self._names.setdefault(old, name) != name:
                raise ValueError(f"topic {old} has two new names: {self._names[old]} and {name}")
            if kind_of_topic(name) not in _SENDABLE:
                raise ValueError(
                    f"{name} is a topic that brokers write; give its messages another topic:"
                    f" --topic {old}=NEW"
                )
        # topics of the store that are sent; empty for all of applications
        self.topics = frozenset(self._names)

    def selects(self, message: ReplayMessage) -> bool:
        """Whether a message is sent, by its topic."""
        return bool(self.topics) or kind_of_topic(message.topic) in SENT_UNASKED

    def target(self, topic: str) -> str:
        return self._names.get(topic, topic)


def choose_queue(queues: Sequence[MessageQueue], queue_id: int) -> MessageQueue:
    """The queue of the target with the same id; if several brokers have it, they take turns by id.

    Without one the id counts through all queues, again from the first one after the last.
    """
    same_id = [queue for queue in queues if queue.queue_id == queue_id]
    choice = same_id or queues
    return choice[queue_id % len(choice)]
