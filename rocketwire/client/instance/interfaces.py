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
    def group(self) -> str: ...  # an instance has one producer of a group

    def topics(self) -> Collection[str]: ...  # whose routes must be refreshed

    def route_changed(self, topic: str, route: TopicRouteData) -> None: ...

    # A broker checks a transaction (code 39). The result must go to ``address``; ``message`` is the
    # half message, with its real topic.
    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None: ...

    # A reply arrived (code 326); returns whether this producer has sent the request.
    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool: ...


class ConsumerMember(Protocol):
    @property
    def group(self) -> str: ...  # an instance has one consumer of a group

    def topics(self) -> Collection[str]: ...  # whose routes must be refreshed, and the retry topic

    def route_changed(self, topic: str, route: TopicRouteData) -> None: ...

    def heartbeat(self) -> ConsumerData: ...

    def rebalance_soon(self) -> None: ...  # the members of the group may have changed (code 40)

    # At an operator's request (code 220)
    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None: ...

    # Of the assigned queues (code 221)
    def offsets(self, topic: str) -> Mapping[MessageQueue, int]: ...

    def running_info(self) -> ConsumerRunningInfo: ...  # code 307, without name servers and version

    # At an operator's request (code 309)
    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult: ...
