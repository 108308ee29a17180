"""Messages with a time of delivery, and their recall.

A message waits in the timer topic. A recall is a message there, too: its time is one millisecond
after that of the property ``TIMER_OUT_MS``, and so not after the delivery.

Java: ``HookUtils.transformTimerMessage``, ``TimerMessageStore``, ``RecallMessageHandle``.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import ResponseCode
from rocketwire.errors import IllegalNameError
from rocketwire.messages.message_const import (
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_DEL_UNIQKEY,
    TIMER_DELAY_MS,
    TIMER_DELAY_SEC,
    TIMER_DELIVER_MS,
    TIMER_DEQUEUE_MS,
    TIMER_ENQUEUE_MS,
    TIMER_OUT_MS,
    UNIQ_KEY,
)
from rocketwire.policy.resource_names import RETRY_PREFIX, SEND_FORBIDDEN_TOPICS, TIMER_TOPIC
from rocketwire.policy.validation import check_topic_for_broker
from rocketwire_broker.delayed.delays import AT_ONCE, restore_message
from rocketwire_broker.state.response import RefusedError
from rocketwire_broker.storage.message import INT, parse_number
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.message import Message
    from rocketwire_broker.storage.queue import Queue
    from rocketwire_broker.storage.store import StoredPosition

TIMER_PROPERTIES: Final = (TIMER_DELAY_SEC, TIMER_DELAY_MS, TIMER_DELIVER_MS)
"""Properties that ask for a time of delivery; the first one that is there counts."""

PRECISION_MS: Final = 1_000  # precision of ``TIMER_OUT_MS`` (Java: ``timerPrecisionMs``)

ILLEGAL: Final = (
    "timer message illegal, the delay time should not be bigger than the max delay {}ms; "
    "or if set del msg, the delay time should be bigger than the current time"
)
INVALID_HANDLE: Final = "recall handle is invalid"
_VERSION: Final = "v1"


def delivery_time(broker: Broker, message: Message, now: int) -> int | None:
    """Return the time of delivery of a message; None if it is delivered at once."""
    properties = message.properties
    if message.topic == TIMER_TOPIC or TIMER_OUT_MS in properties:
        return None
    name = next((name for name in TIMER_PROPERTIES if name in properties), None)
    if name is None:
        return None
    if not broker.config.timer_enabled:
        remark = "accurate timer message is not enabled, timerWheelEnable is false"
        raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    longest = broker.config.timer_max_delay_ms
    due = parse_number(properties[name])
    if due is not None and name != TIMER_DELIVER_MS:
        due = now + due * (1_000 if name == TIMER_DELAY_SEC else 1)
    is_recall = TIMER_DEL_UNIQKEY in properties
    if due is not None and name == TIMER_DELIVER_MS and not is_recall:
        due += broker.clock_advance  # a client's time; a recall has the broker's
    if due is None or due - now > longest or (due <= now and is_recall):
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, ILLEGAL.format(longest))
    return due if due > now else None


def postpone(broker: Broker, message: Message, due: int, now: int) -> StoredPosition:
    properties = message.properties
    floor = (due - 1) // PRECISION_MS * PRECISION_MS
    properties[TIMER_OUT_MS] = str(floor)
    properties[REAL_TOPIC] = message.topic
    properties[REAL_QUEUE_ID] = str(message.queue_id)
    message.topic, message.queue_id = TIMER_TOPIC, 0
    position = broker.put(message, now)
    recalled = properties.get(TIMER_DEL_UNIQKEY)
    if recalled is not None:
        broker.timers.recall(recalled)
        due = floor + PRECISION_MS  # until then the recalled message may come
    broker.timers.add(due, position.queue_offset)
    queue = broker.store.queue(TIMER_TOPIC, 0)
    if queue is not None:
        broker.timers.forget(queue.min_offset, queue.max_offset - queue.min_offset)
    schedule_timers(broker)
    return position


def restore_timer(broker: Broker, message: Message, stored: int, offset: int) -> None:
    """Schedule a message of the timer topic that an earlier run has not delivered."""
    properties = message.properties
    queue_id = parse_number(properties.get(REAL_QUEUE_ID, ""), INT)
    topic = properties.get(REAL_TOPIC, "")
    try:
        check_topic_for_broker(topic)
    except IllegalNameError:
        return
    if queue_id is None or queue_id < 0 or topic in {TIMER_TOPIC, *SEND_FORBIDDEN_TOPICS}:
        return
    floor = parse_number(properties.get(TIMER_OUT_MS, "")) or 0
    due = floor + PRECISION_MS
    name = next((name for name in TIMER_PROPERTIES if name in properties), None)
    if name is not None:
        exact = parse_number(properties[name]) or 0
        if name != TIMER_DELIVER_MS:
            exact = stored + exact * (1_000 if name == TIMER_DELAY_SEC else 1)
        if floor < exact < due:
            due = exact
    recalled = properties.get(TIMER_DEL_UNIQKEY)
    if recalled is not None:
        broker.timers.recall(recalled)
        due = floor + PRECISION_MS
    broker.timers.add(due, offset)


def schedule_timers(broker: Broker, earliest: int = 0) -> None:
    due = broker.timers.next_due
    if due is not None:
        broker.schedule.run_by("timers", max(due, earliest), lambda now: _deliver(broker, now))


def _deliver(broker: Broker, now: int) -> None:
    queue = broker.store.queue(TIMER_TOPIC, 0)
    remaining = AT_ONCE
    while remaining and queue is not None and (offset := broker.timers.pop(now)) is not None:
        remaining -= 1
        try:
            _deliver_one(broker, queue, offset, now)
        except UnwritableError:
            broker.timers.add(now, offset)
            raise
    schedule_timers(broker, now + 1)


def _deliver_one(broker: Broker, queue: Queue, offset: int, now: int) -> None:
    record, enqueued = queue.record(offset), queue.store_time(offset)
    if record is None:
        return
    message = restore_message(record)
    properties = message.properties
    recalled = properties.get(TIMER_DEL_UNIQKEY)
    if recalled is not None:
        broker.timers.end_recall(recalled)
    elif not _is_recalled(broker, message):
        properties[TIMER_ENQUEUE_MS] = str(enqueued)
        properties[TIMER_DEQUEUE_MS] = str(now)
        broker.put_if_it_fits(message, now)


def _is_recalled(broker: Broker, message: Message) -> bool:
    # Java's default is the key alone (``appendTopicForTimerDeleteKey``)
    key = message.properties.get(UNIQ_KEY, "")
    recalled = broker.timers.is_recalled
    return recalled(key) or recalled(f"{message.topic}+{key}")


# ---------------------------------------------------------------------------- recall


class Handle(NamedTuple):
    topic: str
    broker_name: str
    timestamp: int | None  # a time in the second before its delivery; None if it is no number
    unique_key: str


def recall_handle(broker: Broker, properties: Mapping[str, str]) -> str | None:
    """Return the handle by which a waiting message can be recalled; None if it cannot."""
    floor, topic = properties.get(TIMER_OUT_MS), properties.get(REAL_TOPIC)
    if floor is None or topic is None or topic.startswith(RETRY_PREFIX):
        return None
    after = str(int(floor) + 1)
    words = (_VERSION, topic, broker.config.broker_name, after, properties.get(UNIQ_KEY, ""))
    return base64.urlsafe_b64encode(" ".join(words).encode()).decode()


def parse_handle(handle: str) -> Handle:
    try:
        padding = "=" * (-len(handle) % 4)
        data = base64.b64decode(handle + padding, b"-_", validate=True)
        words = data.decode().split(" ")
    except (ValueError, binascii.Error):
        words = []
    if len(words) < 5 or words[0] != _VERSION:
        raise RefusedError(ResponseCode.ILLEGAL_OPERATION, INVALID_HANDLE)
    _, topic, broker_name, timestamp, unique_key = words[:5]
    return Handle(topic, broker_name, parse_number(timestamp), unique_key)
