"""The broker itself: 25 and 26 settings, 28 and 315 figures.

Java: ``AdminBrokerProcessor``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import IllegalValueError
from rocketwire.messages.brokers import (
    BrokerStatsData,
    BrokerStatsItem,
    TimerMetricsSerializeWrapper,
)
from rocketwire.messages.config_text import read_config
from rocketwire.messages.ha import HARuntimeInfo
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.offsets import DelayOffsetSerializeWrapper
from rocketwire.messages.topic_config import DataVersion
from rocketwire_broker.config import is_fixed, read_settings, write_settings
from rocketwire_broker.delayed.delays import level_progress
from rocketwire_broker.handlers.fields import text, with_body
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import Response

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.state.statistics import Count
    from rocketwire_broker.tables.peer import Peer

BLACK_LIST: Final = frozenset({"configBlackList", "brokerConfigPath", "storePathRootDir"})

_POOLS: Final = {
    "send": "10000",
    "pull": "100000",
    "litePull": "100000",
    "query": "20000",
    "ack": "100000",
}
"""Java's pools of threads and the requests that wait for one; here one thread does all."""

_PERIODS: Final = (10_000, 60_000, 600_000)  # periods of the rates in 28, in milliseconds
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000


@handles(RequestCode.GET_BROKER_CONFIG)
def get_config(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    values = write_settings(broker.config)
    text_ = "".join(f"{name}={value}\n" for name, value in sorted(values.items()))
    version = {"counter": 0, "stateVersion": 0, "timestamp": broker.started}
    return Response(
        ext_fields={"version": json.dumps(version, separators=(",", ":"))}, body=(text_.encode(),)
    )


@handles(RequestCode.UPDATE_BROKER_CONFIG)
def update_config(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """25: change settings, which take effect at once; unknown ones are ignored, as in Java.

    A setting that a running broker cannot change is refused, unless it has this value already.
    """
    values = read_config(request.body or b"")
    if BLACK_LIST & values.keys():
        remark = "Can not update config in black list."
        return Response(ResponseCode.NO_PERMISSION, remark)
    shown = write_settings(broker.config)
    changes = {name: value for name, value in values.items() if shown.get(name) != value.strip()}
    if fixed := [name for name in changes if is_fixed(name)]:
        remark = f"a running broker cannot change {', '.join(fixed)}"
        return Response(ResponseCode.NO_PERMISSION, remark)
    if broker.store.is_durable and "retainBytes" in changes:
        remark = "retainBytes has no effect with a folder; start the broker with --retain-bytes"
        return Response(ResponseCode.NO_PERMISSION, remark)
    try:
        config, unknown = read_settings(broker.config, changes)
    except IllegalValueError as error:
        return Response(ResponseCode.SYSTEM_ERROR, str(error))
    broker.configure(config, now)
    return Response(remark=f"no effect here: {', '.join(unknown)}"[:500] if unknown else None)


# ---------------------------------------------------------------------------- figures


def _rates(count: Count, now: int) -> str:
    return " ".join(str(count.rate(now, period)) for period in _PERIODS)


def runtime_info(broker: Broker, now: int) -> dict[str, str]:
    store, statistics = broker.store, broker.statistics
    got, put = statistics.got, statistics.put
    mean = statistics.put_bytes / put.total if put.total else 0.0
    levels = {
        f"scheduleMessageOffset_{level}": f"{delivered},{all_}"
        for level, (delivered, all_) in level_progress(broker).items()
    }
    queues = {
        f"{name}ThreadPool{figure}": value
        for name, capacity in _POOLS.items()
        for figure, value in (("QueueSize", "0"), ("QueueCapacity", capacity))
    }
    waits = {f"{name}ThreadPoolQueueHeadWaitTimeMills": "0" for name in _POOLS}
    return {
        "EndTransactionQueueSize": "0",
        "EndTransactionThreadPoolQueueCapacity": "100000",
        "bootTimestamp": str(broker.started),
        "brokerActive": "true",
        "brokerVersionDesc": "V5_5_0",
        "commitLogDirCapacity": "Total : 0 MiB, Free : 0 MiB.",
        "commitLogDiskRatio": "0.0",
        "commitLogMaxOffset": str(store.next_physical),
        "commitLogMinOffset": str(store.first_physical),
        "consumeQueueDiskRatio": "0.0",
        "dispatchBehindBytes": "0",
        "dispatchMaxBuffer": "0",
        "earliestMessageTimeStamp": str(store.earliest_store_time),
        "getFoundTps": _rates(got, now),
        "getMessageEntireTimeMax": "0",
        "getMissTps": "0.0 0.0 0.0",
        "getTotalTps": _rates(got, now),
        "getTransferedTps": _rates(got, now),
        "getTransferredTps": _rates(got, now),
        "msgGetTotalTodayMorning": "0",
        "msgGetTotalTodayNow": str(got.total),
        "msgGetTotalYesterdayMorning": "0",
        "msgPutTotalTodayMorning": "0",
        "msgPutTotalTodayNow": str(put.total),
        "msgPutTotalYesterdayMorning": "0",
        "pageCacheLockTimeMills": "0",
        "putLatency99": "0.0",
        "putLatency999": "0.0",
        "putMessageAverageSize": str(mean),
        "putMessageDistributeTime": "",
        "putMessageEntireTimeMax": "0",
        "putMessageFailedTimes": "0",
        "putMessageSizeTotal": str(statistics.put_bytes),
        "putMessageTimesTotal": str(put.total),
        "putTps": _rates(put, now),
        "remainHowManyDataToFlush": "0 B",
        "remainTransientStoreBufferNumbs": "2147483647",
        "runtime": _duration(now - broker.started),
        "startAcceptSendRequestTimeStamp": "0",
        "timerCongestNum": "0",
        "timerDequeueTps": "0.0",
        "timerEnqueueTps": "0.0",
        "timerOffsetBehind": "0",
        "timerReadBehind": "0",
        **levels,
        **queues,
        **waits,
    }


def _duration(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    days, hours = seconds // 86_400, seconds // 3600 % 24
    return f"[ {days} days, {hours} hours, {seconds // 60 % 60} minutes, {seconds % 60} seconds ]"


@handles(RequestCode.GET_BROKER_RUNTIME_INFO)
def get_runtime_info(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    return with_body(KVTable(table=runtime_info(broker, now)))


@handles(RequestCode.GET_ALL_DELAY_OFFSET)
def get_delay_offsets(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    table = {level: delivered for level, (delivered, _) in level_progress(broker).items()}
    version = DataVersion(counter=0, state_version=0, timestamp=broker.started)
    body = DelayOffsetSerializeWrapper(data_version=version, offset_table=table)
    return with_body(body)


@handles(RequestCode.VIEW_BROKER_STATS_DATA)
def view_stats(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    fields = request.ext_fields or {}
    name, key = text(fields, "statsName"), text(fields, "statsKey")
    tables = {
        "TOPIC_PUT_NUMS": broker.statistics.topic_puts,
        "GROUP_GET_NUMS": broker.statistics.group_gets,
    }
    count = tables.get(name, {}).get(key)
    if count is None:
        return Response(ResponseCode.SYSTEM_ERROR, f"The stats <{name}> <{key}> not exist")
    total = count.total

    def item(period: int) -> BrokerStatsItem:
        rate = count.rate(now, period)
        return BrokerStatsItem(sum=total, tps=rate, avgpt=0.0)

    body = BrokerStatsData(stats_minute=item(_MINUTE), stats_hour=item(_HOUR), stats_day=item(_DAY))
    return with_body(body)


@handles(RequestCode.GET_TIMER_METRICS)
def get_timer_metrics(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """61: waiting messages with a time of delivery, by topic; they are not counted by topic."""
    return with_body(TimerMetricsSerializeWrapper(data_version=DataVersion(timestamp=now)))


@handles(RequestCode.GET_BROKER_HA_STATUS)
def get_ha_status(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    body = HARuntimeInfo(master=True, master_commit_log_max_offset=broker.store.next_physical)
    return with_body(body)


@handles(RequestCode.GET_BROKER_EPOCH_CACHE)
def controller_only(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    remark = "this request only for controllerMode "
    return Response(ResponseCode.SYSTEM_ERROR, remark)
