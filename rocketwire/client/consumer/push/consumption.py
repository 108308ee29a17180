"""What the parts of a push consumer share, and what all ways to handle its messages have in common.

Java: ``ConsumeMessageService``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.client.consumer.retry import with_real_topic
from rocketwire.policy.resource_names import RETRY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    import trio

    from rocketwire.client.consumer.config import PushConsumerConfig
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.queues import QueueLocks
    from rocketwire.client.consumer.stats import ConsumerStats
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

TURN: Final = 64  # handler calls before a task lets other tasks run


class PushParts(NamedTuple):
    instance: ClientInstance
    group: str
    config: PushConsumerConfig
    subscriptions: Mapping[str, SubscriptionData]  # by topic; read for each rebalance and pull
    offsets: OffsetStore
    locks: QueueLocks  # of orderly queues
    stats: ConsumerStats
    nursery: trio.Nursery


class PushPart:
    def __init__(self, parts: PushParts) -> None:
        self._instance, self._group, self._config, self._subscriptions = parts[:4]
        self._offsets, self._locks, self._stats, self._nursery = parts[4:]


class Consumption(PushPart, ABC):
    is_orderly: bool = False

    @abstractmethod
    def start(self) -> None:
        """Start tasks that are needed before the first message."""

    @abstractmethod
    def submit(
        self, queue: MessageQueue, process: ProcessQueue, messages: Sequence[StoredMessage]
    ) -> None:
        """Handle messages that are in the process queue."""

    @abstractmethod
    async def settle(self, seconds: float) -> None:
        """Start no handler any more, and wait at most ``seconds`` until none runs."""

    @abstractmethod
    async def settle_queue(
        self, queue: MessageQueue, process: ProcessQueue, seconds: float
    ) -> bool:
        """Wait until no handler of a queue runs, at most ``seconds``; returns whether none runs."""

    @abstractmethod
    async def send_back_expired(self, queue: MessageQueue, process: ProcessQueue) -> None:
        """Send back the oldest messages whose handlers still run (Java: ``cleanExpiredMsg``)."""

    def _changes_topics(self, queue: MessageQueue) -> bool:
        # whether messages of the queue have another topic on the wire than in the application
        return bool(self._instance.config.namespace) or (queue.topic or "").startswith(RETRY_PREFIX)

    def _with_real_topics(self, messages: Sequence[StoredMessage]) -> list[StoredMessage]:
        return [
            with_real_topic(message, self._group, self._instance.config.namespace)
            for message in messages
        ]
