"""Broker processes: configuration, statistics, replication, cleanup and storage engine.

Java: ``DefaultMQAdminExtImpl``, ``BrokerStatusSubCommand``, ``HAStatusSubCommand``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Unpack, cast

from rocketwire.client.admin.changes import (
    Change,
    Target,
    change_each,
    change_settings,
    name_target,
)
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import AdminCalls, call_each
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import DecodeError
from rocketwire.messages.brokers import (
    AddBrokerRequestHeader,
    BrokerStatsData,
    CheckRocksdbCqWriteProgressRequestHeader,
    CheckRocksdbCqWriteResult,
    ExportRocksDBConfigToJsonRequestHeader,
    RemoveBrokerRequestHeader,
    TimerMetricsSerializeWrapper,
    ViewBrokerStatsDataRequestHeader,
)
from rocketwire.messages.config_text import config_lines, read_config
from rocketwire.messages.ha import EpochEntryCache, HARuntimeInfo, ResetMasterFlushOffsetHeader
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.queries import (
    ConsumeStatsList,
    GetConsumeStatsInBrokerHeader,
    QueryConsumeQueueRequestHeader,
    QueryConsumeQueueResponseBody,
)
from rocketwire.wire.json.fastjson import loads

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue

READ_AHEAD_MODE: Final = "READ_AHEAD_MODE"  # ext field of code 2004 (Java: ``FIleReadaheadMode``)


class Brokers(ClusterCalls):
    """Calls to brokers by address."""

    # ------------------------------------------------------------------ configuration

    async def config(self, address: str) -> dict[str, str]:
        """Fetch the configuration of a broker, by key (code 26; Java: ``getBrokerConfig``)."""
        return read_config(await self.fetch(bytes, address, Code.GET_BROKER_CONFIG))

    async def update_config(
        self, address: str, values: Mapping[str, str], *, dry_run: bool = False
    ) -> list[Change[str]]:
        """Change settings of a broker, in memory and in its file (codes 26, 25).

        Returns both values of each. Many keys apply only after a restart. Java:
        ``updateBrokerConfig``.

        Raises:
            BrokerError: 16, a key is on its black list.
            LocalProtocolError: a key or value contains a line break, or ``values`` is empty.
            SettingNotFoundError: the broker has no such setting, or did not accept its value.
        """
        return await change_settings(
            (address,),
            self.config,
            values,
            lambda address, text: self.ask(address, Code.UPDATE_BROKER_CONFIG, None, text),
            dry_run=dry_run,
        )

    # ------------------------------------------------------------------ statistics

    async def runtime_info(self, address: str) -> Mapping[str, str]:
        """Fetch runtime values of a broker (code 28; Java: ``fetchBrokerRuntimeStats``)."""
        return (await self.fetch(KVTable, address, Code.GET_BROKER_RUNTIME_INFO)).table or {}

    async def stats(self, address: str, stats_name: str, stats_key: str) -> BrokerStatsData:
        """Fetch a statistic of a broker over a minute, an hour and a day (code 315).

        ``stats_name`` is such as ``TOPIC_PUT_NUMS`` or ``GROUP_GET_NUMS``; ``stats_key`` a topic,
        or ``topic@group``. Java: ``viewBrokerStatsData``.

        Raises:
            BrokerError: 1, nothing of that was counted yet.
        """
        header = ViewBrokerStatsDataRequestHeader(stats_name=stats_name, stats_key=stats_key)
        return await self.fetch(BrokerStatsData, address, Code.VIEW_BROKER_STATS_DATA, header)

    async def consume_stats(self, address: str, *, order: bool = False) -> ConsumeStatsList:
        """Fetch the consume progress of all groups, or of ordered topics only (code 317).

        Java: ``fetchConsumeStatsInBroker``.
        """
        header = GetConsumeStatsInBrokerHeader(is_order=order)
        return await self.fetch(ConsumeStatsList, address, Code.GET_BROKER_CONSUME_STATS, header)

    async def consume_queue(
        self, address: str, queue: MessageQueue, index: int, count: int, group: str | None = None
    ) -> QueryConsumeQueueResponseBody | None:
        """Fetch entries of a consume queue, and whether a group's filter selects them (code 321).

        None if the queue has no entry at ``index``: the response has no body. Java:
        ``queryConsumeQueue``.

        Raises:
            BrokerError: 17, the broker does not have the topic; 1, the entries are unreadable.
        """
        header = QueryConsumeQueueRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            index=index,
            count=count,
            consumer_group=group,
        )
        return await self.body_of(address, Code.QUERY_CONSUME_QUEUE, header) or None

    async def timer_metrics(self, address: str) -> Mapping[str, int]:
        """Fetch the number of timed messages by topic (code 61).

        ``BrokerError`` 1: the broker keeps no timed messages.
        """
        metrics = await self.fetch(TimerMetricsSerializeWrapper, address, Code.GET_TIMER_METRICS)
        counts = metrics.timing_count or {}
        return {topic: metric.count or 0 for topic, metric in counts.items()}

    # ------------------------------------------------------------------ replication

    async def ha_status(self, address: str) -> HARuntimeInfo:
        """Fetch the replication state of a broker (code 907; Java: ``getBrokerHAStatus``)."""
        return await self.fetch(HARuntimeInfo, address, Code.GET_BROKER_HA_STATUS)

    async def epoch_cache(self, address: str) -> EpochEntryCache:
        """Fetch epochs of a broker with a controller (code 1007; Java: ``getBrokerEpochCache``).

        ``BrokerError`` 1: it is not in that mode.
        """
        return await self.fetch(EpochEntryCache, address, Code.GET_BROKER_EPOCH_CACHE)

    async def reset_master_flush_offset(self, address: str, offset: int) -> None:
        """Set the flush offset of the master on a slave (code 908); masters do nothing.

        Java: ``resetMasterFlushOffset``.
        """
        header = ResetMasterFlushOffsetHeader(master_flush_offset=offset)
        await self.ask(address, Code.RESET_MASTER_FLUSH_OFFSET, header)

    # ------------------------------------------------------------------ cleanup

    @name_target
    async def clean_unused_topics(self, **target: Unpack[Target]) -> tuple[str, ...]:
        """Let brokers remove queues of deleted topics (code 316; Java: ``cleanUnusedTopic``).

        Returns the addresses. For ``broker`` and ``cluster`` see ``Topics``; slaves of a cluster
        are included, and without both, all brokers of all clusters.
        """
        return await self._clean(Code.CLEAN_UNUSED_TOPIC, target)

    @name_target
    async def clean_expired_queues(self, **target: Unpack[Target]) -> tuple[str, ...]:
        """Let brokers remove queues whose messages have expired (code 306), as above.

        Java: ``cleanExpiredConsumerQueue``.
        """
        return await self._clean(Code.CLEAN_EXPIRED_CONSUMEQUEUE, target)

    @name_target
    async def delete_expired_commit_log(self, **target: Unpack[Target]) -> tuple[str, ...]:
        """Let brokers delete expired files now (code 329), as above.

        Java: ``deleteExpiredCommitLog``.
        """
        return await self._clean(Code.DELETE_EXPIRED_COMMITLOG, target)

    async def _clean(self, code: Code, target: Target) -> tuple[str, ...]:
        broker, cluster = target.get("broker"), target.get("cluster")
        if broker is None and cluster is None:
            addresses = await self._clusters.replicas()
        else:
            addresses = await self._clusters.targets(broker, cluster, slaves=True)
        if not target.get("dry_run"):
            within = self.within * 6
            await call_each(addresses, lambda address: self.ask(address, code, within=within))
        return addresses

    # ------------------------------------------------------------------ cold data

    async def cold_data_info(self, address: str) -> str:
        """Fetch the limits of cold reads as JSON (code 2003; Java: ``getColdDataFlowCtrInfo``)."""
        content = await self.fetch(bytes, address, Code.GET_COLD_DATA_FLOW_CTR_INFO)
        return content.decode("utf-8", "replace")

    async def set_cold_data_limit(
        self, address: str, group: str, threshold: int | None, *, dry_run: bool = False
    ) -> list[Change[int]]:
        """Set the bytes of cold data that a group may read a second (codes 2003, 2001, 2002).

        None removes the limit. Returns both limits. Java: ``updateColdDataFlowCtrGroupConfig``,
        ``removeColdDataFlowCtrGroupConfig``.
        """

        async def read(address: str) -> dict[str, int]:
            info = loads((await self.cold_data_info(address)).encode())
            limits = info.get("configTable") if isinstance(info, dict) else None
            if not isinstance(limits, dict):
                raise DecodeError("the response has no configTable", path="body")
            return cast("dict[str, int]", limits)

        async def write(address: str, _: object) -> None:
            if threshold is None:
                await self.ask(address, Code.REMOVE_COLD_DATA_FLOW_CTR_CONFIG, None, group)
            else:
                text = config_lines({group: str(threshold)})
                await self.ask(address, Code.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, None, text)

        return await change_each(
            (address,), read, {group: lambda _: threshold}, write, dry_run=dry_run
        )

    async def set_read_ahead_mode(self, address: str, mode: str) -> str | None:
        """Set read-ahead of the commit log: ``0`` on, ``1`` off (code 2004); returns its remark.

        Java: ``setCommitLogReadAheadMode``.
        """
        answer = await self.ask(address, Code.SET_COMMITLOG_READ_MODE, {READ_AHEAD_MODE: mode})
        return answer.command.remark

    # ------------------------------------------------------------------ containers

    async def add_to_container(self, address: str, config_path: str) -> None:
        """Let a container start a broker (code 902; Java: ``addBrokerToContainer``)."""
        await self.ask(address, Code.ADD_BROKER, AddBrokerRequestHeader(config_path=config_path))

    async def remove_from_container(
        self, address: str, cluster: str, broker_name: str, broker_id: int
    ) -> None:
        """Let a container stop a broker (code 903; Java: ``removeBrokerFromContainer``)."""
        header = RemoveBrokerRequestHeader(
            broker_cluster_name=cluster, broker_name=broker_name, broker_id=broker_id
        )
        await self.ask(address, Code.REMOVE_BROKER, header)


# Ext field of code 5001 (Java: ``MessageConst.TIMER_ENGINE_TYPE``)
TIMER_ENGINE_TYPE: Final = "E_T"


class TimerEngine(StrEnum):
    """Store of timed messages (Java: ``MessageConst.TIMER_ENGINE_*``)."""

    ROCKSDB_TIMELINE = "R"
    FILE_TIME_WHEEL = "F"


class RocksDBConfig(StrEnum):
    """Kind of configuration in RocksDB (Java: ``ExportRocksDBConfigToJsonRequestHeader``)."""

    TOPICS = "topics"
    SUBSCRIPTION_GROUPS = "subscriptionGroups"
    CONSUMER_OFFSETS = "consumerOffsets"


class Stores(AdminCalls):
    """Requests for the store of a broker, by address."""

    async def switch_timer_engine(self, address: str, engine: TimerEngine) -> None:
        """Switch the store of timed messages (code 5001, since 5.5.0). Java: ``switchTimerEngine``.

        Raises:
            BrokerError: 29, the broker has no timed messages (``timerWheelEnable``), or was
                started without RocksDB for them (``timerRocksDBEnable``); 1, it failed; 3, the
                broker is older.
        """
        await self.ask(address, Code.SWITCH_TIMER_ENGINE, {TIMER_ENGINE_TYPE: engine.value})

    async def check_rocksdb_queues(
        self, address: str, topic: str = "", *, since: int = 0
    ) -> CheckRocksdbCqWriteResult:
        """Let a broker compare its queues in RocksDB with those in files (code 354).

        It concerns one topic or all, from store time ``since`` on (milliseconds since 1970). The
        broker responds when it has started; the result is in its log. Java:
        ``checkRocksdbCqWriteProgress``.
        """
        header = CheckRocksdbCqWriteProgressRequestHeader(topic=topic, check_store_time=since)
        return await self.fetch(
            CheckRocksdbCqWriteResult, address, Code.CHECK_ROCKSDB_CQ_WRITE_PROGRESS, header
        )

    async def export_rocksdb_config(
        self, address: str, kinds: Iterable[RocksDBConfig] = tuple(RocksDBConfig)
    ) -> None:
        """Let a broker export its configuration from RocksDB to JSON files (code 355).

        A broker without RocksDB does nothing and responds 0. ``BrokerError`` 1: it could not write
        a file. Java: ``exportRocksDBConfigToJson``.
        """
        text = "".join(f"{config_type.value};" for config_type in kinds)
        header = ExportRocksDBConfigToJsonRequestHeader(config_type=text)
        await self.ask(address, Code.EXPORT_ROCKSDB_CONFIG_TO_JSON, header)
