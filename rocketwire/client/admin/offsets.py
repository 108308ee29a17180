"""Offsets of queues and groups: read and copy; ``offset_resets`` resets them.

Java: ``DefaultMQAdminExtImpl``, ``CloneGroupOffsetCommand``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from rocketwire.client.admin.fanout import call_each, read_from_each
from rocketwire.client.admin.offset_resets import OffsetResets
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
    from rocketwire.messages.message_queue import MessageQueue


class QueueOffsets(NamedTuple):
    """The range of offsets of a queue.

    Attributes:
        min_offset: offset of the oldest message.
        max_offset: offset of the next message.
        earliest_store_time: store time of the oldest message in milliseconds; -1 if the queue is
            empty.
    """

    min_offset: int
    max_offset: int
    earliest_store_time: int


class Offsets(OffsetResets):
    """Calls about offsets.

    For errors see ``AdminCalls.ask``; ``TopicRouteNotFoundError`` for unknown topics.
    """

    # ------------------------------------------------------------------ copying

    async def clone(
        self, source: str, target: str, topic: str | None = None, *, offline: bool = False
    ) -> tuple[str, ...]:
        """Let brokers copy the offsets of a group to another (codes 314, 43).

        Returns the addresses that did. Java: ``cloneGroupOffset``, which does nothing without a
        topic; here the brokers get every topic.

        Args:
            source: group to copy from.
            target: group to copy to.
            topic: only this topic; None for all that the source has offsets of.
            offline: also of topics that connected members of the source do not subscribe to.

        Raises:
            TopicRouteNotFoundError: no member of the source was ever connected.
        """
        places = await self._clusters.of_topic(retry_topic(source))

        async def clone(address: str) -> None:
            for name in [topic] if topic else await self._topics_of(address, source):
                header = CloneGroupOffsetRequestHeader(
                    src_group=source, dest_group=target, topic=name, offline=offline
                )
                await self.ask(address, Code.CLONE_GROUP_OFFSET, header)

        await call_each(places.values(), clone)
        return tuple(places.values())

    async def _topics_of(self, address: str, group: str) -> list[str]:
        """Topics that a broker has offsets of a group for."""
        keys = (key.rpartition("@") for key in await self.all_of_broker(address))
        return [topic for topic, _, key_group in keys if key_group == group]

    async def copy(self, source: str, target: str, topic: str) -> dict[MessageQueue, int]:
        """Copy the offsets of a group in a topic to another group, queue by queue (codes 208, 15).

        Returns them.

        Members of the target that are connected commit theirs over it.
        Java: ``CloneGroupOffsetCommand``, which takes every topic of the source.

        Raises:
            BrokerError: 26, the broker does not have the target; 206 or 1, nor the source.
        """
        header = GetConsumeStatsRequestHeader(consumer_group=source, topic=topic)
        copied: dict[MessageQueue, int] = {}
        for address in (await self._clusters.of_topic(topic)).values():
            stats = await self.fetch(ConsumeStats, address, Code.GET_CONSUME_STATS, header)
            for queue, wrapper in (stats.offset_table or {}).items():
                if queue.topic == topic and wrapper.consumer_offset >= 0:
                    offset = wrapper.consumer_offset
                    await self.client.brokers.update_consumer_offset(address, target, queue, offset)
                    copied[queue] = offset
        return copied

    # ------------------------------------------------------------------ queries

    async def of_queues(self, topic: str) -> dict[MessageQueue, QueueOffsets]:
        """Fetch the range of offsets of every queue of a topic (codes 30, 31, 32).

        Java: ``maxOffset``, ``minOffset``, ``earliestMsgStoreTime``.
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

        return await read_from_each(await get_queues(self.client, topic), ask)

    async def of_members(
        self, group: str, topic: str, client_id: str | None = None
    ) -> Mapping[str, Mapping[MessageQueue, int]]:
        """Fetch the offsets in the members' memory, by client id (code 223).

        Java: ``getConsumeStatus``.

        Args:
            client_id: of one member only.

        Raises:
            BrokerError: 206, no member is connected; 1, a member is too old.
        """
        header = GetConsumerStatusRequestHeader(topic=topic, group=group, client_addr=client_id)
        for address in (await self._clusters.of_topic(topic)).values():
            code = Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
            status = await self.fetch(GetConsumerStatusBody, address, code, header)
            return status.consumer_table or {}
        return {}

    async def corrections(self, address: str, topic: str, compare_group: str) -> Mapping[int, int]:
        """Fetch the lowest offset of any group in a topic, by queue id (code 308).

        There is no argument for groups to exclude: a broker (5.5.0) deletes all offsets of them.
        Java: ``queryCorrectionOffset``.

        Args:
            compare_group: group to compare; if its offset is lower and before the oldest message,
                the result is 2^63-1.

        Raises:
            BrokerError: 1, in a queue of ``compare_group`` no group has the offset of an existing
                message.
        """
        header = QueryCorrectionOffsetHeader(topic=topic, compare_group=compare_group)
        code = Code.QUERY_CORRECTION_OFFSET
        body = await self.fetch(QueryCorrectionOffsetBody, address, code, header)
        return body.correction_offsets or {}

    async def all_of_broker(self, address: str) -> Mapping[str, Mapping[int, int]]:
        """Fetch all offsets of all groups, by ``topic@group`` and queue id (code 43).

        Java's slaves use it.
        """
        code = Code.GET_ALL_CONSUMER_OFFSET
        return (await self.fetch(ConsumerOffsetSerializeWrapper, address, code)).offset_table or {}

    async def delays(self, address: str) -> Mapping[int, int]:
        """Fetch the delivered offset of each delay level (code 45); see ``all_of_broker``."""
        code = Code.GET_ALL_DELAY_OFFSET
        return (await self.fetch(DelayOffsetSerializeWrapper, address, code)).offset_table or {}
