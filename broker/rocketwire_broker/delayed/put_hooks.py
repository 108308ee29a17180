"""Where a message goes when it is stored: into its queue, or another way first.

Messages with a delay or a time of delivery and half messages of transactions wait in other topics.

Java: ``HookUtils.handleScheduleMessage``, ``DefaultMessageStore.asyncPutMessage``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages.message_const import DELAY
from rocketwire.policy.resource_names import DLQ_PREFIX
from rocketwire_broker.delayed import delays, transactions
from rocketwire_broker.state.response import RefusedError

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.message import Message
    from rocketwire_broker.storage.store import StoredPosition

DLQ_QUEUES = 1  # queues of a dead-letter topic


def store_sent(broker: Broker, message: Message, now: int) -> StoredPosition:
    """Store a message of a producer, as ``store_message`` does; it may begin a transaction."""
    if transactions.is_half(message):
        return transactions.prepare(broker, message, now)
    return store_message(broker, message, now)


def store_message(broker: Broker, message: Message, now: int) -> StoredPosition:
    """Store a message in its queue, now or when its delay is over."""
    level = delays.level_of(message.properties)
    if level > 0:
        for name in delays.TIMER_PROPERTIES:
            message.properties.pop(name, None)
        return delays.postpone_by_level(broker, message, level, now)
    due = delays.delivery_time(broker, message, now)
    if due is not None:
        return delays.postpone_until(broker, message, due, now)
    return broker.put(message, now)


def store_again(broker: Broker, message: Message, now: int) -> StoredPosition | None:
    """Store a message for which no request is answered; None if it is too large, and lost.

    As in Java, a message with a delay level waits once more. A time that is no number, which items
    of batches may have, is ignored.
    """
    try:
        return store_message(broker, message, now)
    except (RefusedError, DecodeError):
        return broker.put_if_it_fits(message, now)
    except EncodeError:
        return None


def make_dead_letter(broker: Broker, message: Message, group: str, now: int) -> None:
    topic = f"{DLQ_PREFIX}{group}"
    broker.topics.create_for_group(topic, DLQ_QUEUES, now)
    message.topic, message.queue_id = topic, 0
    message.properties[DELAY] = "-1"
