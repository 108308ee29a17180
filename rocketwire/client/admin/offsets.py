"""Offsets of queues and groups: read, copy and reset them.

Java: ``DefaultMQAdminExtImpl``, ``CloneGroupOffsetCommand``, ``ResetOffsetByTimeCommand``,
``SkipAccumulationSubCommand``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rocketwire.client.admin.fanout import call_each, merge_tables, read_from_each
from rocketwire.client.admin.topics import TopicCalls
from rocketwire.client.consumer.queues import find_master, get_queues
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.callbacks import GetConsumerStatusBody, GetConsumerStatusRequestHeader
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import (
    CloneGroupOffsetRequestHeader,
    ConsumerOffsetSerializeWrapper,
    DelayOffsetSerializeWrapper,
    QueryCorrectionOffsetBody,
    QueryCorrectionOffsetHeader,
    ResetOffsetBody,
    ResetOffsetRequestHeader,
    RollbackStats,
)
from rocketwire.messages.queries import ConsumeStats, GetConsumeStatsRequestHeader, OffsetWrapper
from rocketwire.policy.resource_names import retry_topic

NOW: Final = -1  # time of a reset that skips all stored messages
# Responses of brokers that have no offsets of a group
_NO_OFFSETS: Final = (ResponseCode.SYSTEM_ERROR, ResponseCode.CONSUMER_NOT_ONLINE)


class QueueOffsets(NamedTuple):
    """The range of offsets of a queue."""

    min_offset: int  #: offset of the oldest message
    max_offset: int  #: offset of the next message
    #: store time of the oldest message in milliseconds; -1 if the queue is empty
    earliest_store_time: int


class Offsets(TopicCalls):
    """Requests for offsets; ``TopicRouteNotFoundError`` for unknown topics."""

    # ------------------------------------------------------------------ copying

    async def clone(
        self, source: str, target: str, topic: str | None = None, *, offline: bool = False
    ) -> tuple[str, ...]:
        """Let brokers copy the offsets of a group to another (codes 314, 43).

        Returns the addresses that did. Java: ``cloneGroupOffset``, which does nothing without a
        topic; here the brokers get every topic that the source has offsets of.

        Args:
            offline: also of topics that connected members of the source do not subscribe to.

        Raises:
            TopicRouteNotFoundError: no member of the source was ever connected.
        """
        addresses = await self._clusters.of_topic(retry_topic(source))

        async def clone(address: str) -> None:
            for name in [topic] if topic else await self._topics_of(address, source):
                header = CloneGroupOffsetRequestHeader(
                    src_group=source, dest_group=target, topic=name, offline=offline
                )
                await self.ask(address, Code.CLONE_GROUP_OFFSET, header)

        await call_each(addresses.values(), clone)
        return tuple(addresses.values())

    async def _topics_of(self, address: str, group: str) -> list[str]:
        keys = (key.rpartition("@") for key in await self.all_of_broker(address))
        return [topic for topic, _, key_group in keys if key_group == group]

    async def copy(
        self, source: str, target: str, topic: str, *, dry_run: bool = False
    ) -> dict[MessageQueue, int]:
        """Copy all offsets of a group at a topic's brokers to another group (codes 208, 15).

        Returns them, also those in other topics. Members of the target that are connected commit
        theirs over it. Java: ``CloneGroupOffsetCommand``.

        Raises:
            BrokerError: 26, the broker does not have the target; 206 or 1, nor the source.
        """
        copied: dict[MessageQueue, int] = {}
        for address in (await self._clusters.of_topic(topic)).values():
            offsets = await self._of_group(address, source)
            for queue, offset in offsets.items() if not dry_run else ():
                await self.client.brokers.update_consumer_offset(address, target, queue, offset)
            copied |= offsets
        return copied

    async def of_group(
        self, group: str, topic: str, *, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Fetch the stored offsets of a group in a topic; empty if it has none (code 208)."""
        offsets: dict[MessageQueue, int] = {}
        for address in (await self._clusters.of_topic(topic, by=by)).values():
            try:
                offsets |= await self._of_group(address, group, topic)
            except BrokerError as error:
                if error.code not in _NO_OFFSETS:
                    raise
        return offsets

    async def _of_group(
        self, address: str, group: str, topic: str | None = None
    ) -> dict[MessageQueue, int]:
        header = GetConsumeStatsRequestHeader(consumer_group=group, topic=topic)
        stats = await self.fetch(ConsumeStats, address, Code.GET_CONSUME_STATS, header)
        return {
            queue: wrapper.consumer_offset
            for queue, wrapper in (stats.offset_table or {}).items()
            if topic in (None, queue.topic) and wrapper.consumer_offset >= 0
        }

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
        """Fetch the offsets in memory of a member, or of all, by client id (code 223).

        Java: ``getConsumeStatus``. ``BrokerError`` 206: no member is connected; 1: one is too old.
        """
        header = GetConsumerStatusRequestHeader(topic=topic, group=group, client_addr=client_id)
        for address in (await self._clusters.of_topic(topic)).values():
            code = Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
            status = await self.fetch(GetConsumerStatusBody, address, code, header)
            return status.consumer_table or {}
        return {}

    async def corrections(self, address: str, topic: str, compare_group: str) -> Mapping[int, int]:
        """Fetch the lowest offset of any group in a topic, by queue id (code 308).

        If the offset of ``compare_group`` is lower and before the oldest message, the result is
        2^63-1. There is no argument for groups to exclude: a broker (5.5.0) deletes all offsets of
        them. Java: ``queryCorrectionOffset``.

        Raises:
            BrokerError: 1, in a queue of ``compare_group`` no group has the offset of an existing
                message.
        """
        header = QueryCorrectionOffsetHeader(topic=topic, compare_group=compare_group)
        code = Code.QUERY_CORRECTION_OFFSET
        body = await self.fetch(QueryCorrectionOffsetBody, address, code, header)
        return body.correction_offsets or {}

    async def all_of_broker(self, address: str) -> Mapping[str, Mapping[int, int]]:
        """Fetch all offsets of all groups, by ``topic@group`` and queue id (43); slaves use it."""
        code = Code.GET_ALL_CONSUMER_OFFSET
        return (await self.fetch(ConsumerOffsetSerializeWrapper, address, code)).offset_table or {}

    async def delays(self, address: str) -> Mapping[int, int]:
        """Fetch the delivered offset of each delay level (code 45); see ``all_of_broker``."""
        code = Code.GET_ALL_DELAY_OFFSET
        return (await self.fetch(DelayOffsetSerializeWrapper, address, code)).offset_table or {}

    # ------------------------------------------------------------------ resets

    async def reset_by_time(
        self, group: str, topic: str, timestamp: int, *, force: bool = True, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Set the offsets of a group to a time (code 222); returns the offset of each queue.

        A broker with server-side resets (``useServerSideResetOffset``, the default since 5.0)
        needs no connected member and passes the reset to members with their next pull; others send
        it to the members, and need one. Java: ``resetOffsetByTimestamp``.

        Args:
            timestamp: milliseconds since 1970, or ``NOW``.
            force: also move offsets forward.

        Raises:
            BrokerError: 206, no member is connected; 1 or 24, the broker does not have
                the group.
        """
        header = ResetOffsetRequestHeader(
            group=group, topic=topic, timestamp=timestamp, is_force=force, offset=-1
        )
        addresses = await self._clusters.of_topic(topic, by=by)
        offsets_by_address = await call_each(
            addresses.values(), lambda address: self._reset(address, header)
        )
        return merge_tables(offsets_by_address.values())

    async def reset_queue(
        self, address: str, group: str, queue: MessageQueue, offset: int
    ) -> dict[MessageQueue, int]:
        """Set the offset of a group in one queue (codes 15 and 222).

        Returns the broker's offsets. For errors see ``reset_by_time``; ``BrokerError`` 1 also if
        the offset is out of range. Java: ``resetOffsetByQueueId``.
        """
        await self.client.brokers.update_consumer_offset(address, group, queue, offset)
        header = ResetOffsetRequestHeader(
            group=group,
            topic=queue.topic,
            queue_id=queue.queue_id,
            offset=offset,
            timestamp=0,
            is_force=False,
        )
        return await self._reset(address, header)

    async def _reset(
        self, address: str, header: ResetOffsetRequestHeader
    ) -> dict[MessageQueue, int]:
        code = Code.INVOKE_BROKER_TO_RESET_OFFSET
        return dict((await self.fetch(ResetOffsetBody, address, code, header)).offset_table or {})

    async def reset_by_time_old(
        self,
        group: str,
        topic: str,
        timestamp: int,
        *,
        force: bool = True,
        by: str | None = None,
        dry_run: bool = False,
    ) -> list[RollbackStats]:
        """Commit the offsets of a time for a disconnected group (codes 208, 202, 29 or 30, and 15).

        Connected members overwrite them. For the arguments see ``reset_by_time``; ``BrokerError``
        26 if a broker does not have the group. Java: ``resetOffsetByTimestampOld``.
        """
        stats: list[RollbackStats] = []
        for name, address in (await self._clusters.of_topic(topic, by=by)).items():
            for queue, wrapper in (await self._fetch_progress(address, group, topic, name)).items():
                rolled = await self._roll_back(address, group, queue, wrapper, timestamp, force)
                if not dry_run and rolled.rollback_offset == rolled.timestamp_offset:
                    await self.client.brokers.update_consumer_offset(
                        address, group, queue, rolled.rollback_offset
                    )
                stats.append(rolled)
        return stats

    async def _fetch_progress(
        self, address: str, group: str, topic: str, broker_name: str
    ) -> Mapping[MessageQueue, OffsetWrapper]:
        header = GetConsumeStatsRequestHeader(consumer_group=group)
        try:
            stats = await self.fetch(ConsumeStats, address, Code.GET_CONSUME_STATS, header)
        except BrokerError as error:
            if error.code not in _NO_OFFSETS:
                raise
            stats = ConsumeStats()
        table = {q: w for q, w in (stats.offset_table or {}).items() if q.topic == topic}
        if table:
            return table
        offsets = (await self._topics.stats_of(address, topic)).offset_table or {}
        return {
            queue: OffsetWrapper(
                broker_offset=topic_offset.max_offset, consumer_offset=topic_offset.min_offset
            )
            for queue, topic_offset in sorted(offsets.items(), key=lambda item: item[0].queue_id)
            if queue.broker_name == broker_name
        }

    async def _roll_back(
        self,
        address: str,
        group: str,
        queue: MessageQueue,
        wrapper: OffsetWrapper,
        timestamp: int,
        force: bool,
    ) -> RollbackStats:
        brokers = self.client.brokers
        if timestamp == NOW:
            target = await brokers.max_offset(address, queue)
        else:
            target = await brokers.search_offset(address, queue, timestamp)
        moves = force or target <= wrapper.consumer_offset
        return RollbackStats(
            broker_name=queue.broker_name,
            queue_id=queue.queue_id,
            broker_offset=wrapper.broker_offset,
            consumer_offset=wrapper.consumer_offset,
            timestamp_offset=target,
            rollback_offset=target if moves else wrapper.consumer_offset,
        )

    async def move(
        self,
        group: str,
        topic: str,
        timestamp: int,
        *,
        force: bool = True,
        by: str | None = None,
        dry_run: bool = False,
    ) -> dict[MessageQueue, int]:
        """Set the offsets of a group to a time, with or without connected members.

        Returns the offset of each queue. Uses ``reset_by_time``, or ``reset_by_time_old`` if a
        broker without server-side resets has no member; see there for arguments and errors.
        Java: ``ResetOffsetByTimeCommand``.
        """
        try:
            if not dry_run:
                return await self.reset_by_time(group, topic, timestamp, force=force, by=by)
        except BrokerError as error:
            if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
                raise
        resets = await self.reset_by_time_old(
            group, topic, timestamp, force=force, by=by, dry_run=dry_run
        )
        return {
            MessageQueue(topic=topic, broker_name=each.broker_name, queue_id=each.queue_id): (
                each.rollback_offset
            )
            for each in resets
        }

    async def skip_accumulated(
        self, group: str, topic: str, *, force: bool = True, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Skip all stored messages; see ``move``. Java: ``SkipAccumulationSubCommand``."""
        return await self.move(group, topic, NOW, force=force, by=by)
