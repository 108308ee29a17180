"""Popped messages: a message that is not acknowledged in time is delivered again; the log of pops.

It is stored in the retry topic of the group and its topic, from which the pops of the group deliver
it under its first topic. A broker whose messages outlive it logs pops and acknowledgements as
messages of a system topic, every few seconds and only those that are not over, so that it, or a
Java broker, knows later which popped messages were not acknowledged.

Java: ``PopReviveService``, ``PopBufferMergeService``, ``PopMessageProcessor.buildCkMsg``.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import RETRY_PREFIX, pop_retry_topic
from rocketwire.store import pops as log
from rocketwire_broker.delayed.put_hooks import store_again, store_message
from rocketwire_broker.state.response import RefusedError
from rocketwire_broker.storage.message import Message, read_stored
from rocketwire_broker.tables.pops import HiddenMessage, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_broker.state.broker import Broker


def hide(broker: Broker, message: HiddenMessage, origin: Origin) -> None:
    known = broker.pops.take(message)
    if known is not None:
        broker.schedule.cancel(known)
    timer = broker.schedule.at(origin.due, lambda now: return_message(broker, message, now))
    broker.pops.hide(message, timer, origin)


def show(broker: Broker, message: HiddenMessage) -> bool:
    """End the time of a message without a redelivery; return whether it was hidden."""
    timer = broker.pops.take(message)
    if timer is None:
        return False
    broker.schedule.cancel(timer)
    return True


def wake_at(broker: Broker, topic: str, queue_id: int, due: int) -> None:
    broker.schedule.at(due, lambda now: broker.store.arrivals.add((topic, queue_id)))


def wake_ordered_pops(broker: Broker, now: int) -> None:
    """Let pops read the queues of an earlier run's ordered pops when those are visible again."""
    for (_, topic, queue_id), pop in broker.pop_orders.items():
        if pop.visible_time() > now:
            wake_at(broker, topic, queue_id, pop.visible_time())


def forget(broker: Broker, *, topic: str | None = None, group: str | None = None) -> None:
    broker.pop_orders.discard(group, topic)
    timers = broker.pops.discard(lambda hidden: topic == hidden.topic or group == hidden.group)
    for timer in timers:
        broker.schedule.cancel(timer)


def return_message(broker: Broker, hidden: HiddenMessage, now: int) -> None:
    if hidden in broker.pops:  # it was not acknowledged since the disk was full
        _store_in_retry_topic(broker, hidden, now)
        broker.pops.take(hidden)


def _store_in_retry_topic(broker: Broker, hidden: HiddenMessage, now: int) -> None:
    group, topic, queue_id, offset, pop_time = hidden
    queue = broker.store.queue(topic, queue_id)
    record = None if queue is None else queue.record(offset)
    if record is None or topic not in broker.topics:
        return  # it has expired, or its topic was deleted
    stored = read_stored(record)
    message = Message.of(stored)
    retry = topic if topic.startswith(RETRY_PREFIX) else pop_retry_topic(group, topic)
    if broker.topics.create_for_group(retry, 1, now) is None:
        return
    if not stored.reconsume_times or const.FIRST_POP_TIME not in message.properties:
        message.properties[const.FIRST_POP_TIME] = str(pop_time)
    message.properties[const.ORIGIN_GROUP] = group
    message.properties.pop(const.POP_CK, None)
    message.topic, message.queue_id = retry, 0
    message.born_host = broker.store.store_host
    message.reconsume_times += 1
    store_again(broker, message, now)


ACK_INTERVAL_MS: Final = 1_000
"""Time before the end of a pop's time at which its record is due (``ackTimeInterval``)."""

_AT_ONCE: Final = 32  # messages that one record names


class _Batch(NamedTuple):
    group: str
    topic: str
    queue_id: int
    pop_time: int
    origin: Origin


Batches = dict[_Batch, list[HiddenMessage]]


def log_pops(broker: Broker, now: int) -> None:
    pops = broker.pops
    for batch, messages in _batches(pops.unlogged):
        _write_check_point(broker, batch, messages, now)
        pops.note_logged(messages)
    for batch, messages in _batches(pops.ended):
        _write_acks(broker, batch, messages, now)
        for message in messages:
            del pops.ended[message]


