"""The log of pops: popped messages and their acknowledgements as messages of a system topic.

A broker whose messages outlive it writes them, so that it, or a Java broker, knows later which
messages were popped and not acknowledged. It writes every few seconds only what is not over yet.

Java: ``PopBufferMergeService``, ``PopMessageProcessor.buildCkMsg``, ``PopReviveService``.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.messages.message_const import TAGS, TIMER_DELIVER_MS, UNIQ_KEY
from rocketwire.store.pops import (
    ACK_TAGS,
    CHECK_POINT_TAG,
    REVIVE_LOG,
    Pop,
    decode_acks,
    decode_check_point,
)
from rocketwire_broker.delayed.pop_revive import hide
from rocketwire_broker.delayed.put_hooks import store_message
from rocketwire_broker.state.response import RefusedError
from rocketwire_broker.storage.message import Message
from rocketwire_broker.tables.pops import HiddenMessage, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_broker.state.broker import Broker

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
    _write(broker, batch, value, CHECK_POINT_TAG, start, due - ACK_INTERVAL_MS, now)


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
    tag = ACK_TAGS[len(offsets) > 1]
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
    name = CHECK_POINT_TAG if tag == CHECK_POINT_TAG else ACK_TAGS[0]
    names = (topic, queue_id, offset, group, pop_time, broker.config.broker_name, name)
    properties = {
        TAGS: tag,
        TIMER_DELIVER_MS: str(due),
        UNIQ_KEY: "@".join(map(str, names)),
    }
    message = Message(
        topic=f"{REVIVE_LOG}{broker.config.cluster_name}",
        queue_id=max(0, origin.revive_queue_id),
        body=json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(),
        properties=properties,
        born_host=broker.store.store_host,
        born_timestamp=now,
    )
    try:
        store_message(broker, message, now)
    except RefusedError:  # it is due later than timers may be
        message.properties.pop(TIMER_DELIVER_MS)
        broker.put(message, now)


# ---------------------------------------------------------------------------- reading


class PopLog:
    def __init__(self) -> None:
        self._due: dict[tuple[Pop, int], Origin] = {}

    def add(self, tag: str, body: bytes, revive_queue_id: int) -> None:
        if tag == CHECK_POINT_TAG:
            point = decode_check_point(body)
            if point is not None:
                due = point.pop.pop_time + point.invisible_time
                origin = Origin(point.pop.start_offset, revive_queue_id, due)
                self._due.update({(point.pop, offset): origin for offset in point.offsets})
        elif tag in ACK_TAGS:
            acks = decode_acks(body)
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
