"""The families of metrics: names, labels, help texts; and ``Samples``, their values.

Names without ``rocketmq_exporter_`` and ``rocketmq_group_queue_`` are those of Apache's exporter
(``RMQMetricsCollector``). All of them are gauges, as there: a broker that lost its store starts
again at 0.
"""

from __future__ import annotations

from typing import Final, NamedTuple

BROKER: Final = ("cluster", "brokerIP", "broker")
TOPIC: Final = ("cluster", "broker", "topic")
BROKER_GROUP: Final = ("cluster", "broker", "group")
GROUP: Final = ("cluster", "group")
GROUP_TOPIC: Final = ("cluster", "group", "topic")
CONSUMED: Final = ("cluster", "broker", "topic", "group")
QUEUE: Final = ("cluster", "broker", "topic", "group", "queueid")
CLIENT: Final = ("cluster", "clientAddr", "clientId", "group", "topic")


class Family(NamedTuple):
    labels: tuple[str, ...]
    text: str  # what it measures, in one sentence


_OF_CLUSTER: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "rocketmq_broker_tps": (BROKER, "Messages stored per second, over a minute."),
    "rocketmq_broker_qps": (BROKER, "Messages read per second, over a minute."),
    "rocketmq_broker_commitlog_diff": (BROKER, "Bytes that a slave is behind its master."),
    "rocketmq_producer_count": (BROKER_GROUP, "Connected producers of a group."),
    "rocketmq_producer_offset": (TOPIC, "Sum of the next offsets of a topic's queues."),
    "rocketmq_topic_retry_offset": (TOPIC, "The same for the topic of a group's retries."),
    "rocketmq_topic_dlq_offset": (BROKER_GROUP, "The same for a group's dead letters."),
    "rocketmq_producer_tps": (TOPIC, "Messages stored per second, over a minute."),
    "rocketmq_producer_message_size": (TOPIC, "Bytes stored per second, over a minute."),
    "rocketmq_consumer_offset": (CONSUMED, "Sum of the committed offsets of the queues."),
    "rocketmq_message_accumulation": (CONSUMED, "Messages that are not consumed yet."),
    "rocketmq_group_get_latency_by_storetime": (CONSUMED,
        "Age of the oldest message that is not consumed yet, in milliseconds; 0 without one."),
    "rocketmq_consumer_tps": (CONSUMED, "Messages read per second, over a minute."),
    "rocketmq_consumer_message_size": (CONSUMED, "Bytes read per second, over a minute."),
    "rocketmq_send_back_nums": (CONSUMED, "Messages sent back for a retry in a minute."),
    "rocketmq_group_queue_lag_messages": (QUEUE, "Messages of a queue that are not consumed yet."),
    "rocketmq_group_queue_lag_seconds": (QUEUE,
        "Age of the oldest message of a queue that is not consumed yet; 0 without one."),
    "rocketmq_group_diff": (GROUP_TOPIC, "Messages that are not consumed yet."),
    "rocketmq_group_retrydiff": (GROUP_TOPIC, "Retries that are not consumed yet."),
    "rocketmq_group_dlqdiff": (GROUP_TOPIC, "Dead letters that are stored."),
    "rocketmq_group_count": (GROUP, "Connected members of a consumer group."),
    "rocketmq_client_consume_fail_msg_count": (CLIENT,
        "Messages of the last hour whose handler failed, as the member counts them."),
    "rocketmq_client_consume_fail_msg_tps": (CLIENT, "Failed messages per second."),
    "rocketmq_client_consume_ok_msg_tps": (CLIENT, "Consumed messages per second."),
    "rocketmq_client_consume_rt": (CLIENT, "Average time of a handler in milliseconds."),
    "rocketmq_client_consumer_pull_rt": (CLIENT, "Average time of a pull in milliseconds."),
    "rocketmq_client_consumer_pull_tps": (CLIENT, "Pulled messages per second."),
}  # fmt: skip

