"""Moving groups in their topics: back, on, to a time or to an offset.

Java: ``DefaultMQAdminExtImpl``, ``ResetOffsetByTimeCommand``, ``SkipAccumulationSubCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import Asking, of_each
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import ResetOffsetBody, ResetOffsetRequestHeader, RollbackStats
from rocketwire.messages.queries import ConsumeStats, GetConsumeStatsRequestHeader, OffsetWrapper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.admin.topics import Topics
    from rocketwire.client.instance.instance import ClientInstance

NOW: Final = -1
"""Time of a reset that skips everything stored so far."""


class Resets(Asking):
    """Calls that move groups.

    All of them raise what ``Asking.ask`` raises, and ``TopicRouteNotFoundError`` for unknown
    topics.
    """

    def __init__(
        self, client: ClientInstance, clusters: Clusters, topics: Topics, within: float
    ) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters
        self._topics = topics

    async def reset_by_time(
        self, group: str, topic: str, timestamp: int, *, force: bool = True, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Set the offsets of a group to a time (code 222); returns where each queue is now.

        A broker that keeps resets by itself (``useServerSideResetOffset``, the default since 5.0)
        needs no member to be connected and tells members with their next pull; others pass it on to
        the members, and then somebody has to be there. Java: ``resetOffsetByTimestamp``.

        Args:
            group: whose.
            topic: which.
            timestamp: milliseconds since 1970, or ``NOW``.
            force: also where that moves a queue on rather than back.
            by: as of ``Clusters.of_topic``.

        Raises:
            BrokerError: 206, nobody of the group is connected; 1 or 24, the broker does not know
                the group.
        """
        header = ResetOffsetRequestHeader(
            group=group, topic=topic, timestamp=timestamp, is_force=force, offset=-1
        )
        places = await self._clusters.of_topic(topic, by=by)
        each = await of_each(places.values(), lambda address: self._reset(address, header))
        return {queue: offset for one in each.values() for queue, offset in one.items()}

    async def reset_queue(
        self, address: str, group: str, queue: MessageQueue, offset: int
    ) -> dict[MessageQueue, int]:
        """Set the offset of a group in one queue (codes 15 and 222).

        Returns what the broker says of it.

        Java: ``resetOffsetByQueueId``.

        Raises:
            BrokerError: as of ``reset_by_time``; 1 for an offset that the queue does not have.
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
        body: ResetOffsetBody | None
        body = await self.body_of(address, Code.INVOKE_BROKER_TO_RESET_OFFSET, header)
        return dict((body.offset_table if body else None) or {})

    async def reset_by_time_old(
        self, group: str, topic: str, timestamp: int, *, force: bool = True, by: str | None = None
    ) -> list[RollbackStats]:
        """Commit the offsets of a time for a group that is not connected (codes 208, 202, 29 or 30, and 15).

        Members that are connected commit theirs over it.  Java: ``resetOffsetByTimestampOld``.

        Args:
            group: whose.
            topic: which.
            timestamp: milliseconds since 1970, or ``NOW``.
            force: also where that moves a queue on rather than back.
            by: as of ``Clusters.of_topic``.

        Raises:
            BrokerError: 26, a broker does not know the group.
        """
        found: list[RollbackStats] = []
        for name, address in (await self._clusters.of_topic(topic, by=by)).items():
            for queue, wrapper in (await self._standing(address, group, topic, name)).items():
                found.append(await self._rolled(address, group, queue, wrapper, timestamp, force))
        return found

    async def _standing(
        self, address: str, group: str, topic: str, broker_name: str
    ) -> Mapping[MessageQueue, OffsetWrapper]:
        """Where a group is on one broker.

        At the beginning of every queue where it has never been.
        """
        header = GetConsumeStatsRequestHeader(consumer_group=group)
        try:
            stats: ConsumeStats = await self.body_of(address, Code.GET_CONSUME_STATS, header)
        except BrokerError as error:
            if error.code not in (ResponseCode.SYSTEM_ERROR, ResponseCode.CONSUMER_NOT_ONLINE):
                raise
            stats = ConsumeStats()
        table = {q: w for q, w in (stats.offset_table or {}).items() if q.topic == topic}
        if table:
            return table
        offsets = (await self._topics.stats_of(address, topic)).offset_table or {}
        return {
            queue: OffsetWrapper(broker_offset=one.max_offset, consumer_offset=one.min_offset)
            for queue, one in sorted(offsets.items(), key=lambda item: item[0].queue_id)
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
        """Set the offsets of a group to a time, whether somebody is connected or not.

        Returns where each queue is now.

        As ``reset_by_time``, and as ``reset_by_time_old`` where a broker without resets of its own
        knows no member; errors and arguments as there.  Java: ``ResetOffsetByTimeCommand``.
        """
        try:
            return await self.reset_by_time(group, topic, timestamp, force=force, by=by)
        except BrokerError as error:
            if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
                raise
        return {
            MessageQueue(
                broker_name=one.broker_name, queue_id=one.queue_id, topic=topic
            ): one.rollback_offset
            for one in await self.reset_by_time_old(group, topic, timestamp, force=force, by=by)
        }

    async def skip_accumulated(
        self, group: str, topic: str, *, force: bool = True, by: str | None = None
    ) -> dict[MessageQueue, int]:
        """Have a group go on with what comes from now on, as ``move``.

        Java: ``SkipAccumulationSubCommand``.
        """
        return await self.move(group, topic, NOW, force=force, by=by)
