"""Delay levels: a message waits in the delay topic, in the queue of its level.

All messages of a queue wait equally long, so only the first of each queue is scheduled.

Java: ``ScheduleMessageService``, ``HookUtils.transformDelayLevelMessage``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.messages.message_const import (
    DELAY,
    REAL_QUEUE_ID,
    REAL_TOPIC,
)
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire_broker.config import Config
from rocketwire_broker.storage.message import INT, Message, parse_number, read_stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_broker.state.broker import Broker
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


def postpone(broker: Broker, message: Message, level: int, now: int) -> StoredPosition:
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
            lambda now: _deliver(broker, queue_id, now),
        )


def _deliver(broker: Broker, queue_id: int, now: int) -> None:
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