RUNTIME: Final = {
    "rocketmq_brokeruntime_boot_timestamp": "bootTimestamp",
    "rocketmq_brokeruntime_msg_put_total_today_now": "msgPutTotalTodayNow",
    "rocketmq_brokeruntime_msg_gettotal_today_now": "msgGetTotalTodayNow",
    "rocketmq_brokeruntime_msg_puttotal_todaymorning": "msgPutTotalTodayMorning",
    "rocketmq_brokeruntime_msg_gettotal_todaymorning": "msgGetTotalTodayMorning",
    "rocketmq_brokeruntime_msg_puttotal_yesterdaymorning": "msgPutTotalYesterdayMorning",
    "rocketmq_brokeruntime_msg_gettotal_yesterdaymorning": "msgGetTotalYesterdayMorning",
    "rocketmq_brokeruntime_dispatch_behind_bytes": "dispatchBehindBytes",
    "rocketmq_brokeruntime_dispatch_maxbuffer": "dispatchMaxBuffer",
    "rocketmq_brokeruntime_put_message_size_total": "putMessageSizeTotal",
    "rocketmq_brokeruntime_put_message_average_size": "putMessageAverageSize",
    "rocketmq_brokeruntime_putmessage_times_total": "putMessageTimesTotal",
    "rocketmq_brokeruntime_putmessage_entire_time_max": "putMessageEntireTimeMax",
    "rocketmq_brokeruntime_getmessage_entire_time_max": "getMessageEntireTimeMax",
    "rocketmq_brokeruntime_put_latency_99": "putLatency99",
    "rocketmq_brokeruntime_put_latency_999": "putLatency999",
    "rocketmq_brokeruntime_earliest_message_timestamp": "earliestMessageTimeStamp",
    "rocketmq_brokeruntime_start_accept_sendrequest_time": "startAcceptSendRequestTimeStamp",
    "rocketmq_brokeruntime_pagecache_lock_time_mills": "pageCacheLockTimeMills",
    "rocketmq_brokeruntime_remain_transientstore_buffer_numbs": "remainTransientStoreBufferNumbs",
    "rocketmq_brokeruntime_remain_howmanydata_toflush": "remainHowManyDataToFlush",
    "rocketmq_brokeruntime_commitlog_disk_ratio": "commitLogDiskRatio",
    "rocketmq_brokeruntime_consumequeue_disk_ratio": "consumeQueueDiskRatio",
    "rocketmq_brokeruntime_commitlog_maxoffset": "commitLogMaxOffset",
    "rocketmq_brokeruntime_commitlog_minoffset": "commitLogMinOffset",
    "rocketmq_brokeruntime_send_threadpool_queue_size": "sendThreadPoolQueueSize",
    "rocketmq_brokeruntime_send_threadpoolqueue_capacity": "sendThreadPoolQueueCapacity",
    "rocketmq_brokeruntime_send_threadpoolqueue_headwait_timemills": (
        "sendThreadPoolQueueHeadWaitTimeMills"
    ),
    "rocketmq_brokeruntime_pull_threadpoolqueue_size": "pullThreadPoolQueueSize",
    "rocketmq_brokeruntime_pull_threadpoolqueue_capacity": "pullThreadPoolQueueCapacity",
    "rocketmq_brokeruntime_pull_threadpoolqueue_headwait_timemills": (
        "pullThreadPoolQueueHeadWaitTimeMills"
    ),
    "rocketmq_brokeruntime_query_threadpoolqueue_size": "queryThreadPoolQueueSize",
    "rocketmq_brokeruntime_query_threadpool_queue_capacity": "queryThreadPoolQueueCapacity",
    "rocketmq_brokeruntime_query_threadpoolqueue_headwait_timemills": (
        "queryThreadPoolQueueHeadWaitTimeMills"
    ),
}
"""Family -> the runtime value of a broker (code 28) whose first word it is."""

