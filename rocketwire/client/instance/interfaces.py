"""Interfaces of the producers and consumers of a client instance.

Group and topic names are those on the wire, with a namespace of the first kind. Methods without
``async`` run between two checkpoints and must not block; methods with ``async`` run in their own
task.

Java: ``MQProducerInner``, ``MQConsumerInner``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
    from rocketwire.messages.heartbeat import ConsumerData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.messages.send import ReplyMessageRequestHeader
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
    from rocketwire.wire.message.stored import StoredMessage


class ProducerMember(Protocol):
    @property
    def group(self) -> str:
        """The producer group; an instance has one producer of a group."""
        ...

    def topics(self) -> Collection[str]:
        """Return the topics whose routes must be refreshed."""
        ...

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """Handle a changed route of a topic."""

    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None:
        """Handle a broker's check of a transaction (code 39).

        The result must go to ``address``; ``message`` is the half message, with its real topic.
        """

    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool:
        """Handle a reply (code 326); returns whether this producer has sent the request."""
        ...


class ConsumerMember(Protocol):
    @property
    def group(self) -> str:
        """The consumer group; an instance has one consumer of a group."""
        ...

    def topics(self) -> Collection[str]:
        """Return the topics whose routes must be refreshed, with the retry topic."""
        ...

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """Handle a changed route of a topic."""

    def heartbeat(self) -> ConsumerData: ...

    def rebalance_soon(self) -> None:
        """Rebalance, because the members of the group may have changed (code 40)."""

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """Set offsets at an operator's request (code 220)."""

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """Return the consume offsets of the assigned queues (code 221)."""
        ...

    def running_info(self) -> ConsumerRunningInfo:
        """Return the state (code 307); the instance adds name servers and version."""
        ...

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        """Consume a message that a broker stores, at an operator's request (code 309)."""
        ...
