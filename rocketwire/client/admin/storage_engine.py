"""How a broker stores: the engine of timed messages, and queues and configuration in RocksDB.

Java: ``SwitchTimerEngineSubCommand``, ``CheckRocksdbCqWriteProgressCommand``,
``RocksDBConfigToJsonCommand``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import Asking
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.brokers import (
    CheckRocksdbCqWriteProgressRequestHeader,
    CheckRocksdbCqWriteResult,
    ExportRocksDBConfigToJsonRequestHeader,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

TIMER_ENGINE_TYPE: Final = "E_T"
"""Ext field of code 5001 (Java: ``MessageConst.TIMER_ENGINE_TYPE``)."""


class TimerEngine(StrEnum):
    """What keeps messages until their time comes (Java: ``MessageConst.TIMER_ENGINE_*``)."""

    ROCKSDB_TIMELINE = "R"
    FILE_TIME_WHEEL = "F"


class RocksDBConfig(StrEnum):
    """What a broker may keep in RocksDB (Java: ``ExportRocksDBConfigToJsonRequestHeader.ConfigType``)."""

    TOPICS = "topics"
    SUBSCRIPTION_GROUPS = "subscriptionGroups"
    CONSUMER_OFFSETS = "consumerOffsets"


class Stores(Asking):
    """Calls about the store of a broker, by address.

    All of them raise what ``Asking.ask`` raises.
    """

    async def switch_timer_engine(self, address: str, engine: TimerEngine) -> None:
        """Have a broker keep timed messages elsewhere from now on (code 5001, since 5.5.0.

        Java: ``switchTimerEngine``).

        Raises:
            BrokerError: 29, the broker keeps no timed messages (``timerWheelEnable``), or was
                started without RocksDB for them (``timerRocksDBEnable``); 1, it could not; 3, it is
                older.
        """
        await self.ask(address, Code.SWITCH_TIMER_ENGINE, {TIMER_ENGINE_TYPE: engine.value})

    async def check_rocksdb_queues(
        self, address: str, topic: str = "", *, since: int = 0
    ) -> CheckRocksdbCqWriteResult:
        """Have a broker compare its queues in RocksDB with those in files (code 354.

        Java: ``checkRocksdbCqWriteProgress``).

        The broker only says that it has begun; what it finds is in its log.

        Args:
            address: of the broker.
            topic: only of this one; empty for all.
            since: messages stored not before this, milliseconds since 1970.
        """
        header = CheckRocksdbCqWriteProgressRequestHeader(topic=topic, check_store_time=since)
        found: CheckRocksdbCqWriteResult
        found = await self.body_of(address, Code.CHECK_ROCKSDB_CQ_WRITE_PROGRESS, header)
        return found

    async def export_rocksdb_config(
        self, address: str, kinds: Iterable[RocksDBConfig] = tuple(RocksDBConfig)
    ) -> None:
        """Have a broker write its configuration from RocksDB into JSON files of its own (code 355.

        Java: ``exportRocksDBConfigToJson``).

        A broker that keeps nothing there does nothing, and says that it is done.

        Raises:
            BrokerError: 1, a file could not be written.
        """
        text = "".join(f"{kind.value};" for kind in kinds)
        header = ExportRocksDBConfigToJsonRequestHeader(config_type=text)
        await self.ask(address, Code.EXPORT_ROCKSDB_CONFIG_TO_JSON, header)
