"""Questions to a cluster: topics, queues, and their first and last offsets.

Rules of this file: ends are asked by topic and broker (code 202), not by queue, except where that
is not permitted. If an account may only subscribe, they are read from responses to pulls.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import trio

from rocketwire.client.admin.admin import Admin
from rocketwire.client.consumer.pull import PullCalls, PullRequest
from rocketwire.client.consumer.queues import find_master, find_replica, get_queues
from rocketwire.client.consumer.rebalance import find_offset_at
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ChannelError,
    ClientError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topics import GetTopicStatsInfoRequestHeader, TopicStatsTable
from rocketwire.nearest import did_you_mean
from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.policy.routing import MOCK_BROKER_PREFIX
from rocketwire.policy.subscription import subscription_data
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.connection import describe, session_of
from rocketwire_tools.spark.topics.offsets import Bounds, Queue, routing_topic
from rocketwire_tools.spark.topics.planning import UnreachableError
from rocketwire_tools.store.engine.topic_kinds import USERS_KINDS, Kind, kind_of_topic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from rocketwire.client import ClientInstance
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.messages.topics import TopicOffset
    from rocketwire_tools.spark.topics.offsets import QueueRange
    from rocketwire_tools.spark.topics.options import Settings

T = TypeVar("T")

_AT_ONCE: Final = 16
_SAMPLED: Final = 32
_OF_GROUPS: Final = frozenset({Kind.RETRY, Kind.DLQ})
_COMPACTION: Final = "COMPACTION"
_REFUSED: Final = int(ResponseCode.NO_PERMISSION)
_UNKNOWN: Final = int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
_BUSY: Final = frozenset((int(ResponseCode.SYSTEM_BUSY), int(ResponseCode.GO_AWAY)))


class UnknownTopicError(Exception):
    """A topic of a query does not exist, or has no queue that can be read."""


async def _each(items: Iterable[Any], ask: Callable[[Any], Awaitable[object]]) -> None:
    """Call ``ask`` for each item, some at once; the first error is raised after all have ended."""
    limit = trio.CapacityLimiter(_AT_ONCE)
    errors: list[Exception] = []

    async def ask_for(item: Any) -> None:
        async with limit:
            try:
                await ask(item)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)

    async with trio.open_nursery() as nursery:
        for item in items:
            nursery.start_soon(ask_for, item)
    if errors:
        raise errors[0]


async def matching_topics(client: ClientInstance, settings: Settings) -> tuple[str, ...]:
    """Topics of users whose whole name matches the pattern, in the namespace if there is one.

    Topics of retries and dead letters have to be meant: only a pattern with ``%`` matches them.
    """
    kinds = USERS_KINDS if "%" in settings.pattern else USERS_KINDS - _OF_GROUPS
    admin = Admin(client)
    clusters = await admin.clusters.info()
    of_brokers = {*(clusters.cluster_addr_table or {}), *(clusters.broker_addr_table or {})}
    names = set(await admin.topics.names()) - of_brokers  # brokers create topics of their names
    return tuple(
        sorted(name for name in names if kind_of_topic(name) in kinds and settings.matches(name))
    )


async def queues_of(
    client: ClientInstance, topics: Iterable[str], *, may_be_gone: bool = False
) -> tuple[Queue, ...]:
    """The readable queues of topics, from new routes.

    Args:
        client: asks the name servers.
        topics: names of topics.
        may_be_gone: whether a topic without a route has no queues instead of an error.
    """
    queues: list[Queue] = []

    async def ask(topic: str) -> None:
        if topic.startswith(LMQ_PREFIX):
            queues.extend(await _light_queues(client, topic, may_be_gone=may_be_gone))
            return
        try:
            await client.refresh_route(topic)
        except TopicRouteNotFoundError:
            client.routes.forget(topic)
            if may_be_gone:
                return
            near = ""
            with suppress(RocketWireError):  # the list may be refused
                topics = (await client.name_servers.all_topics()).topic_list or ()
                near = did_you_mean(topic, topics)
            raise UnknownTopicError(
                f"topic {topic} does not exist: no name server has a route of it; create it, or"
                f" see options 'subscribe', 'namespace' and 'nameServers'{near}"
            ) from None
        readable = await get_queues(client, topic)
        if not readable and not may_be_gone:
            raise UnknownTopicError(
                f"topic {topic} has no queue that can be read: see its permission (perm), its"
                " number of read queues, and whether its brokers run"
            )
        queues.extend(Queue(topic, queue.broker_name or "", queue.queue_id) for queue in readable)

    await _each(topics, ask)
    return tuple(sorted(queues))


async def _light_queues(client: ClientInstance, topic: str, *, may_be_gone: bool) -> list[Queue]:
    parent = routing_topic(topic, "")
    if parent:
        brokers = {queue.broker_name or "" for queue in await get_queues(client, parent)}
    else:
        brokers = set((await Admin(client).clusters.info()).broker_addr_table or {})
        await _each(brokers, client.refresh_route)
    queues = [Queue(topic, broker, 0) for broker in sorted(brokers)]
    ends: list[int] = []

    async def ask(queue: Queue) -> None:
        message_queue = _message_queue(queue)
        address = (await find_replica(client, message_queue)).address
        ends.append(await client.brokers.max_offset(address, message_queue))

    if not may_be_gone:
        await _each(queues, ask)
        if not any(ends):
            raise UnknownTopicError(f"no broker has messages of LMQ {topic}: see its name")
    return queues


async def bounds_of(
    client: ClientInstance,  # asks the brokers
    queues: Iterable[Queue],  # of any topics
    group: str,  # for pulls, of an account that may not ask otherwise
    ends: dict[Queue, int],  # last offsets in responses to pulls; updated
    *,
    # whether the queues of a broker that does not answer are left out, too
    may_be_missing: bool = False,
) -> dict[Queue, Bounds]:
    """First and last offsets of queues; a queue that its broker does not have is left out."""
    groups: dict[tuple[str, str], list[Queue]] = {}
    for queue in queues:
        groups.setdefault((queue.topic, queue.broker), []).append(queue)
    bounds: dict[Queue, Bounds] = {}

    async def ask(topic_and_broker: tuple[str, str]) -> None:
        try:
            bounds.update(
                await _bounds_at(client, *topic_and_broker, groups[topic_and_broker], group, ends)
            )
        except (ChannelError, BrokerNotFoundError):
            if not may_be_missing:
                raise
        except BrokerError as error:
            if not may_be_missing or int(error.code) not in _BUSY:
                raise

    await _each(groups, ask)
    return bounds


async def _bounds_at(
    client: ClientInstance,
    topic: str,
    broker: str,
    queues: Iterable[Queue],
    group: str,
    ends: dict[Queue, int],
) -> dict[Queue, Bounds]:
    answer: Mapping[MessageQueue, TopicOffset]
    is_master = True
    try:
        if broker.startswith(MOCK_BROKER_PREFIX):
            answer = await Admin(client).static_topics.stats(topic)
        else:
            message_queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
            replica = await find_replica(client, message_queue)
            is_master = not replica.is_slave
            answer = (await _stats(client, topic, replica.address)).offset_table or {}
    except BrokerError as error:
        if error.code == ResponseCode.TOPIC_NOT_EXIST:
            return {}
        if int(error.code) == _UNKNOWN:
            return {queue: await _bounds_of_one(client, queue) for queue in queues}
        if int(error.code) != _REFUSED:
            raise
        return {queue: await _bounds_by_pull(client, queue, group, ends) for queue in queues}
    table = {queue.queue_id: offsets for queue, offsets in answer.items()}
    return {
        queue: Bounds(max(0, offsets.min_offset), max(0, offsets.max_offset), is_master)
        for queue in queues
        if (offsets := table.get(queue.queue_id)) is not None
    }


async def _stats(client: ClientInstance, topic: str, address: str) -> TopicStatsTable:
    header = GetTopicStatsInfoRequestHeader(topic=topic)
    admin = Admin(client, within=client.config.mq_client_api_timeout)
    return await admin.topics.fetch(
        TopicStatsTable, address, RequestCode.GET_TOPIC_STATS_INFO, header
    )


def _message_queue(queue: Queue) -> MessageQueue:
    return MessageQueue(topic=queue.topic, broker_name=queue.broker, queue_id=queue.queue_id)


async def _bounds_of_one(client: ClientInstance, queue: Queue) -> Bounds:
    message_queue = _message_queue(queue)
    replica = await find_replica(client, message_queue)
    min_offset = await client.brokers.min_offset(replica.address, message_queue)
    max_offset = await client.brokers.max_offset(replica.address, message_queue)
    return Bounds(max(0, min_offset), max_offset, not replica.is_slave)


async def _bounds_by_pull(
    client: ClientInstance, queue: Queue, group: str, ends: dict[Queue, int]
) -> Bounds:
    request = PullRequest(
        queue=_message_queue(queue),
        offset=ends.get(queue, 0),
        group=group,
        subscription=subscription_data(queue.topic, version=0),
        max_msg_nums=1,
        suspend_timeout=0,
        send_subscription=True,
    )
    result = await PullCalls(client).pull(request, within=client.config.mq_client_api_timeout)
    ends[queue] = result.max_offset
    return Bounds(max(0, result.min_offset), max(0, result.max_offset))


async def offsets_at(
    client: ClientInstance, group: str, times: Mapping[Queue, int]
) -> dict[Queue, int]:
    """Offset of the first message of each queue that was stored at or after a time (code 29)."""
    offsets: dict[Queue, int] = {}

    async def ask(queue: Queue) -> None:
        message_queue = _message_queue(queue)
        offsets[queue] = await find_offset_at(client, group, message_queue, times[queue])

    await _each(times, ask)
    return offsets


async def commit(
    client: ClientInstance, group: str, offsets: Mapping[Queue, int], introduced: set[str]
) -> None:
    async def tell(queue: Queue) -> None:
        message_queue = _message_queue(queue)
        address = await find_master(client, message_queue)
        if address not in introduced:
            introduced.add(address)
            await _introduce(client, address, group)
        await client.brokers.update_consumer_offset(
            address, group, message_queue, offsets[queue], oneway=True
        )

    await _each(offsets, tell)


async def _introduce(client: ClientInstance, address: str, group: str) -> None:
    """Let a broker create what it has of a group that is not a member of anything.

    ``consumerProgress`` looks for the retry topic of a group, which a heartbeat creates.
    """
    consumer = ConsumerData(
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
        consume_type=ConsumeType.CONSUME_ACTIVELY,
        group_name=group,
        message_model=MessageModel.CLUSTERING,
    )
    data = HeartbeatData(client_id=client.client_id, consumer_data_set=(consumer,))
    await client.brokers.heartbeat(address, data)
    await client.brokers.unregister_client(address, client.client_id, consumer_group=group)


async def mean_sizes(
    client: ClientInstance, group: str, begins: Mapping[Queue, int]
) -> dict[str, float]:
    sums: dict[str, tuple[int, int]] = {}
    pulls = PullCalls(client)

    async def ask(queue: Queue) -> None:
        request = PullRequest(
            queue=_message_queue(queue),
            offset=begins[queue],
            group=group,
            subscription=subscription_data(queue.topic, version=0),
            max_msg_nums=_SAMPLED,
            suspend_timeout=0,
            send_subscription=True,
        )
        try:
            result = await pulls.pull(request)
        except (ChannelError, ClientError):  # the read reports what is wrong
            return
        size = sum(message.store_size for message in result.messages)
        total, count = sums.get(queue.topic, (0, 0))
        sums[queue.topic] = total + size, count + len(result.messages)

    await _each(begins, ask)
    return {topic: size / count for topic, (size, count) in sums.items() if count}


async def is_compacted(client: ClientInstance, topic: str, broker: str) -> bool:
    """Whether a broker keeps only the last message of each key of a topic (code 351)."""
    message_queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
    try:
        address = (await find_replica(client, message_queue)).address
        config = (await Admin(client).topics.config(address, topic)).attributes or {}
    except (ChannelError, ClientError):
        return False
    return config.get("cleanup.policy") == _COMPACTION


class Cluster:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._introduced: set[str] = set()
        self._ends: dict[Queue, int] = {}

    def _ask(self, function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        connection = self._settings.connection
        try:
            return session_of(connection).call(function, *arguments)
        except (ChannelError, ClientError) as error:
            raise unreachable(error, connection.name_servers) from None

    def topics(self) -> tuple[str, ...]:
        settings = self._settings
        if settings.pattern:
            return self._ask(matching_topics, settings)
        if settings.queues is not None:
            return tuple(dict.fromkeys(queue.topic for queue in settings.queues.by_queue))
        return settings.topics

    def queues(self, topics: Iterable[str], *, may_be_gone: bool = False) -> tuple[Queue, ...]:
        async def ask(client: ClientInstance) -> tuple[Queue, ...]:
            return await queues_of(client, topics, may_be_gone=may_be_gone)

        queues = self._ask(ask)
        assigned = self._settings.queues
        if assigned is None:
            return queues
        missing = assigned.unknown(queues)
        if missing and not may_be_gone:
            raise OptionError(f"option 'assign': there is no {missing}")
        return tuple(queue for queue in queues if queue in assigned.by_queue)

    def bounds(
        self, queues: Iterable[Queue], *, may_be_missing: bool = False
    ) -> dict[Queue, Bounds]:
        every = tuple(queues)

        async def ask(client: ClientInstance) -> dict[Queue, Bounds]:
            group, ends = self._settings.group, self._ends
            return await bounds_of(client, every, group, ends, may_be_missing=may_be_missing)

        return self._ask(ask)

    def route(self, queue_range: QueueRange) -> TopicRouteData | None:
        routes = session_of(self._settings.connection).client.routes
        return routes.get(routing_topic(queue_range.topic, queue_range.broker))

    def offsets_at(self, times: Mapping[Queue, int]) -> dict[Queue, int]:
        return self._ask(offsets_at, self._settings.group, times)

    def commit(self, offsets: Mapping[Queue, int]) -> None:
        self._ask(commit, self._settings.group, offsets, self._introduced)

    def mean_sizes(self, begins: Mapping[Queue, int]) -> dict[str, float]:
        return self._ask(mean_sizes, self._settings.group, begins)


def unreachable(error: Exception, name_servers: str) -> UnreachableError:
    return UnreachableError(describe(error, name_servers))
