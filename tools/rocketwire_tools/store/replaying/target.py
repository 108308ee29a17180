"""Topics and queues of the target, and messages that a replay has sent to them before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.pull import PullCalls, PullRequest
from rocketwire.client.consumer.queues import find_master
from rocketwire.client.periodic import now_millis
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.validation import check_topic
from rocketwire_tools.store.engine.topic_kinds import Kind, kind_of_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.client.consumer.pull import PullResult
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_tools.store.replaying.outgoing import ReplayMessage

TOOLS_GROUP: Final = "TOOLS_CONSUMER"
"""Consumer group of operators' pulls (Java: ``MixAll.TOOLS_CONSUMER_GROUP``)."""

DISPATCH_SECONDS: Final = 5.0
"""Time for a broker to put stored messages into their queues; it takes milliseconds."""

_POLL_SECONDS: Final = 0.05
_PULLED: Final = 32  # messages of a pull


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


class TargetQueues:
    """Reads queues of the target; for errors see ``BrokerCalls.call`` and ``PullCalls.pull``."""

    def __init__(self, instance: ClientInstance, timeout: float) -> None:
        self._instance = instance
        self._timeout = timeout
        self._pulls = PullCalls(instance)

    async def end(self, queue: MessageQueue) -> int:
        """Offset of the next message, when all stored ones can be pulled."""
        address, brokers = await find_master(self._instance, queue), self._instance.brokers
        with trio.move_on_after(DISPATCH_SECONDS):
            while True:
                stored = await brokers.max_offset(address, queue, committed=False)
                readable = await brokers.max_offset(address, queue)
                if readable >= stored:
                    return readable
                await trio.sleep(_POLL_SECONDS)
        return await brokers.max_offset(address, queue)

    async def find(self, queue: MessageQueue, message: ReplayMessage, start: int) -> int | None:
        """The offset from ``start`` on at which a message is stored; None if it is not."""
        end = await self.end(queue)
        offset = start
        while offset < end:
            result = await self._pull(queue, offset)
            for stored in result.messages:
                if stored.queue_offset >= start and message.is_stored_as(stored):
                    return stored.queue_offset
            offset = max(result.next_begin_offset, offset + 1)
        return None

    async def _pull(self, queue: MessageQueue, offset: int) -> PullResult:
        request = PullRequest(
            queue=queue,
            offset=offset,
            group=TOOLS_GROUP,
            subscription=subscription_data(queue.topic or "", None, version=now_millis()),
            max_msg_nums=_PULLED,
            suspend_timeout=0,
            send_subscription=True,
        )
        return await self._pulls.pull(request, within=self._timeout)
