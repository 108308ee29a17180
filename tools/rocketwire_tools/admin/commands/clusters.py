"""All of a cluster at once: ``clusterList``, ``statsAll``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import leave_out, read_from_each
from rocketwire.errors import ChannelError, RocketWireError
from rocketwire_tools.admin.actions.export_documents import of_a_day
from rocketwire_tools.admin.cli.exit_status import Denied, line_of, raise_if_denied
from rocketwire_tools.admin.cli.mqadmin_options import CLUSTER, admin_command, option
from rocketwire_tools.admin.command import Column, Kind, Table, Value

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin
    from rocketwire.messages.brokers import BrokerStatsData

_LOG: Final = logging.getLogger("rocketwire.admin")

_GROUP: Final = "clusters and brokers"
_NUMBER: Final = Kind.NUMBER

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
"""What waits in a broker: requests to send, to pull and to acknowledge, and timed messages."""
_RATES: Final[tuple[Column | str, ...]] = (
    "version", Column("inTps", _NUMBER), Column("outTps", _NUMBER), Column("pcWaitMillis", _NUMBER),
    Column("earliestMessage", Kind.TIME), Column("diskUsed", _NUMBER), "active",
    *(Column(name, _NUMBER) for name in _LOAD),
)  # fmt: skip
_TOTALS: Final = tuple(
    Column(name, _NUMBER)
    for name in ("inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday")
)


# ---------------------------------------------------------------------------- clusters


async def _cluster_list(admin: Admin, wanted: Namespace) -> Table:
    info = await admin.clusters.info()
    rows: list[tuple[Value, ...]] = []
    failed = False
    for cluster, names in sorted((info.cluster_addr_table or {}).items()):
        if wanted.cluster_name not in (None, cluster):
            continue
        for name in sorted(one for one in names if one is not None):
            group = (info.broker_addr_table or {}).get(name)
            for broker_id, address in sorted(
                ((group.broker_addrs if group else None) or {}).items()
            ):
                table: Mapping[str, str] = {}
                try:
                    table = await admin.brokers.runtime_info(address)
                except RocketWireError as error:
                    _LOG.warning("nothing of %s: %s", address, line_of(error))
                    failed = True
                told = _totals(table) if wanted.more_stats else _rates(table)
                rows.append((cluster, name, broker_id, address, *told))
    who = ("clusterName", "brokerName", Column("brokerId", _NUMBER), "addr")
    columns = (*who, *(_TOTALS if wanted.more_stats else _RATES))
    return Table(columns, rows, failed=failed or not rows)


def _number(table: Mapping[str, str], key: str) -> float | None:
    try:
        text = table[key].split()[0]
        return int(text) if text.isdecimal() else round(float(text), 4)
    except (KeyError, IndexError, ValueError):
        return None


def _rates(table: Mapping[str, str]) -> tuple[Value, ...]:
    """Version, messages per second over ten seconds, wait for the page cache, oldest message, disk, whether it is active; load."""
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
    """Messages in and out of yesterday and today."""
    found: list[Value] = []
    for end, start in (("TodayMorning", "YesterdayMorning"), ("TodayNow", "TodayMorning")):
        for way in ("Put", "Get"):
            last = _number(table, f"msg{way}Total{end}")
            first = _number(table, f"msg{way}Total{start}")
            found.append(None if last is None or first is None else int(last - first))
    return tuple(found)


# ---------------------------------------------------------------------------- statistics


async def _counted(
    admin: Admin, places: Mapping[str, str], name: str, key: str
) -> tuple[float, int]:
    tps, number = 0.0, 0

    async def ask(address: str) -> BrokerStatsData:
        return await admin.brokers.stats(address, name, key)

    for address in places.values():
        try:
            (data,) = (await read_from_each((address,), ask)).values()
        except ChannelError as error:
            leave_out(address, error)
            continue
        except RocketWireError as error:
            raise_if_denied(error)
            continue  # nothing was counted there
        tps += data.stats_minute.tps if data.stats_minute else 0.0
        number += of_a_day(data)
    return round(tps, 2), number


async def _stats_all(admin: Admin, wanted: Namespace) -> Table:
    names = [wanted.topic] if wanted.topic is not None else sorted(await admin.topics.names())
    rows: list[tuple[Value, ...]] = []
    denied = Denied()
    for topic in names:
        if topic.startswith(("%RETRY%", "%DLQ%")) and wanted.topic is None:
            continue
        try:
            rows += await _stats_of(admin, topic, only_active=wanted.active_topic)
        except ChannelError as error:
            leave_out(topic, error)
        except RocketWireError as error:  # names of clusters and brokers are topics too
            denied.note(error)
    denied.tell(is_empty=not rows)
    columns = (
        "topic", "consumerGroup", Column("accumulation", _NUMBER), Column("inTps", _NUMBER), Column("outTps", _NUMBER),
        Column("inMsg24Hour", _NUMBER), Column("outMsg24Hour", _NUMBER),
    )  # fmt: skip
    return Table(columns, rows)


async def _stats_of(admin: Admin, topic: str, *, only_active: bool) -> list[tuple[Value, ...]]:
    """A row for each group of a topic."""
    rows: list[tuple[Value, ...]] = []
    places = await admin.clusters.of_topic(topic)
    groups = await admin.topics.consumer_groups(topic)
    in_tps, in_number = await _counted(admin, places, "TOPIC_PUT_NUMS", topic)
    for group in groups or ("",):
        out_tps, out_number, lag = None, None, 0
        if group:
            out_tps, out_number = await _counted(
                admin, places, "GROUP_GET_NUMS", f"{topic}@{group}"
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
    return max(sum(one.broker_offset - one.consumer_offset for one in table.values()), 0)


COMMANDS: Final = (
    admin_command(
        "clusterList", "list clusters and brokers with their rates", _cluster_list, CLUSTER,
        option("-m --moreStats", "messages of yesterday and today instead", switch=True),
        group=_GROUP, epilog="Exit status 1 if a broker does not answer.", repeats=True,
    ),
    admin_command(
        "statsAll", "tell rates and backlogs of all topics and groups", _stats_all,
        option("-a --activeTopic", "only where something was sent or read today", switch=True),
        option("-t --topic", "only this topic"), group=_GROUP, collects=True,
    ),
)  # fmt: skip
