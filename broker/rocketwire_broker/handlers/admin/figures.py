"""Settings (25, 26), figures of the broker (28, 45, 61, 315, 907), figures of topics and groups
(202, 208, 303, 317), and upkeep of files, for which there is little to do.

Limits for groups that read cold data (2001 to 2003) are kept and shown, and have no effect.

Java: ``AdminBrokerProcessor``, ``ColdDataCgCtrService``, ``PopConsumerService``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.connection.guards import exceeds
from rocketwire.errors import IllegalValueError
from rocketwire.messages import decode_header
from rocketwire.messages import queries as bodies
from rocketwire.messages.brokers import (
    BrokerStatsData,
    BrokerStatsItem,
    TimerMetricsSerializeWrapper,
)
from rocketwire.messages.config_text import read_config
from rocketwire.messages.ha import HARuntimeInfo
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import DelayOffsetSerializeWrapper
from rocketwire.messages.topic_config import DataVersion
from rocketwire.messages.topics import TopicOffset, TopicStatsTable
from rocketwire_broker.access.needs import PUB_OR_SUB, SEES_GROUP, SEES_TOPIC, reads
from rocketwire_broker.config import is_fixed, read_settings, write_settings
from rocketwire_broker.delayed.delays import level_progress
from rocketwire_broker.handlers.requests import group_problem, handles, require, text, with_body
from rocketwire_broker.state.response import NOT_SET, SUCCESS, RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.state.statistics import Count
    from rocketwire_broker.tables.members import Peer


BLACK_LIST: Final = frozenset({"configBlackList", "brokerConfigPath", "storePathRootDir"})

_POOLS: Final = {
    "send": "10000",
    "pull": "100000",
    "litePull": "100000",
    "query": "20000",
    "ack": "100000",
}
"""Java's pools of threads and the requests that wait for one; here one thread does all."""

