"""Exports: ``exportMetadata``, ``exportConfigs``, ``exportMetrics``, ``exportPopRecord``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client.admin.fanout import call_each, leave_out, read_from_each
from rocketwire.client.periodic import now_millis
from rocketwire.errors import BrokerError, ChannelError, TopicRouteNotFoundError
from rocketwire.messages import to_json
from rocketwire.policy.resource_names import HALF_TOPICS, SCHEDULE_TOPIC
from rocketwire.versions import MQVersion
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import Record, RefusedError, Table, Value, record
from rocketwire_tools.cli.exit_status import raise_if_denied

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping, Sequence

    from rocketwire.client.admin import Admin
    from rocketwire.messages.brokers import BrokerStatsData
    from rocketwire.messages.connections import Connection

EXPORTED_KEYS: Final[tuple[str, ...]] = (
    "brokerClusterName", "brokerId", "brokerName", "brokerRole", "fileReservedTime",
    "filterServerNums", "flushDiskType", "maxMessageSize", "messageDelayLevel", "msgTraceTopicName",
    "slaveReadEnable", "traceOn", "traceTopicEnable", "useTLS", "autoCreateTopicEnable",
    "autoCreateSubscriptionGroup",
)  # fmt: skip
"""Settings of a broker that ``exportConfigs`` exports."""


_Document = dict[str, "Value"]


async def metadata_of(
    admin: Admin, targets: Iterable[str], *, special: bool
) -> tuple[dict[str, _Document], dict[str, _Document]]:
    """Topics and groups by name; the numbers of queues are summed over brokers."""

    async def ask(address: str) -> tuple[Mapping[str, object], Mapping[str, object]]:
        topics_of_broker = await admin.exports.topics(address, special=special)
        return topics_of_broker, await admin.exports.groups(address)

    topics: dict[str, _Document] = {}
    groups: dict[str, _Document] = {}
    for own_topics, own_groups in (await read_from_each(targets, ask)).values():
        for name, topic in own_topics.items():
            _add(topics, name, to_json(topic), ("readQueueNums", "writeQueueNums"))
        for name, group in own_groups.items():
            _add(groups, name, to_json(group), ("retryQueueNums",))
    return topics, groups


def _add(table: dict[str, _Document], name: str, values: _Document, sums: Iterable[str]) -> None:
    earlier = table.get(name)
    if earlier is not None:
        for key in sums:
            values[key] = _number(values[key]) + _number(earlier[key])
    table[name] = values


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


async def configs_of(admin: Admin, cluster: str) -> _Document:
    masters = await admin.clusters.masters(cluster)
    replicas = await admin.clusters.replicas(cluster)
    configs: dict[str, dict[str, str]] = {}
    for address, config in (await read_from_each(masters, admin.brokers.config)).items():
        kept = {key: config[key] for key in EXPORTED_KEYS if key in config}
        configs[config.get("brokerName", address)] = kept
    return {
        "brokerConfigs": configs,
        "clusterScale": {
            "namesrvSize": len(admin.client.name_servers.each()),
            "masterBrokerSize": len(masters),
            "slaveBrokerSize": len(replicas) - len(masters),
        },
    }


class _Metrics(NamedTuple):
    report: _Document  # its part of the document
    tps: dict[str, float]
    number: dict[str, int]  # messages per day by type


async def metrics_of(admin: Admin, cluster: str) -> _Document:
    names = await admin.clusters.broker_names(cluster)
    names_by_address = {await admin.clusters.master(name): name for name in names}
    metrics_by_address = await read_from_each(
        names_by_address, lambda address: _metrics_of_broker(admin, address)
    )
    total_tps: dict[str, float] = {}
    total_number: dict[str, int] = {}
    for metrics in metrics_by_address.values():
        for key, value in metrics.tps.items():
            name_of_sum = f"total{key[0].upper()}{key[1:]}"
            total_tps[name_of_sum] = total_tps.get(name_of_sum, 0.0) + value
        for key, count in metrics.number.items():
            total_number[key] = total_number.get(key, 0) + count
    return {
        "evaluateReport": {
            names_by_address[address]: metrics.report
            for address, metrics in metrics_by_address.items()
        },
        "totalData": {"totalTps": total_tps, "totalOneDayNum": total_number},
    }


async def _metrics_of_broker(admin: Admin, address: str) -> _Metrics:
    groups = await admin.exports.groups(address)
    table = await admin.brokers.runtime_info(address)
    config = await admin.brokers.config(address)
    tps, number = await _rates(admin, address, table)
    report: _Document = {
        "runtimeEnv": _without_none(
            cpuNum=config.get("clientCallbackExecutorThreads"),
            totalMemKBytes=table.get("totalMemKBytes"),
        ),
        "runtimeQuota": {
            "diskRatio": _without_none(
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
    return _Metrics(report, tps, number)


def _without_none(**members: str | None) -> dict[str, str]:
    # Members whose value the broker reported; mqadmin omits the others too
    return {name: value for name, value in members.items() if value is not None}


async def _rates(
    admin: Admin, address: str, table: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, int]]:
    half = await _stats_of(admin, address, HALF_TOPICS[0])
    delayed = await _stats_of(admin, address, SCHEDULE_TOPIC)

    def of_yesterday(operation: str) -> int:
        today = table.get(f"msg{operation}TotalTodayMorning", "0")
        return int(today) - int(table.get(f"msg{operation}TotalYesterdayMorning", "0"))

    tps = {
        "normalInTps": rate_of(table.get("putTps")),
        "normalOutTps": rate_of(
            table.get("getTransferredTps") or table.get("getTransferedTps")  # name until 4.9
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
    """The newest of a broker's rates; 0 if the broker has just started and reports none."""
    rates = (text or "").split()
    return float(rates[0]) if rates else 0.0


