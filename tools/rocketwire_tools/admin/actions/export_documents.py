"""What ``exportMetadata``, ``exportConfigs`` and ``exportMetrics`` find, as the documents that mqadmin writes.

Java: ``ExportMetadataCommand``, ``ExportConfigsCommand``, ``ExportMetricsCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.client.admin.fanout import call_each, leave_out, read_from_each
from rocketwire.errors import BrokerError, ChannelError, TopicRouteNotFoundError
from rocketwire.messages import to_json
from rocketwire.versions import MQVersion
from rocketwire_tools.admin.cli.exit_status import raise_if_denied
from rocketwire_tools.admin.cli.mqadmin_options import language_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocketwire.client.admin import Admin
    from rocketwire.messages.brokers import BrokerStatsData
    from rocketwire.messages.connections import Connection
    from rocketwire_tools.admin.command import Value

EXPORTED_KEYS: Final[tuple[str, ...]] = (
    "brokerClusterName", "brokerId", "brokerName", "brokerRole", "fileReservedTime", "filterServerNums",
    "flushDiskType", "maxMessageSize", "messageDelayLevel", "msgTraceTopicName", "slaveReadEnable", "traceOn",
    "traceTopicEnable", "useTLS", "autoCreateTopicEnable", "autoCreateSubscriptionGroup",
)  # fmt: skip
"""What ``exportConfigs`` has of a broker's configuration."""

_HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
_SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"

_Document = dict[str, "Value"]


async def metadata_of(
    admin: Admin, targets: Iterable[str], *, special: bool
) -> tuple[dict[str, _Document], dict[str, _Document]]:
    """Topics and groups of brokers, by name; queues of the same name are added up, the rest is the last broker's."""

    async def ask(address: str) -> tuple[Mapping[str, object], Mapping[str, object]]:
        own = await admin.exports.topics(address, special=special)
        return own, await admin.exports.groups(address)

    topics: dict[str, _Document] = {}
    groups: dict[str, _Document] = {}
    for own_topics, own_groups in (await read_from_each(targets, ask)).values():
        for name, topic in own_topics.items():
            _add(topics, name, to_json(topic), ("readQueueNums", "writeQueueNums"))
        for name, group in own_groups.items():
            _add(groups, name, to_json(group), ("retryQueueNums",))
    return topics, groups


def _add(table: dict[str, _Document], name: str, found: _Document, sums: Iterable[str]) -> None:
    known = table.get(name)
    if known is not None:
        for key in sums:
            found[key] = _number(found[key]) + _number(known[key])
    table[name] = found


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


async def configs_of(admin: Admin, cluster: str) -> _Document:
    """Configurations of a cluster's masters, by broker name, and how many servers there are of each kind."""
    masters = await admin.clusters.masters(cluster)
    replicas = await admin.clusters.replicas(cluster)
    configs: dict[str, dict[str, str]] = {}
    for address, found in (await read_from_each(masters, admin.brokers.config)).items():
        kept = {key: found[key] for key in EXPORTED_KEYS if key in found}
        configs[found.get("brokerName", address)] = kept
    return {
        "brokerConfigs": configs,
        "clusterScale": {
            "namesrvSize": len(admin.client.name_servers.each()),
            "masterBrokerSize": len(masters),
            "slaveBrokerSize": len(replicas) - len(masters),
        },
    }


class _Figures(NamedTuple):
    """Of one broker.

    Attributes:
        report: its part of the document.
        tps: messages per second, by kind.
        number: messages of a day, by kind.
    """

    report: _Document
    tps: dict[str, float]
    number: dict[str, int]


async def metrics_of(admin: Admin, cluster: str) -> _Document:
    """Figures of a cluster's brokers, by broker name, and their sums."""
    names = await admin.clusters.broker_names(cluster)
    places = {await admin.clusters.master(name): name for name in names}
    each = await read_from_each(places, lambda address: _figures_of(admin, address))
    total_tps: dict[str, float] = {}
    total_number: dict[str, int] = {}
    for one in each.values():
        for key, value in one.tps.items():
            name_of_sum = f"total{key[0].upper()}{key[1:]}"
            total_tps[name_of_sum] = total_tps.get(name_of_sum, 0.0) + value
        for key, count in one.number.items():
            total_number[key] = total_number.get(key, 0) + count
    return {
        "evaluateReport": {places[address]: one.report for address, one in each.items()},
        "totalData": {"totalTps": total_tps, "totalOneDayNum": total_number},
    }