RATES: Final = {
    "put": ("putTps",),
    "getfound": ("getFoundTps",),
    "getmiss": ("getMissTps",),
    "gettotal": ("getTotalTps",),
    "gettransfered": ("getTransferredTps", "getTransferedTps"),  # the second one before 4.9.3
}
"""Word in the name of a family -> the runtime value with rates over 10, 60 and 600 seconds."""
PERIODS: Final = ("10", "60", "600")

DISTRIBUTION: Final = {
    "<=0ms": "0ms",
    "0~10ms": "0to10ms",
    "10~50ms": "10to50ms",
    "50~100ms": "50to100ms",
    "100~200ms": "100to200ms",
    "200~500ms": "200to500ms",
    "500ms~1s": "500to1s",
    "1~2s": "1to2s",
    "2~3s": "2to3s",
    "3~4s": "3to4s",
    "4~5s": "4to5s",
    "5~10s": "5to10s",
    "10s~": "10stomore",
}
"""Class of ``putMessageDistributeTime`` -> end of the name of a family."""

CAPACITY: Final = {
    "rocketmq_brokeruntime_commitlogdir_capacity_total": "Total",
    "rocketmq_brokeruntime_commitlogdir_capacity_free": "Free",
}
"""Family -> word in ``commitLogDirCapacity``."""


def rate_family(word: str, period: str) -> str:
    return f"rocketmq_brokeruntime_{word}_tps{period}"


def distribution_family(end: str) -> str:
    return f"rocketmq_brokeruntime_pmdt_{end}"


def _runtime_texts() -> dict[str, str]:
    texts = {name: f"{key} of the broker." for name, key in RUNTIME.items()}
    texts |= {
        rate_family(word, period): f"{keys[0]} of the broker over {period} seconds."
        for word, keys in RATES.items()
        for period in PERIODS
    }
    texts |= {
        distribution_family(end): f"Messages of which storing took {key}."
        for key, end in DISTRIBUTION.items()
    }
    texts |= {name: f"{key} bytes of the disk of the commit log." for name, key in CAPACITY.items()}
    return texts


_OF_EXPORTER: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "rocketmq_exporter_up": ((), "1 if a name server answered in this collection."),
    "rocketmq_exporter_broker_up": (BROKER,
        "1 if the broker answered all requests of this collection but those to members."),
    "rocketmq_exporter_broker_info": ((*BROKER, "version"), "1; the broker's version."),
    "rocketmq_exporter_part_complete": ((*BROKER, "part"),
        "1 if a part of this collection is complete, 0 if series of it may be missing."),
    "rocketmq_exporter_failures": ((*BROKER, "part", "error"),
        "Requests of this collection that failed."),
    "rocketmq_exporter_requests": ((), "Requests of this collection."),
    "rocketmq_exporter_series": ((), "Series of this collection."),
    "rocketmq_exporter_dropped_series": ((), "Series left out because of --max-series."),
    "rocketmq_exporter_collection_seconds": ((), "Duration of this collection."),
}  # fmt: skip

FAMILIES: Final = {
    name: Family(labels, text)
    for name, (labels, text) in (
        _OF_CLUSTER
        | {name: (BROKER, text) for name, text in _runtime_texts().items()}
        | _OF_EXPORTER
    ).items()
}
"""All families of a collection, by name."""


MAX_SERIES: Final = 500_000  # default limit of the series of a collection

Labels = tuple[str, ...]


class Samples:
    """Values by family and labels; series beyond a maximum are counted and dropped."""

    def __init__(self, max_series: int = MAX_SERIES) -> None:
        # family -> values of labels -> value
        self.values: dict[str, dict[Labels, float]] = {name: {} for name in FAMILIES}
        self.dropped = 0
        self._max_series = max_series
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def set(self, family: str, labels: Labels, value: float) -> None:
        values = self.values[family]
        if labels not in values:
            if self._count >= self._max_series and not family.startswith("rocketmq_exporter_"):
                self.dropped += 1
                return
            self._count += 1
        values[labels] = value

    def add(self, family: str, labels: Labels, value: float) -> None:
        self.set(family, labels, self.values[family].get(labels, 0) + value)
