"""A cluster in memory, as the exporter's parts ask it: an ``Admin`` whose methods answer from dictionaries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import trio

from rocketwire.client.admin import Admin
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.brokers import BrokerStatsData, BrokerStatsItem
from rocketwire.messages.callbacks import ConsumerRunningInfo
from rocketwire.messages.connections import Connection, ConsumerConnection
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.queries import ConsumeStats, OffsetWrapper, QueueTimeSpan
from rocketwire.messages.route import BrokerData, ClusterInfo
from rocketwire.messages.topics import TopicOffset, TopicStatsTable
from rocketwire_tools.exporter.families import Samples
from rocketwire_tools.exporter.scrape import Broker, BrokerScrape

ADDRESS = "10.0.0.1:10911"
PLACE = Broker("c", "a", ADDRESS, 0, is_primary=True)


def refusal(code: int, remark: str = "") -> BrokerError:
    return BrokerError(code, remark, RequestCode.GET_CONSUME_STATS, ADDRESS)


def stats(rate: float, total: int = 0) -> BrokerStatsData:
    return BrokerStatsData(stats_minute=BrokerStatsItem(tps=rate, sum=total))


def topic_stats(*offsets: tuple[int, int], newest: int = 0, rate: float = 0.0) -> TopicStatsTable:
    return TopicStatsTable(
        topic_put_tps=rate,
        offset_table={
            MessageQueue(topic="t", broker_name="a", queue_id=number): TopicOffset(
                min_offset=first, max_offset=following, last_update_timestamp=newest
            )
            for number, (first, following) in enumerate(offsets)
        },
    )


def progress(topics: Mapping[str, Sequence[tuple[int, int]]], rate: float = 0.0) -> ConsumeStats:
    return ConsumeStats(
        consume_tps=rate,
        offset_table={
            MessageQueue(topic=topic, broker_name="a", queue_id=number): OffsetWrapper(
                broker_offset=following, consumer_offset=committed
            )
            for topic, queues in topics.items()
            for number, (following, committed) in enumerate(queues)
        },
    )


def span(queue_id: int, delay: int) -> QueueTimeSpan:
    queue = MessageQueue(topic="t", broker_name="a", queue_id=queue_id)
    return QueueTimeSpan(message_queue=queue, delay_time=delay)


def connected(*client_ids: str) -> ConsumerConnection:
    return ConsumerConnection(
        connection_set=tuple(
            Connection(client_id=client_id, client_addr=f"{client_id}:1")
            for client_id in client_ids
        )
    )


def one_broker(*addresses: str) -> ClusterInfo:
    group = BrokerData(broker_name="a", cluster="c", broker_addrs=dict(enumerate(addresses)))
    return ClusterInfo(broker_addr_table={"a": group}, cluster_addr_table={"c": ("a",)})


@dataclass
class ExportedCluster:
    info: Any = field(default_factory=lambda: one_broker(ADDRESS))
    runtime: Any = field(default_factory=dict[str, str])
    figures: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])
    producers: Any = field(default_factory=dict[str, Any])
    topics: Any = field(default_factory=dict[str, Any])
    groups: Any = field(default_factory=dict[str, Any])
    offsets: Any = None
    spans: dict[str, Any] = field(default_factory=dict[str, Any])
    members: dict[str, Any] = field(default_factory=dict[str, Any])
    running: dict[str, Any] = field(default_factory=dict[str, Any])
    #: names of the methods that were called, and their arguments
    asked: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    hangs: set[str] = field(default_factory=set[str])  #: names of methods that never return

    @property
    def admin(self) -> Admin:
        return cast("Admin", _Admin(self))

    def scrape(self, place: Broker = PLACE, *, concurrent: int = 2) -> BrokerScrape:
        return BrokerScrape(self.admin, place, Samples(), concurrent=concurrent)

    async def answer(self, value: Any, *request: str) -> Any:
        self.asked.append(request)
        if request[0] in self.hangs:
            await trio.sleep_forever()
        await trio.lowlevel.checkpoint()
        if isinstance(value, Exception):
            raise value
        return value


class _Admin:
    def __init__(self, cluster: ExportedCluster) -> None:
        self.clusters = _Clusters(cluster)
        self.brokers = _Brokers(cluster)
        self.topics = _Topics(cluster)
        self.groups = _Groups(cluster)
        self.offsets = _Offsets(cluster)
        self.consumers = _Consumers(cluster)


class _Subject:
    def __init__(self, cluster: ExportedCluster) -> None:
        self._cluster = cluster


class _Clusters(_Subject):
    async def info(self) -> Any:
        return await self._cluster.answer(self._cluster.info, "info")


class _Brokers(_Subject):
    async def runtime_info(self, address: str) -> Any:
        return await self._cluster.answer(self._cluster.runtime, "runtime_info", address)

    async def stats(self, address: str, name: str, key: str) -> Any:
        nothing = refusal(ResponseCode.SYSTEM_ERROR, "The stats not exist")
        value = self._cluster.figures.get((name, key), nothing)
        return await self._cluster.answer(value, "stats", name, key)


class _Topics(_Subject):
    async def configs(self, address: str) -> Any:
        return await self._cluster.answer(self._cluster.topics, "topics", address)

    async def stats_of(self, address: str, topic: str) -> Any:
        value = self._cluster.topics[topic] or refusal(ResponseCode.TOPIC_NOT_EXIST)
        return await self._cluster.answer(value, "topic_stats", topic)


class _Groups(_Subject):
    async def configs(self, address: str) -> Any:
        return await self._cluster.answer(self._cluster.groups, "groups", address)


class _Offsets(_Subject):
    async def all_of_broker(self, address: str) -> Any:
        offsets = self._cluster.offsets
        if offsets is None:
            offsets = {f"t@{group}": {0: 1} for group in self._cluster.groups}
        return await self._cluster.answer(offsets, "offsets", address)


class _Consumers(_Subject):
    async def producers_of(self, address: str) -> Any:
        return await self._cluster.answer(self._cluster.producers, "producers", address)

    async def stats_of(self, address: str, group: str) -> Any:
        return await self._cluster.answer(self._cluster.groups[group], "progress", group)

    async def time_spans_of(self, address: str, group: str, topic: str) -> Any:
        value = self._cluster.spans.get(topic, ())
        return await self._cluster.answer(value, "time_spans", group, topic)

    async def connection(self, group: str, *, broker: str) -> Any:
        nobody = refusal(ResponseCode.CONSUMER_NOT_ONLINE)
        value = self._cluster.members.get(group, nobody)
        return await self._cluster.answer(value, "connection", group, broker)

    async def running_info(self, group: str, client_id: str, *, broker: str) -> Any:
        value = self._cluster.running.get(client_id, ConsumerRunningInfo())
        return await self._cluster.answer(value, "running_info", group, client_id, broker)
