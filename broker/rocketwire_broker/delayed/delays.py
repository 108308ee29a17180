"""Messages that are delivered later: after the delay of a level, or at a time unless recalled.

A message with a level waits in the delay topic, in the queue of its level. All messages of a queue
wait equally long, so only the first of each queue is scheduled. A message with a time waits in the
timer topic. A recall is a message there, too: its time is one millisecond after that of the
property ``TIMER_OUT_MS``, and so not after the delivery.

Java: ``ScheduleMessageService``, ``HookUtils``, ``TimerMessageStore``, ``RecallMessageHandle``.
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError, IllegalNameError
from rocketwire.messages import message_const as const
from rocketwire.messages.message_const import DELAY, REAL_QUEUE_ID, REAL_TOPIC
from rocketwire.policy.resource_names import (
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    SEND_FORBIDDEN_TOPICS,
    TIMER_TOPIC,
)
from rocketwire.policy.validation import check_topic_for_broker
from rocketwire_broker.config import Config
from rocketwire_broker.state.response import RefusedError
from rocketwire_broker.storage.message import INT, Message, parse_number, read_stored
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue
    from rocketwire_broker.storage.store import StoredPosition


AT_ONCE: Final = 1_000
"""Messages that are delivered in one go; the others follow a millisecond later, after requests."""


def level_of(properties: Mapping[str, str]) -> int:
    """Return the delay level that a message asks for; 0 or less for none."""
    text = properties.get(DELAY)
    if text is None:
        return 0
    level = parse_number(text, INT)
    if level is None:
        raise DecodeError(f'For input string: "{text[:64]}"', path=DELAY)
    return level


@lru_cache(maxsize=8)
def _delays(levels: str) -> tuple[int, ...]:
    return Config(delay_levels=levels).delays_ms()


def postpone_by_level(broker: Broker, message: Message, level: int, now: int) -> StoredPosition:
    delays = _delays(broker.config.delay_levels)
    level = min(level, len(delays))
    message.properties[REAL_TOPIC] = message.topic
    message.properties[REAL_QUEUE_ID] = str(message.queue_id)
    message.topic, message.queue_id = SCHEDULE_TOPIC, level - 1
    message.tag_code = now + delays[level - 1]
    position = broker.put(message, now)
    schedule_level(broker, level - 1)
    return position


def schedule_level(broker: Broker, queue_id: int, earliest: int = 0) -> None:
    queue = broker.store.queue(SCHEDULE_TOPIC, queue_id)
    if queue is None:
        return
    offset = max(broker.delivered.get(queue_id, 0), queue.min_offset)
    if offset < queue.max_offset:
        broker.schedule.run_by(
            f"delay queue {queue_id}",
            max(queue.tag_code(offset), earliest),
            lambda now: _deliver_level(broker, queue_id, now),
        )


def _deliver_level(broker: Broker, queue_id: int, now: int) -> None:
    queue = broker.store.queue(SCHEDULE_TOPIC, queue_id)
    if queue is None:
        return
    offset = max(broker.delivered.get(queue_id, 0), queue.min_offset)
    remaining = AT_ONCE
    while remaining and offset < queue.max_offset and queue.tag_code(offset) <= now:
        remaining -= 1
        record = queue.record(offset)
        if record is not None:
            broker.put_if_it_fits(restore_message(record), now)
        # storing it may have evicted the next ones
        offset = broker.delivered[queue_id] = max(offset + 1, queue.min_offset)
    broker.delivered[queue_id] = offset
    schedule_level(broker, queue_id, now + 1)


def level_progress(broker: Broker) -> dict[int, tuple[int, int]]:
    """Return for each level with messages how many were delivered, and how many there are."""
    return {
        queue.queue_id + 1: (broker.delivered.get(queue.queue_id, 0), queue.max_offset)
        for queue in broker.store.queues(SCHEDULE_TOPIC)
    }


def restore_message(record: bytes) -> Message:
    """Return a message that waited in another topic, for its own one.

    Its properties stay, as in Java: a consumer can see that it was delayed.
    """
    message = Message.of(read_stored(record))
    message.topic = message.properties[REAL_TOPIC]
    message.queue_id = int(message.properties[REAL_QUEUE_ID])
    message.prepared_transaction_offset = max(message.prepared_transaction_offset, 0)
    return message


TIMER_PROPERTIES: Final = (const.TIMER_DELAY_SEC, const.TIMER_DELAY_MS, const.TIMER_DELIVER_MS)
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
    if message.topic == TIMER_TOPIC or const.TIMER_OUT_MS in properties:
        return None
    name = next((name for name in TIMER_PROPERTIES if name in properties), None)
    if name is None:
        return None
    if not broker.config.timer_enabled:
        remark = "accurate timer message is not enabled, timerWheelEnable is false"
        raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    longest = broker.config.timer_max_delay_ms
    due = parse_number(properties[name])
    if due is not None and name != const.TIMER_DELIVER_MS:
        due = now + due * (1_000 if name == const.TIMER_DELAY_SEC else 1)
    is_recall = const.TIMER_DEL_UNIQKEY in properties
    if due is not None and name == const.TIMER_DELIVER_MS and not is_recall:
        due += broker.clock_advance  # a client's time; a recall has the broker's
    if due is None or due - now > longest or (due <= now and is_recall):
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, ILLEGAL.format(longest))
    return due if due > now else None


def postpone_until(broker: Broker, message: Message, due: int, now: int) -> StoredPosition:
    properties = message.properties
    floor = (due - 1) // PRECISION_MS * PRECISION_MS
    properties[const.TIMER_OUT_MS] = str(floor)
    properties[const.REAL_TOPIC] = message.topic
    properties[const.REAL_QUEUE_ID] = str(message.queue_id)
    message.topic, message.queue_id = TIMER_TOPIC, 0
    position = broker.put(message, now)
    recalled = properties.get(const.TIMER_DEL_UNIQKEY)
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
    queue_id = parse_number(properties.get(const.REAL_QUEUE_ID, ""), INT)
    topic = properties.get(const.REAL_TOPIC, "")
    try:
        check_topic_for_broker(topic)
    except IllegalNameError:
        return
    if queue_id is None or queue_id < 0 or topic in {TIMER_TOPIC, *SEND_FORBIDDEN_TOPICS}:
        return
    floor = parse_number(properties.get(const.TIMER_OUT_MS, "")) or 0
    due = floor + PRECISION_MS
    name = next((name for name in TIMER_PROPERTIES if name in properties), None)
    if name is not None:
        exact = parse_number(properties[name]) or 0
        if name != const.TIMER_DELIVER_MS:
            exact = stored + exact * (1_000 if name == const.TIMER_DELAY_SEC else 1)
        if floor < exact < due:
            due = exact
    recalled = properties.get(const.TIMER_DEL_UNIQKEY)
    if recalled is not None:
        broker.timers.recall(recalled)
        due = floor + PRECISION_MS
    broker.timers.add(due, offset)


def schedule_timers(broker: Broker, earliest: int = 0) -> None:
    due = broker.timers.next_due
    if due is not None:
        broker.schedule.run_by(
            "timers", max(due, earliest), lambda now: _deliver_timers(broker, now)
        )


def _deliver_timers(broker: Broker, now: int) -> None:
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
    recalled = properties.get(const.TIMER_DEL_UNIQKEY)
    if recalled is not None:
        broker.timers.end_recall(recalled)
    elif not _is_recalled(broker, message):
        properties[const.TIMER_ENQUEUE_MS] = str(enqueued)
        properties[const.TIMER_DEQUEUE_MS] = str(now)
        broker.put_if_it_fits(message, now)


def _is_recalled(broker: Broker, message: Message) -> bool:
    # Java's default is the key alone (``appendTopicForTimerDeleteKey``)
    key = message.properties.get(const.UNIQ_KEY, "")
    recalled = broker.timers.is_recalled
    return recalled(key) or recalled(f"{message.topic}+{key}")


class Handle(NamedTuple):
    topic: str
    broker_name: str
    timestamp: int | None  # a time in the second before its delivery; None if it is no number
    unique_key: str


def recall_handle(broker: Broker, properties: Mapping[str, str]) -> str | None:
    """Return the handle by which a waiting message can be recalled; None if it cannot."""
    floor, topic = properties.get(const.TIMER_OUT_MS), properties.get(const.REAL_TOPIC)
    if floor is None or topic is None or topic.startswith(RETRY_PREFIX):
        return None
    after = str(int(floor) + 1)
    words = (_VERSION, topic, broker.config.broker_name, after, properties.get(const.UNIQ_KEY, ""))
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
