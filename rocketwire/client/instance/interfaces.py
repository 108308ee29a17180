"""What a client instance needs to know of the producers and consumers that use it.

Rules of this file: group and topic names are those on the wire, a namespace of the first kind included.  Methods without
``async`` are called between two checkpoints and must not wait; those with it run in a task of their own.

Java: ``MQProducerInner``, ``MQConsumerInner``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.nameservers import NameServers
    from rocketwire.client.net.pool import ChannelPool
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
    from rocketwire.messages.heartbeat import ConsumerData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.messages.send import ReplyMessageRequestHeader
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
    from rocketwire.wire.message.stored import StoredMessage


class ProducerMember(Protocol):
    """A producer of one group."""

    @property
    def group(self) -> str:
        """Its group; one producer of a group in an instance."""
        ...

    def topics(self) -> Collection[str]:
        """Topics whose routes it wants to have fresh."""
        ...

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """One of its topics lives elsewhere now."""

    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None:
        """A broker asks what became of a transaction (code 39).

        Args:
            address: the broker, which the answer has to go to.
            header: the request's.
            message: the half message, its topic the real one.
        """

    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool:
        """A reply has come (code 326); returns whether this producer has asked for it."""
        ...


class ConsumerMember(Protocol):
    """A consumer of one group."""

    @property
    def group(self) -> str:
        """Its group; one consumer of a group in an instance."""
        ...

    def topics(self) -> Collection[str]:
        """Topics whose routes it wants to have fresh, its retry topic included."""
        ...

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """One of its topics lives elsewhere now."""

    def heartbeat(self) -> ConsumerData:
        """The group as brokers are told of it, with all subscriptions."""
        ...

    def rebalance_soon(self) -> None:
        """Somebody joined or left the group (code 40), or a broker may have."""

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """An operator has set the group's offsets (code 220)."""

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """How far it has come in the queues that it has (code 221)."""
        ...

    def running_info(self) -> ConsumerRunningInfo:
        """What it is doing (code 307); the instance adds the name servers and the client's version."""
        ...

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        """An operator wants this message consumed now (code 309).

        Args:
            message: as it is stored.
            broker_name: from where.
        """
        ...


class Members(Protocol):
    """A client instance, as requests of brokers need it."""

    config: ClientConfig
    pool: ChannelPool
    name_servers: NameServers
    producers: dict[str, ProducerMember]
    consumers: dict[str, ConsumerMember]
