"""Summaries of clusters: ``clusterList``, ``statsAll``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import leave_out, read_from_each
from rocketwire.errors import ChannelError, ClusterNotFoundError, RocketWireError
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.commands.exports import of_a_day
from rocketwire_tools.cli.command import CellType, Column, Table, Value, columns
from rocketwire_tools.cli.exit_status import Denied, line_of, raise_if_denied

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin
    from rocketwire.messages.brokers import BrokerStatsData

_LOG: Final = logging.getLogger("rocketwire.admin")

_NUMBER: Final = CellType.NUMBER

_LOAD: Final = {
    "inQueue": "sendThreadPoolQueueSize",
    "inWaitMillis": "sendThreadPoolQueueHeadWaitTimeMills",
    "outQueue": "pullThreadPoolQueueSize",
    "outWaitMillis": "pullThreadPoolQueueHeadWaitTimeMills",
    "ackQueue": "ackThreadPoolQueueSize",
    "ackWaitMillis": "ackThreadPoolQueueHeadWaitTimeMills",
    "timerReadBehind": "timerReadBehind",
    "timerOffsetBehind": "timerOffsetBehind",
    "timerCongestNum": "timerCongestNum",
    "timerEnqueueTps": "timerEnqueueTps",
    "timerDequeueTps": "timerDequeueTps",
}
"""Queued requests (send, pull, acknowledge) and timer messages of a broker."""
_RATES: Final[tuple[Column | str, ...]] = (
    "version", Column("inTps", _NUMBER), Column("outTps", _NUMBER), Column("pcWaitMillis", _NUMBER),
    Column("earliestMessage", CellType.TIME), Column("diskUsed", _NUMBER), "active",
    *(Column(name, _NUMBER) for name in _LOAD),
)  # fmt: skip
_TOTALS: Final = tuple(
    Column(name, _NUMBER)
    for name in ("inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday")
)


async def _list_clusters(admin: Admin, args: Namespace) -> Table:
    info = await admin.clusters.info()
    rows: list[tuple[Value, ...]] = []
    failed = False
    for cluster, names in sorted((info.cluster_addr_table or {}).items()):
        if args.cluster_name not in (None, cluster):
            continue
        for name in sorted(broker_name for broker_name in names if broker_name is not None):
            group = (info.broker_addr_table or {}).get(name)
            for broker_id, address in sorted(
                ((group.broker_addrs if group else None) or {}).items()
            ):
                table: Mapping[str, str] = {}
                try:
                    table = await admin.brokers.runtime_info(address)
                except RocketWireError as error:
                    _LOG.warning("no status: %s", line_of(error))
                    failed = True
                figures = _totals(table) if args.more_stats else _rates(table)
                rows.append((cluster, name, broker_id, address, *figures))
    broker_columns = columns("clusterName brokerName brokerId:number addr")
    headings = (*broker_columns, *(_TOTALS if args.more_stats else _RATES))
    if not rows and args.cluster_name is not None:
        raise ClusterNotFoundError(args.cluster_name)
    return Table(headings, rows, failed=failed, searched="no broker is registered")


def _number(table: Mapping[str, str], key: str) -> float | None:
    try:
        text = table[key].split()[0]
        return int(text) if text.isdecimal() else round(float(text), 4)
    except (KeyError, IndexError, ValueError):
        return None


def _rates(table: Mapping[str, str]) -> tuple[Value, ...]:
    earliest = int(_number(table, "earliestMessageTimeStamp") or 0)
    return (
        table.get("brokerVersionDesc"),
        _number(table, "putTps"),
        _number(
            table, "getTransferredTps" if "getTransferredTps" in table else "getTransferedTps"
        ),  # until 4.9
        _number(table, "pageCacheLockTimeMills"),
        earliest if earliest > 0 else None,
        _number(table, "commitLogDiskRatio"),
        table.get("brokerActive"),
        *(_number(table, key) for key in _LOAD.values()),
    )


def _totals(table: Mapping[str, str]) -> tuple[Value, ...]:
    counts: list[Value] = []
    for end, start in (("TodayMorning", "YesterdayMorning"), ("TodayNow", "TodayMorning")):
        for operation in ("Put", "Get"):
            last = _number(table, f"msg{operation}Total{end}")
            first = _number(table, f"msg{operation}Total{start}")
            counts.append(None if last is None or first is None else int(last - first))
    return tuple(counts)


async def _sum_stats(
    admin: Admin, addresses: Mapping[str, str], name: str, key: str
) -> tuple[float, int]:
    tps, number = 0.0, 0

    async def ask(address: str) -> BrokerStatsData:
        return await admin.brokers.stats(address, name, key)

    for address in addresses.values():
        try:
            (data,) = (await read_from_each((address,), ask)).values()
        except ChannelError as error:
            leave_out(address, error)
            continue
        except RocketWireError as error:
            raise_if_denied(error)
            continue  # the broker has no statistics of it
        tps += data.stats_minute.tps if data.stats_minute else 0.0
        number += of_a_day(data)
    return round(tps, 2), number


async def _show_stats(admin: Admin, args: Namespace) -> Table:
    names = [args.topic] if args.topic is not None else sorted(await admin.topics.names())
    rows: list[tuple[Value, ...]] = []
    denied = Denied()
    for topic in names:
        if topic.startswith(("%RETRY%", "%DLQ%")) and args.topic is None:
            continue
        try:
            rows += await _stats_of(admin, topic, only_active=args.active_topic)
        except ChannelError as error:
            leave_out(topic, error)
        except RocketWireError as error:  # names of clusters and brokers are also topics
            denied.note(error)
    denied.report(is_empty=not rows)
    return Table(
        "topic consumerGroup accumulation:number inTps:number outTps:number "
        "inMsg24Hour:number outMsg24Hour:number",
        rows,
        searched="no topic" + (" has messages of the last 24 hours" if args.active_topic else ""),
    )


async def _stats_of(admin: Admin, topic: str, *, only_active: bool) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    addresses = await admin.clusters.of_topic(topic)
    groups = await admin.topics.consumer_groups(topic)
    in_tps, in_number = await _sum_stats(admin, addresses, "TOPIC_PUT_NUMS", topic)
    for group in groups or ("",):
        out_tps, out_number, lag = None, None, 0
        if group:
            out_tps, out_number = await _sum_stats(
                admin, addresses, "GROUP_GET_NUMS", f"{topic}@{group}"
            )
            lag = await _lag(admin, group, topic)
        if not only_active or in_number or out_number:
            rows.append((topic, group or None, lag, in_tps, out_tps, in_number, out_number))
    return rows


async def _lag(admin: Admin, group: str, topic: str) -> int:
    try:
        table = (await admin.consumers.stats(group, topic)).offset_table or {}
    except ChannelError:
        raise
    except RocketWireError as error:
        raise_if_denied(error)
        return 0
    return max(
        sum(offsets.broker_offset - offsets.consumer_offset for offsets in table.values()), 0
    )


COMMANDS: Final = mq.group_commands(
    "clusters and brokers",
    mq.admin_command("clusterList", "list clusters and brokers with their rates", _list_clusters,
        mq.CLUSTER,
        mq.option("-m --moreStats", "show messages of yesterday and today instead of rates",
            switch=True),
        epilog="Exit status 1 if a broker does not respond.", repeats=True),
    mq.admin_command("statsAll", "show rates and backlogs of all topics and groups", _show_stats,
        mq.option("-a --activeTopic",
            "only topics with messages sent or consumed in the last 24 hours", switch=True),
        mq.option("-t --topic", "only this topic"), collects=True),
)  # fmt: skip
