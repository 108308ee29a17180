"""Which broker has a lite topic, if its parent topic is at several.

Java: ``LiteShardingImpl``, Guava's ``Hashing.consistentHash``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.policy.java_strings import string_hash

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker

_FACTOR: Final = 2_862_933_555_777_941_757
_MASK: Final = (1 << 64) - 1


def consistent_hash(number: int, buckets: int) -> int:
    """Return the bucket of a number; few numbers move when the number of buckets changes."""
    state, candidate = number & _MASK, 0
    while True:
        state = (_FACTOR * state + 1) & _MASK
        fraction = ((state >> 33) + 1) / (1 << 31)
        following = int((candidate + 1) / fraction)
        if following >= buckets:
            return candidate
        candidate = following


def broker_of(broker: Broker, parent: str, lite_topic: str) -> str:
    """Return the name of the broker that has a lite topic, by the last known queues."""
    queues = sorted(
        broker.routes.queues(parent),
        key=lambda queue: (queue.broker_name or "", queue.queue_id or 0),
    )
    if not queues or not lite_topic:
        return broker.config.broker_name
    return queues[consistent_hash(string_hash(lite_topic), len(queues))].broker_name or ""


def has_lite_topic(broker: Broker, parent: str, lite_topic: str, queue: str) -> bool:
    """Return whether a broker has, or will have, messages of a lite topic."""
    if broker_of(broker, parent, lite_topic) == broker.config.broker_name:
        return True
    return broker.store.max_offset(queue, 0) > 0