async def _figures_of(admin: Admin, address: str) -> _Figures:
    groups = await admin.exports.groups(address)
    table = await admin.brokers.runtime_info(address)
    config = await admin.brokers.config(address)
    tps, number = await _rates(admin, address, table)
    report: _Document = {
        "runtimeEnv": _known(
            cpuNum=config.get("clientCallbackExecutorThreads"),
            totalMemKBytes=table.get("totalMemKBytes"),
        ),
        "runtimeQuota": {
            "diskRatio": _known(
                commitLogDiskRatio=table.get("commitLogDiskRatio"),
                consumeQueueDiskRatio=table.get("consumeQueueDiskRatio"),
            ),
            "tps": tps,
            "oneDayNum": number,
            "messageAverageSize": table.get("putMessageAverageSize"),
            "topicSize": len(await admin.exports.topics(address)),
            "groupSize": len(groups),
        },
        "runtimeVersion": {
            "rocketmqVersion": table.get("brokerVersionDesc"),
            "clientInfo": await _clients(admin, groups),
        },
    }
    return _Figures(report, tps, number)


def _known(**members: str | None) -> dict[str, str]:
    """Without what the broker does not tell, as mqadmin leaves it out."""
    return {name: value for name, value in members.items() if value is not None}


async def _rates(
    admin: Admin, address: str, table: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, int]]:
    """Messages per second, and of yesterday; those of transactions and delays of the last day."""
    half = await _counted(admin, address, _HALF_TOPIC)
    delayed = await _counted(admin, address, _SCHEDULE_TOPIC)

    def of_yesterday(way: str) -> int:
        morning = table.get(f"msg{way}TotalTodayMorning", "0")
        return int(morning) - int(table.get(f"msg{way}TotalYesterdayMorning", "0"))

    tps = {
        "normalInTps": rate_of(table.get("putTps")),
        "normalOutTps": rate_of(
            table.get("getTransferredTps") or table.get("getTransferedTps")  # until 4.9
        ),
        "transInTps": _per_second(half),
        "scheduleInTps": _per_second(delayed),
    }
    number = {
        "normalOneDayInNum": of_yesterday("Put"),
        "normalOneDayOutNum": of_yesterday("Get"),
        "transOneDayInNum": of_a_day(half),
        "scheduleOneDayInNum": of_a_day(delayed),
    }
    return tps, number


def rate_of(text: str | None) -> float:
    """The newest of a broker's rates; one that has just started tells blanks."""
    rates = (text or "").split()
    return float(rates[0]) if rates else 0.0


async def _counted(admin: Admin, address: str, topic: str) -> BrokerStatsData | None:
    try:
        return await admin.brokers.stats(address, "TOPIC_PUT_NUMS", topic)
    except BrokerError as error:
        raise_if_denied(error)
        return None  # nothing was counted yet


def _per_second(data: BrokerStatsData | None) -> float:
    return data.stats_minute.tps if data and data.stats_minute else 0.0


def of_a_day(data: BrokerStatsData | None) -> int:
    """Messages of the last 24 hours, or of the longest time that was counted."""
    for item in (data.stats_day, data.stats_hour, data.stats_minute) if data else ():
        if item is not None and item.sum:
            return item.sum
    return 0


async def _clients(admin: Admin, groups: Iterable[str]) -> list[str]:
    """Languages and versions of the members of groups, as ``JAVA%V5_5_0``."""

    async def ask(group: str) -> Sequence[Connection]:
        try:
            return (await admin.consumers.connection(group)).connection_set or ()
        except (BrokerError, TopicRouteNotFoundError):
            return ()
        except ChannelError as error:
            leave_out(group, error)
            return ()

    each = await call_each(groups, ask)
    return sorted(
        {
            f"{language_name(one.language)}%{MQVersion(one.version).name}"
            for members in each.values()
            for one in members
        }
    )
