"""The tables of a broker as files below ``config``: topics, groups, offsets, pops in order.

Java writes a file some seconds after a change, and that of the topics at once.

Java: ``ConfigManager``, ``TopicConfigManager``, ``SubscriptionGroupManager``,
``ConsumerOffsetManager``, ``ScheduleMessageService``, ``MessageRequestModeManager``,
``QueueLevelConsumerManager`` (``ConsumerOrderInfoManager`` before 5.5.0).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from rocketwire.errors import RocketWireError
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.allocation import MessageRequestModeSerializeWrapper
from rocketwire.messages.groups import SubscriptionGroupWrapper
from rocketwire.messages.offsets import (
    ConsumerOffsetSerializeWrapper,
    DelayOffsetSerializeWrapper,
)
from rocketwire.messages.topic_config import DataVersion, TopicConfigSerializeWrapper
from rocketwire.store.config_files import LIMITS, decode_config, split_topic_and_group
from rocketwire.wire.json.fastjson import dumps
from rocketwire_broker.delayed.delays import level_progress
from rocketwire_broker.tables.pops import GroupQueue, OrderedPop

if TYPE_CHECKING:
    from rocketwire_broker.files.disk import Disk
    from rocketwire_broker.state.broker import Broker

LOGGER: Final = logging.getLogger("rocketwire.broker")

FOLDER: Final = "config"
TOPICS: Final = f"{FOLDER}/topics.json"
GROUPS: Final = f"{FOLDER}/subscriptionGroup.json"
OFFSETS: Final = f"{FOLDER}/consumerOffset.json"
LMQ_OFFSETS: Final = f"{FOLDER}/lmqConsumerOffset.json"
"""The offsets of a Java broker with ``enableLmq`` (Java: ``LmqConsumerOffsetManager``)."""
DELAYS: Final = f"{FOLDER}/delayOffset.json"
REQUEST_MODES: Final = f"{FOLDER}/messageRequestMode.json"
ORDERS: Final = f"{FOLDER}/consumerOrderInfo.json"

DELETED: Final = "deletedTopics"
"""Member of the table of topics: for each deleted topic the physical offset after its messages."""

T = TypeVar("T")


class Table(NamedTuple):
    name: str
    version: Callable[[Broker], object]  # returns a value that changes with the table
    encode: Callable[[Broker], bytes]  # returns the content of the file


MAX_OFFSETS: Final = 64
"""Maximum messages of a pop in a file: acknowledgements are bits of Java's long."""

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
    # later offsets are distances from the first, acknowledgements are bits in the same order
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


def _topics(broker: Broker) -> bytes:
    topics = broker.topics
    first = broker.store.first_physical
    topics.deleted = {name: end for name, end in topics.deleted.items() if end > first}
    table = encode_body(
        TopicConfigSerializeWrapper(
            data_version=topics.version,
            topic_config_table={str(topic.topic_name): topic for topic in topics},
        )
    )
    # Java ignores the member, and leaves it out when it writes the file
    return b'{"%s":%s,' % (DELETED.encode(), dumps(topics.deleted)) + table[1:]


def _groups(broker: Broker) -> bytes:
    groups = broker.groups
    return encode_body(
        SubscriptionGroupWrapper(
            data_version=groups.version,
            forbidden_table={
                group: dict.fromkeys(topics, 1) for group, topics in groups.forbidden.items()
            },
            subscription_group_table={str(group.group_name): group for group in groups},
        )
    )


def _offsets(broker: Broker) -> bytes:
    return dumps(broker.offsets.document())


def _delays(broker: Broker) -> bytes:
    table = {level: offset for level, (offset, _) in sorted(level_progress(broker).items())}
    return encode_body(
        DelayOffsetSerializeWrapper(
            data_version=DataVersion(counter=sum(table.values()), timestamp=broker.started),
            offset_table=table,
        )
    )