_ZEROS: Final = (
    "EndTransactionQueueSize dispatchBehindBytes dispatchMaxBuffer getMessageEntireTimeMax "
    "msgGetTotalTodayMorning msgGetTotalYesterdayMorning msgPutTotalTodayMorning "
    "msgPutTotalYesterdayMorning pageCacheLockTimeMills putMessageEntireTimeMax "
    "putMessageFailedTimes startAcceptSendRequestTimeStamp timerCongestNum timerOffsetBehind "
    "timerReadBehind"
)
_ZERO_RATES: Final = (
    "commitLogDiskRatio consumeQueueDiskRatio putLatency99 putLatency999 timerDequeueTps "
    "timerEnqueueTps"
)
_CONSTANT_FIGURES: Final = {
    **dict.fromkeys(_ZEROS.split(), "0"),
    **dict.fromkeys(_ZERO_RATES.split(), "0.0"),
    "EndTransactionThreadPoolQueueCapacity": "100000",
    "brokerActive": "true",
    "brokerVersionDesc": "V5_5_0",
    "commitLogDirCapacity": "Total : 0 MiB, Free : 0 MiB.",
    "getMissTps": "0.0 0.0 0.0",
    "putMessageDistributeTime": "",
    "remainHowManyDataToFlush": "0 B",
    "remainTransientStoreBufferNumbs": "2147483647",
    **{f"{name}ThreadPoolQueueSize": "0" for name in _POOLS},
    **{f"{name}ThreadPoolQueueCapacity": size for name, size in _POOLS.items()},
    **{f"{name}ThreadPoolQueueHeadWaitTimeMills": "0" for name in _POOLS},
}
"""Figures of 28 that measure what this broker does not have."""

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
    return {
        "bootTimestamp": str(broker.started),
        "commitLogMaxOffset": str(store.next_physical),
        "commitLogMinOffset": str(store.first_physical),
        "earliestMessageTimeStamp": str(store.earliest_store_time),
        "getFoundTps": _rates(got, now),
        "getTotalTps": _rates(got, now),
        "getTransferedTps": _rates(got, now),
        "getTransferredTps": _rates(got, now),
        "msgGetTotalTodayNow": str(got.total),
        "msgPutTotalTodayNow": str(put.total),
        "putMessageAverageSize": str(mean),
        "putMessageSizeTotal": str(statistics.put_bytes),
        "putMessageTimesTotal": str(put.total),
        "putTps": _rates(put, now),
        "runtime": _duration(now - broker.started),
        **levels,
        **_CONSTANT_FIGURES,
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
    table = tables.get(name)
    count = None if table is None else table.get(key)
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


RATE_MS: Final = 60_000  # period of the rates in these tables


@handles(RequestCode.GET_TOPIC_STATS_INFO, needs=SEES_TOPIC)
def get_topic_stats(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    name = text(request.ext_fields or {}, "topic")
    topic = _topic(broker, name)
    table: dict[MessageQueue, TopicOffset] = {}
    for queue_id in range(max(topic.read_queue_nums, topic.write_queue_nums)):
        queue = broker.store.queue(name, queue_id)
        last = None if queue is None else queue.store_time(queue.max_offset - 1)
        table[_message_queue(broker, name, queue_id)] = TopicOffset(
            min_offset=0 if queue is None else queue.min_offset,
            max_offset=0 if queue is None else queue.max_offset,
            last_update_timestamp=last or 0,
        )
    puts = broker.statistics.topic_puts.get(name)
    rate = 0.0 if puts is None else puts.rate(now, RATE_MS)
    return with_body(TopicStatsTable(offset_table=table, topic_put_tps=rate))


@handles(RequestCode.GET_CONSUME_STATS, needs=reads("topic", "consumerGroup", PUB_OR_SUB))
def get_consume_stats(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.GetConsumeStatsRequestHeader, request.ext_fields)
    group = require(header.consumer_group, "consumerGroup")
    listed = [name for name in (header.topic_list or "").split(";") if name]
    return with_body(_stats(broker, group, [header.topic] if header.topic else listed, now))


def _stats(broker: Broker, group: str, topics: list[str], now: int) -> bodies.ConsumeStats:
    # no topics means all that the group reads
    table: dict[MessageQueue, bodies.OffsetWrapper] = {}
    rate = 0.0
    for topic in topics or broker.offsets.topics_of(group):
        if not _is_read(broker, group, topic):
            continue
        table |= _progress(broker, group, topic)
        gets = broker.statistics.group_gets.get(f"{topic}@{group}")
        rate += 0.0 if gets is None else gets.rate(now, RATE_MS)
    return bodies.ConsumeStats(offset_table=table, consume_tps=rate)


def _is_read(broker: Broker, group: str, topic: str) -> bool:
    online = broker.members.online(group)
    return topic in broker.topics and (online is None or topic in online.subscriptions)


def _progress(broker: Broker, group: str, topic: str) -> dict[MessageQueue, bodies.OffsetWrapper]:
    table: dict[MessageQueue, bodies.OffsetWrapper] = {}
    for queue_id in range(_topic(broker, topic).read_queue_nums):
        offset = max(0, broker.offsets.get(group, topic, queue_id) or 0)
        pulled = broker.offsets.next_pull(group, topic, queue_id)
        queue = broker.store.queue(topic, queue_id)
        time = None if queue is None or offset == 0 else queue.store_time(offset - 1)
        table[_message_queue(broker, topic, queue_id)] = bodies.OffsetWrapper(
            broker_offset=0 if queue is None else queue.max_offset,
            consumer_offset=offset,
            pull_offset=max(offset, pulled or 0),
            last_timestamp=time or 0,
        )
    return table


@handles(RequestCode.GET_BROKER_CONSUME_STATS)
def get_consume_stats_of_all(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    stats: list[Mapping[str, tuple[bodies.ConsumeStats, ...]]] = []
    total = in_flight = 0
    for config in broker.groups:
        group = str(config.group_name)
        of_group = tuple(
            _stats(broker, group, [topic], now)
            for topic in broker.offsets.topics_of(group)
            if _is_read(broker, group, topic)
        )
        if not of_group:
            continue
        stats.append({group: of_group})
        for offsets in _all_offsets(of_group):
            total += offsets.broker_offset - offsets.consumer_offset
            in_flight += offsets.pull_offset - offsets.consumer_offset
    body = bodies.ConsumeStatsList(
        broker_addr=broker.address,
        consume_stats_list=tuple(stats),
        total_diff=total,
        total_inflight_diff=in_flight,
    )
    return with_body(body)


def _all_offsets(stats: tuple[bodies.ConsumeStats, ...]) -> Iterator[bodies.OffsetWrapper]:
    for of_topic in stats:
        yield from (of_topic.offset_table or {}).values()


@handles(RequestCode.QUERY_CONSUME_TIME_SPAN, needs=SEES_GROUP)
def get_consume_time_span(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    header = decode_header(bodies.QueryConsumeTimeSpanRequestHeader, request.ext_fields)
    name, group = require(header.topic, "topic"), require(header.group, "group")
    topic = _topic(broker, name)
    spans: list[bodies.QueueTimeSpan] = []
    for queue_id in range(topic.write_queue_nums):
        queue = broker.store.queue(name, queue_id)
        first = last = consumed = None
        offset = broker.offsets.get(group, name, queue_id)
        if queue is not None:
            first = queue.store_time(queue.min_offset)
            last = queue.store_time(queue.max_offset - 1)
            consumed = first if not offset else queue.store_time(offset - 1)
        is_behind = queue is not None and consumed is not None and (offset or 0) < queue.max_offset
        next_time = queue.store_time(offset or 0) if queue is not None and is_behind else None
        times = [-1 if time is None else time for time in (first, last, consumed)]
        texts = map(_time_text, times)
        spans.append(
            bodies.QueueTimeSpan(
                message_queue=_message_queue(broker, name, queue_id),
                min_time_stamp=times[0],
                max_time_stamp=times[1],
                consume_time_stamp=times[2],
                min_time_stamp_str=next(texts),
                max_time_stamp_str=next(texts),
                consume_time_stamp_str=next(texts),
                delay_time=0 if next_time is None else now - next_time,
            )
        )
    return with_body(bodies.QueryConsumeTimeSpanBody(consume_time_span_set=tuple(spans)))


def _time_text(milliseconds: int) -> str:
    # Java: ``UtilAll.timeMillisToHumanString2`` with ``#``, in local time
    time = datetime.fromtimestamp(milliseconds // 1000).astimezone()
    return f"{time:%Y-%m-%d#%H:%M:%S}:{milliseconds % 1000:03}"


def _topic(broker: Broker, name: str) -> TopicConfig:
    topic = broker.topics.get(name)
    if topic is None:
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist")
    return topic


def _message_queue(broker: Broker, topic: str, queue_id: int) -> MessageQueue:
    return MessageQueue(topic=topic, broker_name=broker.config.broker_name, queue_id=queue_id)


_GROUP_READ_THRESHOLD: Final = 3_145_728
_READ_THRESHOLD: Final = 104_857_600
"""Java's ``cgColdReadThreshold`` and ``globalColdReadThreshold``."""

_LONGEST: Final = 20
_READ_AHEAD_MODES: Final = frozenset({"0", "1"})
_ROCKSDB_CONFIGS: Final = frozenset({"topics", "subscriptiongroups", "consumeroffsets"})
_ENGINES: Final = frozenset({"R", "F"})


@handles(
    RequestCode.TRIGGER_DELETE_FILES,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
    RequestCode.CLEAN_UNUSED_TOPIC,
    RequestCode.DELETE_EXPIRED_COMMITLOG,
    RequestCode.RESET_MASTER_FLUSH_OFFSET,
)
def nothing_to_do(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    return SUCCESS


@handles(RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG)
def limit_cold_reads(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """2001: bytes of cold data that groups may read, as lines; invalid ones are ignored."""
    limits, response = broker.cold_read_limits, SUCCESS
    for group, limit in read_config(request.body or b"").items():
        if not limit.isdecimal() or len(limit) >= _LONGEST or group_problem(group) is not None:
            continue
        if group in limits or not exceeds(len(limits) + 1, broker.config.max_cold_read_limits):
            limits[group] = int(limit)
        else:
            response = Response(ResponseCode.SYSTEM_ERROR, "too many limits of cold data")
    return response


@handles(RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG)
def end_cold_read_limit(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    broker.cold_read_limits.pop((request.body or b"").decode("utf-8", "replace"), None)
    return SUCCESS


@handles(RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
def get_cold_reads(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """2003: the limits of all groups; nothing was read from a disk."""
    values = {
        "runtimeTable": {},
        "configTable": broker.cold_read_limits,
        "cgColdReadThreshold": _GROUP_READ_THRESHOLD,
        "globalColdReadThreshold": _READ_THRESHOLD,
        "globalAcc": 0,
    }
    return Response(body=(json.dumps(values, separators=(",", ":")).encode(),))


@handles(RequestCode.SET_COMMITLOG_READ_MODE)
def set_read_ahead(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    mode = (request.ext_fields or {}).get("READ_AHEAD_MODE", "")
    if mode in _READ_AHEAD_MODES:
        return Response(remark=f"set commitlog readahead mode success, mode: {mode}")
    if mode.isdecimal():
        remark = "set commitlog readahead mode param value error"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    raise RefusedError(ResponseCode.SYSTEM_ERROR, "set commitlog readahead mode failed")


@handles(RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS)
def check_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """354: compare queues in files and in RocksDB; Java's answer means that the check has begun."""
    return Response(remark=NOT_SET, body=(b'{"checkStatus":2}',))


@handles(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON)
def export_settings(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    names = text(request.ext_fields or {}, "configType").split(";")
    for name in filter(None, names):
        if name.strip().lower() not in _ROCKSDB_CONFIGS:
            remark = f"java.lang.IllegalArgumentException: Unknown config type: {name}"
            raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    return Response(remark="export done.")


@handles(RequestCode.POP_ROLLBACK)
def export_pops(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    return Response(remark=NOT_SET)


@handles(RequestCode.SWITCH_TIMER_ENGINE)
def switch_timers(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    if (request.ext_fields or {}).get("E_T") not in _ENGINES:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, "param error")
    remark = "timerWheelEnable or timerRocksDBEnable is false, can not switch the timer engine"
    raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
