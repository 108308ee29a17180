"""How far topics and groups are: 202, 208, 303 and 317.

Java: ``AdminBrokerProcessor``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.queries import (
    ConsumeStats,
    ConsumeStatsList,
    GetConsumeStatsRequestHeader,
    OffsetWrapper,
    QueryConsumeTimeSpanBody,
    QueryConsumeTimeSpanRequestHeader,
    QueueTimeSpan,
)
from rocketwire.messages.topics import TopicOffset, TopicStatsTable
from rocketwire_broker.access.needs import PUB_OR_SUB, SEES_GROUP, SEES_TOPIC, reads
from rocketwire_broker.handlers.fields import require, text, with_body
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

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
    header = decode_header(GetConsumeStatsRequestHeader, request.ext_fields)
    group = require(header.consumer_group, "consumerGroup")
    listed = [name for name in (header.topic_list or "").split(";") if name]
    return with_body(_stats(broker, group, [header.topic] if header.topic else listed, now))


def _stats(broker: Broker, group: str, topics: list[str], now: int) -> ConsumeStats:
    # no topics means all that the group reads
    table: dict[MessageQueue, OffsetWrapper] = {}
    rate = 0.0
    for topic in topics or broker.offsets.topics_of(group):
        if not _is_read(broker, group, topic):
            continue
        table |= _progress(broker, group, topic)
        gets = broker.statistics.group_gets.get(f"{topic}@{group}")
        rate += 0.0 if gets is None else gets.rate(now, RATE_MS)
    return ConsumeStats(offset_table=table, consume_tps=rate)


def _is_read(broker: Broker, group: str, topic: str) -> bool:
    online = broker.members.online(group)
    return topic in broker.topics and (online is None or topic in online.subscriptions)


def _progress(broker: Broker, group: str, topic: str) -> dict[MessageQueue, OffsetWrapper]:
    table: dict[MessageQueue, OffsetWrapper] = {}
    for queue_id in range(_topic(broker, topic).read_queue_nums):
        offset = max(0, broker.offsets.get(group, topic, queue_id) or 0)
        pulled = broker.offsets.next_pull(group, topic, queue_id)
        queue = broker.store.queue(topic, queue_id)
        time = None if queue is None or offset == 0 else queue.store_time(offset - 1)
        table[_message_queue(broker, topic, queue_id)] = OffsetWrapper(
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
    stats: list[Mapping[str, tuple[ConsumeStats, ...]]] = []
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
    body = ConsumeStatsList(
        broker_addr=broker.address,
        consume_stats_list=tuple(stats),
        total_diff=total,
        total_inflight_diff=in_flight,
    )
    return with_body(body)


def _all_offsets(stats: tuple[ConsumeStats, ...]) -> Iterator[OffsetWrapper]:
    for of_topic in stats:
        yield from (of_topic.offset_table or {}).values()


@handles(RequestCode.QUERY_CONSUME_TIME_SPAN, needs=SEES_GROUP)
def get_consume_time_span(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    header = decode_header(QueryConsumeTimeSpanRequestHeader, request.ext_fields)
    name, group = require(header.topic, "topic"), require(header.group, "group")
    topic = _topic(broker, name)
    spans: list[QueueTimeSpan] = []
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
            QueueTimeSpan(
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
    return with_body(QueryConsumeTimeSpanBody(consume_time_span_set=tuple(spans)))


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
