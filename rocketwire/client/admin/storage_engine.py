"""Storage of a broker: engine of timed messages, queues and configuration in RocksDB.

Java: ``SwitchTimerEngineSubCommand``, ``CheckRocksdbCqWriteProgressCommand``,
``RocksDBConfigToJsonCommand``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from rocketwire.client.admin.fanout import AdminCalls
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.brokers import (
    CheckRocksdbCqWriteProgressRequestHeader,
    CheckRocksdbCqWriteResult,
    ExportRocksDBConfigToJsonRequestHeader,
)

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