async def _stats_of(admin: Admin, address: str, topic: str) -> BrokerStatsData | None:
    try:
        return await admin.brokers.stats(address, "TOPIC_PUT_NUMS", topic)
    except BrokerError as error:
        raise_if_denied(error)
        return None  # the broker has no statistics yet


def _per_second(data: BrokerStatsData | None) -> float:
    return data.stats_minute.tps if data and data.stats_minute else 0.0


def of_a_day(data: BrokerStatsData | None) -> int:
    for item in (data.stats_day, data.stats_hour, data.stats_minute) if data else ():
        if item is not None and item.sum:
            return item.sum
    return 0


async def _clients(admin: Admin, groups: Iterable[str]) -> list[str]:
    async def ask(group: str) -> Sequence[Connection]:
        try:
            return (await admin.consumers.connection(group)).connection_set or ()
        except (BrokerError, TopicRouteNotFoundError):
            return ()
        except ChannelError as error:
            leave_out(group, error)
            return ()

    connections = await call_each(groups, ask)
    return sorted(
        {
            f"{mq.language_name(connection.language)}%{MQVersion(connection.version).name}"
            for members in connections.values()
            for connection in members
        }
    )


async def _export_metadata(admin: Admin, args: Namespace) -> Record:
    targets = await mq.addresses(admin, args)
    topics, groups = await metadata_of(admin, targets, special=args.special_topic)
    document: dict[str, Value] = {}
    if not args.subscription_group:
        document["topicConfigTable"] = topics
    if args.subscription_group or not args.topic:
        document["subscriptionGroupTable"] = groups
    document["exportTime"] = now_millis()
    default_name = "topic" if args.topic else "metadata"
    name = "subscriptionGroup" if args.subscription_group else default_name
    return await _write(document, args.file_path, f"{name}.json")


async def _export_configs(admin: Admin, args: Namespace) -> Record:
    return await _write(await configs_of(admin, args.cluster_name), args.file_path, "configs.json")


async def _export_metrics(admin: Admin, args: Namespace) -> Record:
    return await _write(await metrics_of(admin, args.cluster_name), args.file_path, "metrics.json")


async def _write(document: Mapping[str, Value], folder: str | None, name: str) -> Record:
    if folder is None:
        return Record(document)
    path = trio.Path(folder) / name
    try:
        await path.parent.mkdir(parents=True, exist_ok=True)
        await path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise RefusedError(f"{path}: {error.strerror or error}") from error
    return record(exported=str(path))


async def _export_pop_records(admin: Admin, args: Namespace) -> Table:
    targets = await mq.addresses(admin, args, slaves=True)
    if not args.dry_run:
        targets = tuple(await read_from_each(targets, admin.lite.export_pop_records))
    return Table("brokerAddr dryRun", [(address, args.dry_run) for address in targets])


_NAME: Final = mq.option("-c --clusterName", "name of the cluster", required=True)
_FILE: Final = mq.option(
    "-f --filePath", "folder for mqadmin's file (default: stdout)", metavar="FOLDER"
)

COMMANDS: Final = mq.group_commands(
    "exports",
    mq.broker_command("exportMetadata", "export topics and groups of users as JSON",
        _export_metadata, _FILE, mq.option("-t --topic", "only topics", switch=True),
        mq.option("-g --subscriptionGroup", "only groups", switch=True),
        mq.option("-s --specialTopic", "include retry and dead-letter topics", switch=True),
        collects=True),
    mq.admin_command("exportConfigs", "export main settings of brokers as JSON", _export_configs,
        _NAME, _FILE, collects=True),
    mq.admin_command("exportMetrics", "export metrics of a cluster's brokers as JSON",
        _export_metrics, _NAME, _FILE, collects=True),
    mq.broker_command("exportPopRecord", "make brokers store their pop records",
        _export_pop_records, mq.boolean_option("-d --dryRun", "only list the brokers"),
        collects=True),
)  # fmt: skip
