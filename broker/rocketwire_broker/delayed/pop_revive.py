"""A popped message that is not acknowledged in time is delivered again.

It is stored in the retry topic of the group and its topic, from which the group's pops deliver it
under its first topic.

Java: ``PopReviveService.reviveRetry``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages.message_const import FIRST_POP_TIME, ORIGIN_GROUP, POP_CK
from rocketwire.policy.resource_names import RETRY_PREFIX, pop_retry_topic
from rocketwire_broker.delayed.put_hooks import store_again
from rocketwire_broker.storage.message import Message, read_stored

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.pops import HiddenMessage, Origin


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
    if not stored.reconsume_times or FIRST_POP_TIME not in message.properties:
        message.properties[FIRST_POP_TIME] = str(pop_time)
    message.properties[ORIGIN_GROUP] = group
    message.properties.pop(POP_CK, None)
    message.topic, message.queue_id = retry, 0
    message.born_host = broker.store.store_host
    message.reconsume_times += 1
    store_again(broker, message, now)
