"""Brokers as processes: configuration, what they tell of themselves, replication, and cleaning up.

Java: ``DefaultMQAdminExtImpl``, ``BrokerStatusSubCommand``, ``HAStatusSubCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import Asking, of_each
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.brokers import (
    AddBrokerRequestHeader,
    BrokerStatsData,
    RemoveBrokerRequestHeader,
    TimerMetricsSerializeWrapper,
    ViewBrokerStatsDataRequestHeader,
)
from rocketwire.messages.config_text import config_lines, read_config
from rocketwire.messages.ha import EpochEntryCache, HARuntimeInfo, ResetMasterFlushOffsetHeader
from rocketwire.messages.queries import (
    ConsumeStatsList,
    GetConsumeStatsInBrokerHeader,
    QueryConsumeQueueRequestHeader,
    QueryConsumeQueueResponseBody,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.kvconfig import KVTable
    from rocketwire.messages.message_queue import MessageQueue

READ_AHEAD_MODE: Final = "READ_AHEAD_MODE"
"""Ext field of code 2004 (Java: ``FIleReadaheadMode``)."""


class Brokers(Asking):
    """Calls to brokers by address; all of them raise what ``Asking.ask`` raises."""

    def __init__(self, client: ClientInstance, clusters: Clusters, within: float) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters

    # ------------------------------------------------------------------ configuration

    async def config(self, address: str) -> dict[str, str]:
        """Its configuration, by key (code 26; Java: ``getBrokerConfig``)."""
        body: bytes | None = await self.body_of(address, Code.GET_BROKER_CONFIG)
        return read_config(body or b"")

    async def update_config(self, address: str, values: Mapping[str, str]) -> None:
        """Change some of it, in memory and in its file (code 25; Java: ``updateBrokerConfig``).

        Keys that the broker does not know are ignored; many count only after a restart.

        Raises:
            BrokerError: 16, a key is on its black list.
            LocalProtocolError: a key or value has a line break, or nothing is to be changed.
        """
        await self.ask(address, Code.UPDATE_BROKER_CONFIG, None, config_lines(values))

    # ------------------------------------------------------------------ what it tells

    async def runtime_info(self, address: str) -> Mapping[str, str]:
        """Facts and figures of a broker, by name (code 28; Java: ``fetchBrokerRuntimeStats``)."""
        body: KVTable | None = await self.body_of(address, Code.GET_BROKER_RUNTIME_INFO)
        return (body.table if body else None) or {}

    async def stats(self, address: str, stats_name: str, stats_key: str) -> BrokerStatsData:
        """One of its statistics over a minute, an hour and a day (code 315.

        Java: ``viewBrokerStatsData``).

        Args:
            address: of the broker.
            stats_name: such as ``TOPIC_PUT_NUMS`` or ``GROUP_GET_NUMS``.
            stats_key: a topic, or ``topic@group``.

        Raises:
            BrokerError: 1, nothing of that was counted yet.
        """
        header = ViewBrokerStatsDataRequestHeader(stats_name=stats_name, stats_key=stats_key)
        found: BrokerStatsData
        found = await self.body_of(address, Code.VIEW_BROKER_STATS_DATA, header)
        return found

    async def consume_stats(self, address: str, *, order: bool = False) -> ConsumeStatsList:
        """How far every group is (code 317; Java: ``fetchConsumeStatsInBroker``).

        Args:
            address: of the broker.
            order: of ordered topics only.
        """
        header = GetConsumeStatsInBrokerHeader(is_order=order)
        return (
            await self.body_of(address, Code.GET_BROKER_CONSUME_STATS, header) or ConsumeStatsList()
        )

    async def consume_queue(
        self, address: str, queue: MessageQueue, index: int, count: int, group: str | None = None
    ) -> QueryConsumeQueueResponseBody | None:
        """Entries of a consume queue, and what a group's filter makes of them (code 321.

        Java: ``queryConsumeQueue``).

        None where the queue has nothing at that place: the broker answers without a body.

        Args:
            address: of the broker.
            queue: which.
            index: the first entry.
            count: how many.
            group: whose filter.

        Raises:
            BrokerError: 17, it has no such topic; 1, the entries cannot be read.
        """
        header = QueryConsumeQueueRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            index=index,
            count=count,
            consumer_group=group,
        )
        found: QueryConsumeQueueResponseBody | None
        found = await self.body_of(address, Code.QUERY_CONSUME_QUEUE, header)
        return found

    async def timer_metrics(self, address: str) -> Mapping[str, int]:
        """How many delayed messages wait, by topic (code 61).

        Raises:
            BrokerError: 1, it keeps no timed messages.
        """
        body: TimerMetricsSerializeWrapper | None
        body = await self.body_of(address, Code.GET_TIMER_METRICS)
        counts = (body.timing_count if body else None) or {}
        return {topic: one.count or 0 for topic, one in counts.items()}

    # ------------------------------------------------------------------ replication

    async def ha_status(self, address: str) -> HARuntimeInfo:
        """How replication goes, seen from a master or from a slave (code 907.

        Java: ``getBrokerHAStatus``).
        """
        found: HARuntimeInfo = await self.body_of(address, Code.GET_BROKER_HA_STATUS)
        return found

    async def epoch_cache(self, address: str) -> EpochEntryCache:
        """Every epoch that a broker of a controller's knows (code 1007.

        Java: ``getBrokerEpochCache``).

        Raises:
            BrokerError: 1, it is not in that mode.
        """
        found: EpochEntryCache = await self.body_of(address, Code.GET_BROKER_EPOCH_CACHE)
        return found

    async def reset_master_flush_offset(self, address: str, offset: int) -> None:
        """Tell a slave how far its master has flushed (code 908; Java: ``resetMasterFlushOffset``).

        Masters do nothing.
        """
        header = ResetMasterFlushOffsetHeader(master_flush_offset=offset)
        await self.ask(address, Code.RESET_MASTER_FLUSH_OFFSET, header)

    # ------------------------------------------------------------------ cleaning up

    async def clean_unused_topics(
        self, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Have queues removed of topics that are gone (code 316).

        Returns the addresses (Java: ``cleanUnusedTopic``).

        ``broker`` and ``cluster`` are meant as in ``Topics``; of a cluster slaves are told too, and
        with neither all brokers of all clusters.
        """
        return await self._clean(Code.CLEAN_UNUSED_TOPIC, broker, cluster)

    async def clean_expired_queues(
        self, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Have queues removed whose messages are gone (code 306.

        Java: ``cleanExpiredConsumerQueue``); as above.
        """
        return await self._clean(Code.CLEAN_EXPIRED_CONSUMEQUEUE, broker, cluster)

    async def delete_expired_commit_log(
        self, *, broker: str | None = None, cluster: str | None = None
    ) -> tuple[str, ...]:
        """Have old files deleted now, rather than at night (code 329.

        Java: ``deleteExpiredCommitLog``); as above.
        """
        return await self._clean(Code.DELETE_EXPIRED_COMMITLOG, broker, cluster)

    async def _clean(self, code: Code, broker: str | None, cluster: str | None) -> tuple[str, ...]:
        if broker is None and cluster is None:
            addresses = await self._clusters.replicas()
        else:
            addresses = await self._clusters.targets(broker, cluster, slaves=True)
        await of_each(addresses, lambda address: self.ask(address, code, within=self.within * 6))
        return addresses

    # ------------------------------------------------------------------ cold data

    async def cold_data_info(self, address: str) -> str:
        """What it does against groups that read old messages, as JSON text (code 2003.

        Java: ``getColdDataFlowCtrInfo``).
        """
        body: bytes | None = await self.body_of(address, Code.GET_COLD_DATA_FLOW_CTR_INFO)
        return (body or b"").decode()

    async def update_cold_data_config(self, address: str, values: Mapping[str, str]) -> None:
        """Bytes of old messages that groups may read, by group (code 2001.

        Java: ``updateColdDataFlowCtrGroupConfig``).
        """
        await self.ask(address, Code.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, None, config_lines(values))

    async def remove_cold_data_config(self, address: str, group: str) -> None:
        """The group has no limit of its own any more (code 2002.

        Java: ``removeColdDataFlowCtrGroupConfig``).
        """
        await self.ask(address, Code.REMOVE_COLD_DATA_FLOW_CTR_CONFIG, None, group)

    async def set_read_ahead_mode(self, address: str, mode: str) -> str | None:
        """Whether the system reads its files ahead: ``0`` yes, ``1`` no (code 2004).

        Returns its remark.

        Java: ``setCommitLogReadAheadMode``.
        """
        answer = await self.ask(address, Code.SET_COMMITLOG_READ_MODE, {READ_AHEAD_MODE: mode})
        return answer.command.remark

    # ------------------------------------------------------------------ containers

    async def add_to_container(self, address: str, config_path: str) -> None:
        """Have a container start a broker (code 902; Java: ``addBrokerToContainer``)."""
        await self.ask(address, Code.ADD_BROKER, AddBrokerRequestHeader(config_path=config_path))

    async def remove_from_container(
        self, address: str, cluster: str, broker_name: str, broker_id: int
    ) -> None:
        """Have a container stop a broker (code 903; Java: ``removeBrokerFromContainer``)."""
        header = RemoveBrokerRequestHeader(
            broker_cluster_name=cluster, broker_name=broker_name, broker_id=broker_id
        )
        await self.ask(address, Code.REMOVE_BROKER, header)
