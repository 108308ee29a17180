"""Brokers as processes: containers, configuration, statistics and maintenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rocketwire.messages._codec.fields import (
    BOXED_LONG,
    CLOCKED_LONG,
    DOUBLE,
    INT,
    LONG,
    STRING,
    ext,
    mapping,
    member,
    record,
)
from rocketwire.messages.topic_config import DataVersion
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBrokerRequestHeader:
    """Starts a broker in a container (code 902)."""

    config_path: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveBrokerRequestHeader:
    """Stops a broker in a container (code 903)."""

    broker_name: str | None = ext(STRING, required=True)
    broker_cluster_name: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConfigResponseHeader:
    """Version of the configuration in the body (code 26)."""

    version: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBrokerStatsDataRequestHeader:
    """Asks for one statistic (code 315)."""

    stats_name: str | None = ext(STRING, required=True)
    stats_key: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatsItem:
    """A statistic over a period of time."""

    avgpt: float = member(DOUBLE)
    sum: int = member(LONG)
    tps: float = member(DOUBLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatsData:
    """A statistic over a minute, an hour and a day."""

    stats_day: BrokerStatsItem | None = member(record(BrokerStatsItem))
    stats_hour: BrokerStatsItem | None = member(record(BrokerStatsItem))
    stats_minute: BrokerStatsItem | None = member(record(BrokerStatsItem))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRocksdbCqWriteProgressRequestHeader:
    """Asks whether the RocksDB consume queue matches the files (code 354)."""

    topic: str | None = ext(STRING, required=True)
    check_store_time: int = ext(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRocksdbCqWriteResult:
    """Whether the two consume queues match. Java: ``common.CheckRocksdbCqWriteResult``."""

    check_result: str | None = member(STRING)
    check_status: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRocksDBConfigToJsonRequestHeader:
    """Tells the broker to write its RocksDB configuration to files (code 355)."""

    config_type: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerMetric:
    """Number of waiting timed messages of a topic. Java: ``store.timer.TimerMetrics.Metric``."""

    java_name: ClassVar[str] = "TimerMetrics.Metric"

    count: int | None = member(BOXED_LONG, default=0)
    time_stamp: int | None = member(CLOCKED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerMetricsSerializeWrapper:
    """Number of waiting timed messages, by topic (code 61).
    Java: ``store.timer.TimerMetrics.TimerMetricsSerializeWrapper``."""

    java_name: ClassVar[str] = "TimerMetrics.TimerMetricsSerializeWrapper"

    data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    timing_count: Mapping[str, TimerMetric] | None = member(
        mapping(STRING, record(TimerMetric), concurrent=True), default={}
    )
