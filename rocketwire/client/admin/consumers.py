"""Connected consumers and producers, and consume progress.

Java: ``DefaultMQAdminExtImpl``, ``ConsumerProgressSubCommand``, ``ConsumerStatusSubCommand``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import leave_out, merge_tables, read_from_each
from rocketwire.client.admin.topics import TopicCalls
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError, RocketWireError, TopicRouteNotFoundError
from rocketwire.messages.callbacks import (
    ConsumeMessageDirectlyResult,
    ConsumeMessageDirectlyResultRequestHeader,
    ConsumerRunningInfo,
    GetConsumerRunningInfoRequestHeader,
)
from rocketwire.messages.connections import (
    Connection,
    ConsumerConnection,
    GetAllProducerInfoRequestHeader,
    GetConsumerConnectionListRequestHeader,
    GetProducerConnectionListRequestHeader,
    ProducerConnection,
    ProducerInfo,
    ProducerTableInfo,
)
from rocketwire.messages.queries import (
    ConsumeStats,
    GetConsumeStatsRequestHeader,
    OffsetWrapper,
    QueryConsumeTimeSpanBody,
    QueryConsumeTimeSpanRequestHeader,
    QueueTimeSpan,
)
from rocketwire.policy.resource_names import has_own_route, pop_retry_topic, retry_topic

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue


class Consumers(TopicCalls):
    """Requests for the members of consumer groups.

    The brokers of a group are those of its retry topic: ``TopicRouteNotFoundError`` for a group
    that never consumed.
    """

    async def stats(
        self, group: str, topic: str | None = None, *, by: str | None = None
    ) -> ConsumeStats:
        """Fetch the consume progress of a group by queue, from all its brokers (code 208).

        The lag of a queue is ``broker_offset - consumer_offset``; messages that members have pulled
        and not handled are ``pull_offset - consumer_offset``. The table is empty for broadcasting
        groups. Java: ``examineConsumeStats``.

        Without ``topic``, the table has all topics of the group. The retry topic is included even
        if no member has stored an offset of it yet: Java's brokers leave it out then, although its
        messages wait.
        """
        addresses = await self._addresses(group, topic, by)

        async def ask(address: str) -> ConsumeStats:
            stats = await self.stats_of(address, group, topic)
            retry = retry_topic(group)
            table = stats.offset_table or {}
            if topic is not None or any(queue.topic == retry for queue in table):
                return stats
            waiting = await self._retries(address, retry)
            return replace(stats, offset_table={**table, **waiting})

        stats_by_address = await read_from_each(addresses.values(), ask)
        return ConsumeStats(
            consume_tps=sum(stats.consume_tps for stats in stats_by_address.values()),
            offset_table=merge_tables(stats.offset_table for stats in stats_by_address.values()),
        )

    async def _retries(self, address: str, topic: str) -> dict[MessageQueue, OffsetWrapper]:
        # returns the queues of a retry topic that hold messages: members begin with the oldest
        try:
            stats = await self._topics.stats_of(address, topic)
        except BrokerError:  # the group has no retry topic here
            return {}
        return {
            queue: OffsetWrapper(
                broker_offset=offsets.max_offset, consumer_offset=offsets.min_offset
            )
            for queue, offsets in (stats.offset_table or {}).items()
            if offsets.max_offset > offsets.min_offset
        }

    async def stats_of(self, address: str, group: str, topic: str | None = None) -> ConsumeStats:
        """Fetch the consume progress of a group from a broker; see ``stats``."""
        header = GetConsumeStatsRequestHeader(consumer_group=group, topic=topic)
        answer = await self.ask(address, Code.GET_CONSUME_STATS, header, within=self.within * 3)
        stats: ConsumeStats = answer.require_body()
        return stats

    async def _addresses(
        self, group: str, topic: str | None, by: str | None = None
    ) -> Mapping[str, str]:
        # returns the brokers of the retry topic, else of the topic, else of the pop retry topic
        if topic is not None and by is not None and not has_own_route(topic):
            return await self._clusters.of_topic(by)
        topics = [retry_topic(group)]
        if topic is not None:
            topics += [topic, pop_retry_topic(group, topic)]
        for name in topics:
            try:
                return await self._clusters.of_topic(name)
            except TopicRouteNotFoundError:
                continue
        raise TopicRouteNotFoundError(topic or topics[0])

    async def connection(self, group: str, *, broker: str | None = None) -> ConsumerConnection:
        """Fetch the members of a group and their subscriptions (code 203).

        Java uses a random broker of the retry topic; here it is the first with a connected member.
        Java: ``examineConsumerConnectionInfo``.

        Raises:
            BrokerError: 206, no member is connected.
        """
        header = GetConsumerConnectionListRequestHeader(consumer_group=group)

        if broker is not None:
            addresses = [broker]
        else:
            addresses = list((await self._clusters.of_topic(retry_topic(group))).values())
        offline: RocketWireError | None = None
        for address in addresses:
            try:
                return await self.read_from(
                    ConsumerConnection, address, Code.GET_CONSUMER_CONNECTION_LIST, header
                )
            except ChannelError as error:
                offline = leave_out(address, error)
            except BrokerError as error:
                if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
                    raise
                offline = error
        raise offline or TopicRouteNotFoundError(retry_topic(group))

    async def running_info(
        self, group: str, client_id: str, *, stack: bool = False, broker: str | None = None
    ) -> ConsumerRunningInfo:
        """Fetch a member's state through a broker (code 307; Java: ``getConsumerRunningInfo``).

        Args:
            stack: include the stacks of its threads (and tasks, for clients of rocketwire).
            broker: address of the broker that forwards the request; None for the first of the retry
                topic.

        Raises:
            BrokerError: 206, the member is not connected; 207, it did not respond; 1, its
                version does not support it.
        """
        header = GetConsumerRunningInfoRequestHeader(
            consumer_group=group, client_id=client_id, jstack_enable=stack
        )
        address = broker or await self._any(group)
        return await self.fetch(
            ConsumerRunningInfo, address, Code.GET_CONSUMER_RUNNING_INFO, header
        )

    async def running_infos(
        self, group: str, *, stack: bool = False
    ) -> dict[str, ConsumerRunningInfo]:
        """Fetch the state of all members that respond, by client id.

        Java: ``ConsumerSubCommand``.
        """
        infos: dict[str, ConsumerRunningInfo] = {}
        for connection in (await self.connection(group)).connection_set or ():
            client_id = connection.client_id or ""
            try:
                infos[client_id] = await self.running_info(group, client_id, stack=stack)
            except BrokerError:
                continue
        return infos

    async def queue_owners(self, group: str) -> dict[MessageQueue, str]:
        """Return client ids by queue (Java: ``ConsumerProgressSubCommand`` with ``-s``)."""
        return {
            queue: client_id
            for client_id, info in (await self.running_infos(group)).items()
            for queue in {**(info.mq_table or {}), **(info.mq_pop_table or {})}
        }

    async def time_spans(self, group: str, topic: str) -> tuple[QueueTimeSpan, ...]:
        """Fetch the age of a group's next messages (code 303; Java: ``queryConsumeTimeSpan``)."""
        addresses = await self._clusters.of_topic(topic)
        spans_by_address = await read_from_each(
            addresses.values(), lambda address: self.time_spans_of(address, group, topic)
        )
        return tuple(span for spans in spans_by_address.values() for span in spans)

    async def time_spans_of(
        self, address: str, group: str, topic: str
    ) -> tuple[QueueTimeSpan, ...]:
        """Fetch the age of the next messages of a group from a broker; see ``time_spans``."""
        header = QueryConsumeTimeSpanRequestHeader(topic=topic, group=group)
        code = Code.QUERY_CONSUME_TIME_SPAN
        body = await self.fetch(QueryConsumeTimeSpanBody, address, code, header)
        return body.consume_time_span_set or ()

    async def consume_directly(
        self, address: str, group: str, client_id: str, topic: str, offset_msg_id: str
    ) -> ConsumeMessageDirectlyResult:
        """Let a member handle a message now (code 309; Java: ``consumeMessageDirectly``).

        ``Messages.consume_directly`` finds the address of the broker that stores the message, and
        the broker's id of it. For errors see ``running_info``.
        """
        header = ConsumeMessageDirectlyResultRequestHeader(
            consumer_group=group, client_id=client_id, msg_id=offset_msg_id, topic=topic
        )
        return await self.fetch(
            ConsumeMessageDirectlyResult, address, Code.CONSUME_MESSAGE_DIRECTLY, header
        )

    async def _any(self, group: str) -> str:
        topic = retry_topic(group)
        for address in (await self._clusters.of_topic(topic)).values():
            return address
        raise TopicRouteNotFoundError(topic)

    # ------------------------------------------------------------------ producers

    async def producer_connection(self, group: str, topic: str) -> ProducerConnection:
        """Fetch the producers of a group, from all brokers of a topic (code 204).

        Java: ``examineProducerConnectionInfo``, which asks one.

        Raises:
            BrokerError: 1, no broker has the group.
        """
        header = GetProducerConnectionListRequestHeader(producer_group=group)
        connections: dict[str | None, Connection] = {}
        unknown: RocketWireError | None = None
        for address in (await self._clusters.of_topic(topic)).values():
            try:
                producers = await self.read_from(
                    ProducerConnection, address, Code.GET_PRODUCER_CONNECTION_LIST, header
                )
            except ChannelError as error:
                unknown = leave_out(address, error)
            except BrokerError as error:
                unknown = error
            else:
                connections |= {
                    connection.client_id: connection
                    for connection in producers.connection_set or ()
                }
        if unknown is not None and not connections:
            raise unknown
        return ProducerConnection(connection_set=tuple(connections.values()))

    async def producers_of(self, address: str) -> Mapping[str, tuple[ProducerInfo, ...]]:
        """Fetch all producers of a broker, by group (code 328). Java: ``getAllProducerInfo``."""
        header = GetAllProducerInfoRequestHeader()
        table = await self.fetch(ProducerTableInfo, address, Code.GET_ALL_PRODUCER_INFO, header)
        return table.data or {}
