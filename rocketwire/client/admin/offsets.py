"""Offsets of queues and of groups: looking, and copying them; moving them is in ``offset_resets``.

Java: ``DefaultMQAdminExtImpl``, ``CloneGroupOffsetCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.client.admin.fanout import of_each, told_by_each
from rocketwire.client.admin.offset_resets import Resets
from rocketwire.client.consumer.queues import find_master, get_queues
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.callbacks import GetConsumerStatusBody, GetConsumerStatusRequestHeader
from rocketwire.messages.offsets import (
    CloneGroupOffsetRequestHeader,
    ConsumerOffsetSerializeWrapper,
    DelayOffsetSerializeWrapper,
    QueryCorrectionOffsetBody,
    QueryCorrectionOffsetHeader,
)
from rocketwire.messages.queries import ConsumeStats, GetConsumeStatsRequestHeader
from rocketwire.policy.resource_names import retry_topic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.messages.message_queue import MessageQueue


class QueueOffsets(NamedTuple):
    """The ends of a queue.

    Attributes:
        min_offset: of its oldest message.
        max_offset: that its next message will have.
        earliest_store_time: when its oldest message was stored, in milliseconds; -1 where it has
            none.
    """

    min_offset: int
    max_offset: int
    earliest_store_time: int


class Offsets(Resets):
    """Calls about offsets.

    All of them raise what ``Asking.ask`` raises, and ``TopicRouteNotFoundError`` for unknown
    topics.
    """

    # ------------------------------------------------------------------ copying

    async def clone(
        self, source: str, target: str, topic: str | None = None, *, offline: bool = False
    ) -> tuple[str, ...]:
        """Give one group the offsets of another, by the brokers (codes 314, 43).

        Returns the addresses that did.

        Java: ``cloneGroupOffset``, which without a topic has brokers do nothing; here they are told
        every topic.

        Args:
            source: from whom.
            target: to whom.
            topic: only of this one; None for all that the source has offsets of.
            offline: also of topics that connected members of the source do not subscribe to.

        Raises:
            TopicRouteNotFoundError: no member of the source was ever connected.
        """
        places = await self._clusters.of_topic(retry_topic(source))

        async def tell(address: str) -> None:
            for name in [topic] if topic else await self._topics_of(address, source):
                header = CloneGroupOffsetRequestHeader(
                    src_group=source, dest_group=target, topic=name, offline=offline
                )
                await self.ask(address, Code.CLONE_GROUP_OFFSET, header)

        await of_each(places.values(), tell)
        return tuple(places.values())

    async def _topics_of(self, address: str, group: str) -> list[str]:
        """Topics that a broker has offsets of a group for."""
        keys = (key.rpartition("@") for key in await self.all_of_broker(address))
        return [topic for topic, _, one in keys if one == group]

    async def copy(self, source: str, target: str, topic: str) -> dict[MessageQueue, int]:
        """Give one group the offsets of another in a topic, queue by queue (codes 208, 15).

        Returns them.

        Members of the target that are connected commit theirs over it.  Java:
        ``CloneGroupOffsetCommand``, which takes every topic of the source.

        Raises:
            BrokerError: 26, the broker does not know the target; 206 or 1, nor the source.
        """
        header = GetConsumeStatsRequestHeader(consumer_group=source, topic=topic)
        copied: dict[MessageQueue, int] = {}
        for address in (await self._clusters.of_topic(topic)).values():
            stats: ConsumeStats = await self.body_of(address, Code.GET_CONSUME_STATS, header)
            for queue, wrapper in (stats.offset_table or {}).items():
                if queue.topic == topic and wrapper.consumer_offset >= 0:
                    offset = wrapper.consumer_offset
                    await self.client.brokers.update_consumer_offset(address, target, queue, offset)
                    copied[queue] = offset
        return copied

    # ------------------------------------------------------------------ looking

    async def of_queues(self, topic: str) -> dict[MessageQueue, QueueOffsets]:
        """The ends of every queue of a topic (codes 30, 31, 32.

        Java: ``maxOffset``, ``minOffset``, ``earliestMsgStoreTime``).
        """
        await self._clusters.route(topic)

        async def ask(queue: MessageQueue) -> QueueOffsets:
            address = await find_master(self.client, queue)
            brokers = self.client.brokers
            return QueueOffsets(
                await brokers.min_offset(address, queue),
                await brokers.max_offset(address, queue),
                await brokers.earliest_store_time(address, queue),
            )

        return await told_by_each(await get_queues(self.client, topic), ask)

    async def of_members(
        self, group: str, topic: str, client_id: str | None = None
    ) -> Mapping[str, Mapping[MessageQueue, int]]:
        """Offsets that the members of a group have in memory, by client id (code 223.

        Java: ``getConsumeStatus``).

        Args:
            group: whose.
            topic: which.
            client_id: of one member only.

        Raises:
            BrokerError: 206, nobody is connected; 1, a member is too old.
        """
        header = GetConsumerStatusRequestHeader(topic=topic, group=group, client_addr=client_id)
        for address in (await self._clusters.of_topic(topic)).values():
            body: GetConsumerStatusBody | None
            body = await self.body_of(address, Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, header)
            return (body.consumer_table if body else None) or {}
        return {}

    async def corrections(self, address: str, topic: str, compare_group: str) -> Mapping[int, int]:
        """By queue id, the lowest offset that any group has in a topic (code 308.

        Java: ``queryCorrectionOffset``).

        Groups to be left out cannot be named here: a broker (5.5.0) forgets every offset of those
        that are.

        Args:
            address: of the broker.
            topic: which.
            compare_group: where its own offset is lower still, before the oldest message, 2^63-1 is
                told.

        Raises:
            BrokerError: 1, in a queue of ``compare_group`` nobody has an offset of a message that
                is still there.
        """
        header = QueryCorrectionOffsetHeader(topic=topic, compare_group=compare_group)
        body: QueryCorrectionOffsetBody | None
        body = await self.body_of(address, Code.QUERY_CORRECTION_OFFSET, header)
        return (body.correction_offsets if body else None) or {}

    async def all_of_broker(self, address: str) -> Mapping[str, Mapping[int, int]]:
        """Every offset of every group, by ``topic@group`` and queue id (code 43).

        Java's slaves ask their master for it.
        """
        body: ConsumerOffsetSerializeWrapper | None
        body = await self.body_of(address, Code.GET_ALL_CONSUMER_OFFSET)
        return (body.offset_table if body else None) or {}

    async def delays(self, address: str) -> Mapping[int, int]:
        """How far each delay level has been delivered (code 45); as ``all_of_broker``."""
        body: DelayOffsetSerializeWrapper | None
        body = await self.body_of(address, Code.GET_ALL_DELAY_OFFSET)
        return (body.offset_table if body else None) or {}
