"""The tables of a broker as files below ``config``: topics, groups, offsets, pops in order.

Java writes a file some seconds after a change, and that of the topics at once.

Java: ``ConfigManager``, ``TopicConfigManager``, ``SubscriptionGroupManager``,
``ConsumerOffsetManager``, ``ScheduleMessageService``, ``MessageRequestModeManager``,
``QueueLevelConsumerManager``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
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
from rocketwire_broker.files.order_table import encode_pop_orders, read_pop_orders

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
    """A file of a table."""

    name: str
    version: Callable[[Broker], object]  # returns a value that changes with the table
    encode: Callable[[Broker], bytes]  # returns the content of the file


# ---------------------------------------------------------------------------- writing


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


def _topics_version(broker: Broker) -> object:
    return broker.topics.version


def _groups_version(broker: Broker) -> object:
    return broker.groups.version


def _offsets_version(broker: Broker) -> object:
    return broker.offsets.version


def _lmq_offsets_version(broker: Broker) -> object:
    # None, for no file, while there are no LMQs
    return broker.offsets.version if broker.store.lmqs else None


def _delays_version(broker: Broker) -> object:
    return tuple(broker.delivered.items())


def _orders_version(broker: Broker) -> object:
    return broker.pop_orders.changes


AT_ONCE: Final = (Table(TOPICS, _topics_version, _topics),)
"""Files that are written before the answer to the request that changes them."""

SOON: Final = (
    Table(GROUPS, _groups_version, _groups),
    Table(OFFSETS, _offsets_version, _offsets),
    Table(LMQ_OFFSETS, _lmq_offsets_version, _offsets),
    Table(DELAYS, _delays_version, _delays),
    Table(REQUEST_MODES, _request_modes, _request_modes),
    Table(ORDERS, _orders_version, encode_pop_orders),
)
"""Files that are written every few seconds, and at the end."""


# ---------------------------------------------------------------------------- reading


def read_tables(disk: Disk, broker: Broker) -> bool:
    """Give a broker the tables of a folder.

    Returns:
        Whether the table of topics names all topics that were deleted; it does not if a Java broker
        wrote it.
    """
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