def _batches(
    messages: dict[HiddenMessage, Origin],
) -> Iterator[tuple[_Batch, list[HiddenMessage]]]:
    batches: Batches = {}
    for message, origin in messages.items():
        group, topic, queue_id, _, pop_time = message
        batches.setdefault(_Batch(group, topic, queue_id, pop_time, origin), []).append(message)
    for batch, all_of_it in batches.items():
        items = iter(all_of_it)
        while part := list(islice(items, _AT_ONCE)):
            yield batch, part


def _write_check_point(
    broker: Broker, batch: _Batch, messages: list[HiddenMessage], now: int
) -> None:
    start, due = batch.origin.start_offset, batch.origin.due
    value = {
        "bm": 0,
        "bn": broker.config.broker_name,
        "c": batch.group,
        "d": [message.queue_offset - start for message in messages],
        "it": due - batch.pop_time,
        "n": len(messages),
        "pt": batch.pop_time,
        "q": batch.queue_id,
        "reviveTime": due,
        "ro": 0,
        "so": start,
        "sp": False,
        "t": batch.topic,
    }
    _write(broker, batch, value, log.CHECK_POINT_TAG, start, due - ACK_INTERVAL_MS, now)


def _write_acks(broker: Broker, batch: _Batch, messages: list[HiddenMessage], now: int) -> None:
    offsets = [message.queue_offset for message in messages]
    first = offsets[0] if len(offsets) == 1 else -1
    value = {
        "ao": first,
        **({} if len(offsets) == 1 else {"aol": offsets}),
        "bn": broker.config.broker_name,
        "c": batch.group,
        "pt": batch.pop_time,
        "q": batch.queue_id,
        "so": batch.origin.start_offset,
        "t": batch.topic,
    }
    tag = log.ACK_TAGS[len(offsets) > 1]
    _write(broker, batch, value, tag, first, batch.origin.due, now)


def _write(
    broker: Broker,
    batch: _Batch,
    value: dict[str, Any],
    tag: str,
    offset: int,
    due: int,
    now: int,
) -> None:
    group, topic, queue_id, pop_time, origin = batch
    name = log.CHECK_POINT_TAG if tag == log.CHECK_POINT_TAG else log.ACK_TAGS[0]
    names = (topic, queue_id, offset, group, pop_time, broker.config.broker_name, name)
    properties = {
        const.TAGS: tag,
        const.TIMER_DELIVER_MS: str(due),
        const.UNIQ_KEY: "@".join(map(str, names)),
    }
    message = Message(
        topic=f"{log.REVIVE_LOG}{broker.config.cluster_name}",
        queue_id=max(0, origin.revive_queue_id),
        body=json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(),
        properties=properties,
        born_host=broker.store.store_host,
        born_timestamp=now,
    )
    try:
        store_message(broker, message, now)
    except RefusedError:  # it is due later than timers may be
        message.properties.pop(const.TIMER_DELIVER_MS)
        broker.put(message, now)


class PopLog:
    def __init__(self) -> None:
        self._due: dict[tuple[log.Pop, int], Origin] = {}

    def add(self, tag: str, body: bytes, revive_queue_id: int) -> None:
        if tag == log.CHECK_POINT_TAG:
            point = log.decode_check_point(body)
            if point is not None:
                due = point.pop.pop_time + point.invisible_time
                origin = Origin(point.pop.start_offset, revive_queue_id, due)
                self._due.update({(point.pop, offset): origin for offset in point.offsets})
        elif tag in log.ACK_TAGS:
            acks = log.decode_acks(body)
            if acks is not None:
                for offset in acks.offsets:
                    self._due.pop((acks.pop, offset), None)

    def hide_all(self, broker: Broker) -> None:
        messages: list[HiddenMessage] = []
        for (pop, offset), origin in self._due.items():
            message = HiddenMessage(pop.group, pop.topic, pop.queue_id, offset, pop.pop_time)
            hide(broker, message, origin)
            messages.append(message)
        broker.pops.note_logged(messages)
