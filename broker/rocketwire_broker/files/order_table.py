"""``consumerOrderInfo.json``: the last pops in order, and what of them is acknowledged.

Java: ``QueueLevelConsumerManager`` of 5.5.0, ``ConsumerOrderInfoManager`` before it. Offsets after
the first one are written as distances from it, and acknowledgements as bits in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire.store.config_files import split_topic_and_group
from rocketwire.wire.json.fastjson import dumps
from rocketwire_broker.tables.pop_orders import GroupQueue, OrderedPop

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker

MAX_OFFSETS: Final = 64
"""Most messages of a pop in a file: acknowledgements are bits of Java's long."""

_LONG: Final = (1 << 63) - 1


def encode_pop_orders(broker: Broker) -> bytes:
    """Return the content of the file; pops of deleted topics, queues and groups are left out."""
    table: dict[str, dict[int, Mapping[str, object]]] = {}
    for (group, topic, queue_id), pop in broker.pop_orders.items():
        config = broker.topics.get(topic)
        if config is not None and queue_id < config.read_queue_nums and group in broker.groups:
            table.setdefault(f"{topic}@{group}", {})[queue_id] = _document(pop)
    return dumps({"orderInfoCount": len(table), "orderedConsumptionLevel": "QUEUE", "table": table})


def _document(pop: OrderedPop) -> Mapping[str, object]:
    first = pop.offsets[0]
    bits = sum(1 << bit for bit, offset in enumerate(pop.offsets) if offset in pop.acknowledged)
    return {
        "a": pop.attempt_id,
        "cm": bits,
        "i": pop.invisible_time,
        "l": pop.pop_time,
        "o": [first, *(offset - first for offset in pop.offsets[1:])],
        "oc": dict(pop.counts),
        "ot": dict(pop.visible_at) or None,
        "popTime": pop.pop_time,
    }


def read_pop_orders(table: object) -> dict[GroupQueue, OrderedPop]:
    """Return the pops of a file; entries that Java does not write are left out."""
    pops: dict[GroupQueue, OrderedPop] = {}
    for key, queues in _mapping(table).items():
        names = split_topic_and_group(key)
        for text, value in _mapping(queues).items() if names is not None else ():
            queue_id, pop = _number(text), _pop(_mapping(value))
            if names is not None and queue_id is not None and pop is not None:
                topic, group = names
                pops[group, topic, queue_id] = pop
    return pops


def _pop(members: Mapping[str, Any]) -> OrderedPop | None:
    distances = members.get("o")
    pop_time, invisible_time = _number(members.get("popTime")), _number(members.get("i"))
    if not isinstance(distances, list) or pop_time is None or invisible_time is None:
        return None
    numbers = [_number(distance) for distance in cast("list[object]", distances)]
    offsets = [number for number in numbers if number is not None]
    if not offsets or len(offsets) != len(numbers) or len(offsets) > MAX_OFFSETS:
        return None
    offsets[1:] = [offsets[0] + distance for distance in offsets[1:]]
    bits, attempt_id = members.get("cm"), members.get("a")
    bits = bits if isinstance(bits, int) else 0  # negative with the highest bit
    return OrderedPop(
        offsets,
        pop_time,
        invisible_time,
        attempt_id if isinstance(attempt_id, str) else None,
        _numbers(members.get("oc")),
        {offset for bit, offset in enumerate(offsets) if bits >> bit & 1},
        _numbers(members.get("ot")),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _numbers(value: object) -> dict[int, int]:
    pairs = ((_number(key), _number(number)) for key, number in _mapping(value).items())
    return {key: number for key, number in pairs if key is not None and number is not None}


def _number(value: object) -> int | None:
    # a number of Java's type long that is not negative, from a member or a key
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LONG
    return cast("int", value) if is_number else None
