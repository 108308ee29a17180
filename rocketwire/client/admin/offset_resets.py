"""Resets of consume offsets: to a time, to an offset, or to the end.

Java: ``DefaultMQAdminExtImpl``, ``ResetOffsetByTimeCommand``, ``SkipAccumulationSubCommand``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rocketwire.client.admin.fanout import call_each
from rocketwire.client.admin.topics import TopicCalls
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import ResetOffsetBody, ResetOffsetRequestHeader, RollbackStats
from rocketwire.messages.queries import ConsumeStats, GetConsumeStatsRequestHeader, OffsetWrapper

NOW: Final = -1
"""Time of a reset that skips all stored messages."""


class OffsetResets(TopicCalls):
    """Requests that reset offsets of groups.

    For errors see ``AdminCalls.ask``; ``TopicRouteNotFoundError`` for unknown topics.
    """

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
            by: see ``Clusters.of_topic``.

        Raises:
            BrokerError: 206, no member is connected; 1 or 24, the broker does not have
                the group.
        """
        header = ResetOffsetRequestHeader(
            group=group, topic=topic, timestamp=timestamp, is_force=force, offset=-1
        )
        places = await self._clusters.of_topic(topic, by=by)
        offsets_by_address = await call_each(
            places.values(), lambda address: self._reset(address, header)
        )
        return {
            queue: offset
            for offsets in offsets_by_address.values()
            for queue, offset in offsets.items()
        }

    async def reset_queue(
        self, address: str, group: str, queue: MessageQueue, offset: int
    ) -> dict[MessageQueue, int]:
        """Set the offset of a group in one queue (codes 15 and 222).

        Returns the broker's offsets. Java: ``resetOffsetByQueueId``.

        Raises:
            BrokerError: see ``reset_by_time``; 1, the offset is out of range.
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
        self, group: str, topic: str, timestamp: int, *, force: bool = True, by: str | None = None
    ) -> list[RollbackStats]:
        """Commit the offsets of a time for a disconnected group (codes 208, 202, 29 or 30, and 15).

        Connected members overwrite them. Java: ``resetOffsetByTimestampOld``.

        Args:
            timestamp: milliseconds since 1970, or ``NOW``.
            force: also move offsets forward.
            by: see ``Clusters.of_topic``.

        Raises:
            BrokerError: 26, a broker does not have the group.
        """
        stats: list[RollbackStats] = []
        for name, address in (await self._clusters.of_topic(topic, by=by)).items():
            for queue, wrapper in (await self._standing(address, group, topic, name)).items():
                stats.append(await self._rolled(address, group, queue, wrapper, timestamp, force))
        return stats

    async def _standing(
        self, address: str, group: str, topic: str, broker_name: str
    ) -> Mapping[MessageQueue, OffsetWrapper]:
        """Return the offsets of a group on a broker.

        Without offsets, those of the oldest messages.
        """
        header = GetConsumeStatsRequestHeader(consumer_group=group)
        try:
            stats = await self.fetch(ConsumeStats, address, Code.GET_CONSUME_STATS, header)
        except BrokerError as error:
            if error.code not in (ResponseCode.SYSTEM_ERROR, ResponseCode.CONSUMER_NOT_ONLINE):
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

    async def _rolled(
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
        if moves:
            await brokers.update_consumer_offset(address, group, queue, target)
        return RollbackStats(
            broker_name=queue.broker_name,
            queue_id=queue.queue_id,
            broker_offset=wrapper.broker_offset,
            consumer_offset=wrapper.consumer_offset,
            timestamp_offset=target,
            rollback_offset=target if moves else wrapper.consumer_offset,
        )

    async def move(
        self, group: str, topic: str, timestamp: int, *, force: bool = True, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Set the offsets of a group to a time, with or without connected members.

        Returns the offset of each queue. Uses ``reset_by_time``, or ``reset_by_time_old`` if a
        broker without server-side resets has no member; see there for arguments and errors.
        Java: ``ResetOffsetByTimeCommand``.
        """
        try:
            return await self.reset_by_time(group, topic, timestamp, force=force, by=by)
        except BrokerError as error:
            if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
                raise
        return {
            MessageQueue(
                broker_name=stats.broker_name, queue_id=stats.queue_id, topic=topic
            ): stats.rollback_offset
            for stats in await self.reset_by_time_old(group, topic, timestamp, force=force, by=by)
        }

    async def skip_accumulated(
        self, group: str, topic: str, *, force: bool = True, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Skip all stored messages; see ``move``. Java: ``SkipAccumulationSubCommand``."""
        return await self.move(group, topic, NOW, force=force, by=by)