def _request_modes(broker: Broker) -> bytes:
    return encode_body(
        MessageRequestModeSerializeWrapper(message_request_mode_map=broker.request_modes)
    )


# written before the answer to the request that changes them
AT_ONCE: Final = (Table(TOPICS, lambda broker: broker.topics.version, _topics),)

# written every few seconds, and at the end
SOON: Final = (
    Table(GROUPS, lambda broker: broker.groups.version, _groups),
    Table(OFFSETS, lambda broker: broker.offsets.version, _offsets),
    # None, for no file, while there are no LMQs
    Table(
        LMQ_OFFSETS, lambda broker: broker.offsets.version if broker.store.lmqs else None, _offsets
    ),
    Table(DELAYS, lambda broker: tuple(broker.delivered.items()), _delays),
    Table(REQUEST_MODES, _request_modes, _request_modes),
    Table(ORDERS, lambda broker: broker.pop_orders.changes, encode_pop_orders),
)


def read_tables(disk: Disk, broker: Broker) -> bool:
    """Read the tables of a folder; return whether that of topics names all deleted topics."""
    topics = _read(disk, TOPICS, TopicConfigSerializeWrapper)
    deleted: object = {}
    if topics is not None:
        deleted = (_read_with(disk, TOPICS, decode_config) or {}).get(DELETED)
        broker.topics.restore(topics.topic_config_table or {}, topics.data_version)
    if isinstance(deleted, dict):
        ends = cast("dict[str, Any]", deleted).items()
        broker.topics.deleted = {name: end for name, end in ends if type(end) is int}
    groups = _read(disk, GROUPS, SubscriptionGroupWrapper)
    if groups is not None:
        broker.groups.restore(
            groups.subscription_group_table or {}, groups.forbidden_table or {}, groups.data_version
        )
    _read_offsets(disk, broker)
    delays = _read(disk, DELAYS, DelayOffsetSerializeWrapper)
    if delays is not None:
        broker.delivered.update(
            {level - 1: offset for level, offset in (delays.offset_table or {}).items()}
        )
    orders = _read_with(disk, ORDERS, decode_config)
    if orders is not None:
        broker.pop_orders.restore(read_pop_orders(orders.get("table")))
    modes = _read(disk, REQUEST_MODES, MessageRequestModeSerializeWrapper)
    if modes is not None:
        for topic, by_group in (modes.message_request_mode_map or {}).items():
            broker.request_modes[topic] = dict(by_group)
    return isinstance(deleted, dict)


def _read_offsets(disk: Disk, broker: Broker) -> None:
    # a Java broker writes one of both files: the newer one counts
    tables = [_read(disk, name, ConsumerOffsetSerializeWrapper) for name in (OFFSETS, LMQ_OFFSETS)]
    offsets = max((table for table in tables if table is not None), key=_age, default=None)
    if offsets is None:
        return
    for key, queues in (offsets.offset_table or {}).items():
        names = split_topic_and_group(key)
        if names is not None:
            topic, group = names
            broker.offsets.restore(group, topic, queues)


def _age(offsets: ConsumerOffsetSerializeWrapper) -> tuple[int, int]:
    version = offsets.data_version or DataVersion()
    return version.timestamp or 0, version.counter or 0


def _read(disk: Disk, name: str, cls: type[T]) -> T | None:
    return _read_with(disk, name, lambda data: decode_body(cls, data, limits=LIMITS))


def _read_with(disk: Disk, name: str, decode: Callable[[bytes], T | None]) -> T | None:
    # the copy is read if the file is missing or unreadable, as in Java
    for candidate in (name, f"{name}.bak"):
        path = disk.root / candidate
        try:
            data = path.read_bytes()
            value = decode(data) if data.strip(b"\0 \n") else None
        except FileNotFoundError:
            continue
        except RocketWireError as error:
            LOGGER.warning("%s is not read: %s", path, error)
            continue
        if value is not None:
            return value
    return None
