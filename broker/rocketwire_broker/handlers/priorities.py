"""Messages with a priority: the queue that they go to, and the order in which pops read queues.

A priority is the number of a queue. Pops of a topic whose type is ``PRIORITY`` read the highest
queue first, in the share of pops that the group's ``priority.factor`` sets, and redeliveries last.

Java (since 5.5.0): ``SendMessageProcessor``, ``PopMessageProcessor``, ``TopicMessageType``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.messages.message_const import (
    DELAY,
    PRIORITY,
    SHARDING_KEY,
    TIMER_DELAY_MS,
    TIMER_DELAY_SEC,
    TIMER_DELIVER_MS,
    TRANSACTION_PREPARED,
)
from rocketwire_broker.storage.message import INT, parse_number

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.message import Message

MESSAGE_TYPE: Final = "message.type"
PRIORITY_FACTOR: Final = "priority.factor"
_ALWAYS: Final = 100
_OTHER_TYPES: Final = (DELAY, TIMER_DELIVER_MS, TIMER_DELAY_SEC, TIMER_DELAY_MS, SHARDING_KEY)


def choose_queue_by_priority(message: Message, topic: TopicConfig) -> None:
    """Let a message go to the queue of its priority; one of another type loses its priority."""
    properties = message.properties
    priority = parse_number(properties.get(PRIORITY), INT)
    if priority is None or priority < 0:
        return
    is_half = properties.get(TRANSACTION_PREPARED) == "true"
    if is_half or any(name in properties for name in _OTHER_TYPES):
        del properties[PRIORITY]
    elif topic.write_queue_nums:
        message.queue_id = min(priority, topic.write_queue_nums - 1)


def pops_by_priority(broker: Broker, topic_name: str, group_name: str, turn: int) -> bool:
    """Return whether a pop reads the highest queue first; ``turn`` is the number of the pop."""
    topic = broker.topics.get(topic_name)
    if topic is None or (topic.attributes or {}).get(MESSAGE_TYPE) != "PRIORITY":
        return False
    group = broker.groups.get(group_name)
    attributes = (None if group is None else group.attributes) or {}
    factor = parse_number(attributes.get(PRIORITY_FACTOR))
    return turn % _ALWAYS < (_ALWAYS if factor is None else factor)
