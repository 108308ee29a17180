"""Who is connected and how far they are: consumers and producers as brokers, or they themselves, tell of them.

Java: ``DefaultMQAdminExtImpl``, ``ConsumerProgressSubCommand``, ``ConsumerStatusSubCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import Asking, leave_out, told_by_each
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    ChannelError,
    RocketWireError,
    TopicRouteNotFoundError,
)
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
    QueryConsumeTimeSpanBody,
    QueryConsumeTimeSpanRequestHeader,
    QueueTimeSpan,
)
from rocketwire.policy.resource_names import has_own_route, pop_retry_topic, retry_topic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue


class Consumers(Asking):
    """Calls about the members of consumer groups; all of them raise what ``Asking.ask`` raises.

    Where a group's brokers are is looked up by its retry topic: ``TopicRouteNotFoundError`` for a
    group that never consumed.
    """

    def __init__(self, client: ClientInstance, clusters: Clusters, within: float) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters

    async def stats(
        self, group: str, topic: str | None = None, *, by: str | None = None
    ) -> ConsumeStats:
        """How far a group is in each queue, from all its brokers (code 208.

        Java: ``examineConsumeStats``).

        What is left of a queue is ``broker_offset - consumer_offset``; what members hold and have
        not handled yet is ``pull_offset - consumer_offset``.  The table is empty for groups that
        broadcast.

        Args:
            group: whose.
            topic: only of this one; None for all that it reads.
            by: as of ``Clusters.of_topic``.
        """
        places = await self._places(group, topic, by)
        each = await told_by_each(
            places.values(), lambda address: self.stats_of(address, group, topic)
        )
        return ConsumeStats(
            consume_tps=sum(one.consume_tps for one in each.values()),
            offset_table={
                q: w for one in each.values() for q, w in (one.offset_table or {}).items()
            },
        )

    async def stats_of(self, address: str, group: str, topic: str | None = None) -> ConsumeStats:
        """As ``stats``, of one broker."""
        header = GetConsumeStatsRequestHeader(consumer_group=group, topic=topic)
        answer = await self.ask(address, Code.GET_CONSUME_STATS, header, within=self.within * 3)
        return answer.body or ConsumeStats()

    async def _places(
        self, group: str, topic: str | None, by: str | None = None
    ) -> Mapping[str, str]:
        """Where to ask about a group: brokers of its retry topic, else those of the topic, else of its pops' retry topic."""
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
        """Members of a group, and what they subscribe to (code 203.

        Java: ``examineConsumerConnectionInfo``).

        Java asks one broker of the retry topic by chance; here it is the first one where somebody
        is connected.

        Args:
            group: whose.
            broker: address of the broker to ask.

        Raises:
            BrokerError: 206, nobody is connected.
        """
        header = GetConsumerConnectionListRequestHeader(consumer_group=group)

        async def ask(address: str) -> ConsumerConnection:
            found: ConsumerConnection
            found = await self.body_of(address, Code.GET_CONSUMER_CONNECTION_LIST, header)
            return found

        if broker is not None:
            addresses = [broker]
        else:
            addresses = list((await self._clusters.of_topic(retry_topic(group))).values())
        offline: RocketWireError | None = None
        for address in addresses:
            try:
                (found,) = (await told_by_each((address,), ask)).values()
            except ChannelError as error:
                offline = leave_out(address, error)
            except BrokerError as error:
                if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
                    raise
                offline = error
            else:
                return found
        raise offline or TopicRouteNotFoundError(retry_topic(group))

    async def running_info(
        self, group: str, client_id: str, *, stack: bool = False, broker: str | None = None
    ) -> ConsumerRunningInfo:
        """What a member is doing, as it tells by way of a broker (code 307.

        Java: ``getConsumerRunningInfo``).

        Args:
            group: whose.
            client_id: which member.
            stack: have it add the stacks of its threads (of its tasks, where it is one of ours).
            broker: address of the broker that passes it on; None for the first one of the retry
                topic.

        Raises:
            BrokerError: 206, that member is not connected; 207, it did not answer; 1, it is too old
                to.
        """
        header = GetConsumerRunningInfoRequestHeader(
            consumer_group=group, client_id=client_id, jstack_enable=stack
        )
        address = broker or await self._any(group)
        found: ConsumerRunningInfo
        found = await self.body_of(address, Code.GET_CONSUMER_RUNNING_INFO, header)
        return found

    async def running_infos(
        self, group: str, *, stack: bool = False
    ) -> dict[str, ConsumerRunningInfo]:
        """What all members are doing, by client id.

        Who does not answer is left out (Java: ``ConsumerSubCommand``).
        """
        found: dict[str, ConsumerRunningInfo] = {}
        for one in (await self.connection(group)).connection_set or ():
            client_id = one.client_id or ""
            try:
                found[client_id] = await self.running_info(group, client_id, stack=stack)
            except BrokerError:
                continue
        return found

    async def queue_owners(self, group: str) -> dict[MessageQueue, str]:
        """Client id by queue, as the members tell (Java: ``ConsumerProgressSubCommand`` with ``-s``)."""
        return {
            queue: client_id
            for client_id, info in (await self.running_infos(group)).items()
            for queue in {**(info.mq_table or {}), **(info.mq_pop_table or {})}
        }

    async def time_spans(self, group: str, topic: str) -> tuple[QueueTimeSpan, ...]:
        """How old the messages are that a group is at, queue by queue (code 303.

        Java: ``queryConsumeTimeSpan``).
        """
        header = QueryConsumeTimeSpanRequestHeader(topic=topic, group=group)
        places = await self._clusters.of_topic(topic)
        each: dict[str, QueryConsumeTimeSpanBody | None] = await told_by_each(
            places.values(),
            lambda address: self.body_of(address, Code.QUERY_CONSUME_TIME_SPAN, header),
        )
        return tuple(
            span for one in each.values() if one for span in one.consume_time_span_set or ()
        )

    async def consume_directly(
        self, address: str, group: str, client_id: str, topic: str, offset_msg_id: str
    ) -> ConsumeMessageDirectlyResult:
        """Have one member handle one message now (code 309; Java: ``consumeMessageDirectly``).

        ``Messages.consume_directly`` finds the address and the id.

        Args:
            address: of the broker that stores the message.
            group: whose member.
            client_id: which one.
            topic: of the message.
            offset_msg_id: the broker's id of the message.

        Raises:
            BrokerError: as of ``running_info``.
        """
        header = ConsumeMessageDirectlyResultRequestHeader(
            consumer_group=group, client_id=client_id, msg_id=offset_msg_id, topic=topic
        )
        found: ConsumeMessageDirectlyResult
        found = await self.body_of(address, Code.CONSUME_MESSAGE_DIRECTLY, header)
        return found

    async def _any(self, group: str) -> str:
        """The first broker of a group's retry topic."""
        topic = retry_topic(group)
        for address in (await self._clusters.of_topic(topic)).values():
            return address
        raise TopicRouteNotFoundError(topic)

    # ------------------------------------------------------------------ producers

    async def producer_connection(self, group: str, topic: str) -> ProducerConnection:
        """Producers of a group, from all brokers of a topic (code 204.

        Java: ``examineProducerConnectionInfo``, which asks one).

        Raises:
            TopicRouteNotFoundError: nobody has the topic.
            BrokerError: 1, no broker knows the group.
        """
        header = GetProducerConnectionListRequestHeader(producer_group=group)
        connections: dict[str | None, Connection] = {}
        unknown: RocketWireError | None = None

        async def ask(address: str) -> ProducerConnection:
            found: ProducerConnection
            found = await self.body_of(address, Code.GET_PRODUCER_CONNECTION_LIST, header)
            return found

        for address in (await self._clusters.of_topic(topic)).values():
            try:
                (one,) = (await told_by_each((address,), ask)).values()
            except ChannelError as error:
                unknown = leave_out(address, error)
            except BrokerError as error:
                unknown = error
            else:
                connections |= {each.client_id: each for each in one.connection_set or ()}
        if unknown is not None and not connections:
            raise unknown
        return ProducerConnection(connection_set=tuple(connections.values()))

    async def producers_of(self, address: str) -> Mapping[str, tuple[ProducerInfo, ...]]:
        """Every producer that one broker knows, by group (code 328.

        Java: ``getAllProducerInfo``).
        """
        header = GetAllProducerInfoRequestHeader()
        body: ProducerTableInfo | None
        body = await self.body_of(address, Code.GET_ALL_PRODUCER_INFO, header)
        return (body.data if body else None) or {}
