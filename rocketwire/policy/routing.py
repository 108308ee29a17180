"""The queues to publish to and to read from, computed from a topic's route.

Java: ``MQClientInstance.topicRouteData2TopicPublishInfo``, ``topicRouteData2TopicSubscribeInfo``,
``ClientMetadata.topicRouteData2EndpointsForStaticTopic``,
``DefaultMQProducerImpl.tryToFindTopicPublishInfo``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.flags import Perm
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.java_strings import sort_key, split
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.messages.route import QueueData, TopicQueueMappingInfo, TopicRouteData

MASTER_ID: Final = 0
DEFAULT_TOPIC: Final = "TBW102"  # topic whose route is used for a topic that does not exist yet

GLOBAL_SCOPE: Final = "__global__"
# Prefix of the pseudo broker name in the queues of a static topic
MOCK_BROKER_PREFIX: Final = "__syslo__"
NO_BROKER: Final = "__syslo__none__"  # pseudo broker of a static topic's queue that no broker has
MAX_QUEUES: Final = 65_536  # maximum queues of one topic in a valid route; operators create tens

_INTEGER: Final = r"[+-]?[0-9]{1,10}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishInfo:
    """The queues for messages of a topic (Java: ``TopicPublishInfo``)."""

    queues: tuple[MessageQueue, ...] = ()  #: the queues in the order of their turns
    order_topic: bool = False  #: whether an operator has fixed the number and order of the queues
    #: broker of each queue of a static topic; empty for ordinary topics
    broker_of: Mapping[MessageQueue, str] = field(default_factory=dict[MessageQueue, str])

    def broker_name(self, queue: MessageQueue) -> str:
        return self.broker_of.get(queue) or queue.broker_name or ""


def publish_info(topic: str, route: TopicRouteData) -> PublishInfo:
    """Return the queues to publish to.

    Raises:
        DecodeError: the order configuration is invalid, or more than ``MAX_QUEUES`` queues.
    """
    if route.order_topic_conf:
        queues = _parse_order_conf(topic, route.order_topic_conf)
        return PublishInfo(queues=queues, order_topic=True)
    if route.order_topic_conf is None and route.topic_queue_mapping_by_broker:
        broker_of = static_queues(topic, route)
        queues = tuple(sorted(broker_of, key=lambda queue: queue.queue_id))
        return PublishInfo(queues=queues, broker_of=broker_of)
    brokers = {broker.broker_name: broker for broker in reversed(route.broker_datas or ())}
    datas = sorted(route.queue_datas or (), key=lambda data: sort_key(data.broker_name or ""))
    writable: list[MessageQueue] = []
    for data in datas:
        broker = brokers.get(data.broker_name)
        if data.perm & Perm.WRITE and broker and MASTER_ID in (broker.broker_addrs or {}):
            writable += _queues(topic, data.broker_name, data.write_queue_nums)
    return PublishInfo(queues=tuple(writable))


def subscribe_queues(topic: str, route: TopicRouteData) -> tuple[MessageQueue, ...]:
    """Return the queues to read from, each once, also of brokers without a master.

    Raises:
        DecodeError: more than ``MAX_QUEUES`` queues.
    """
    if route.topic_queue_mapping_by_broker:
        return tuple(static_queues(topic, route))
    readable: dict[MessageQueue, None] = {}
    for data in route.queue_datas or ():
        if data.perm & Perm.READ:
            queues = _queues(topic, data.broker_name, data.read_queue_nums)
            readable.update(dict.fromkeys(queues))
    return tuple(readable)


def default_route(route: TopicRouteData, queues: int) -> TopicRouteData:
    """Derive the route of a topic to be created from that of ``DEFAULT_TOPIC``.

    Args:
        route: route of ``DEFAULT_TOPIC``.
        queues: queues that the producer wants; the broker's number is the upper limit.
    """
    datas: list[QueueData] = []
    for data in route.queue_datas or ():
        number = min(queues, data.read_queue_nums)
        datas.append(replace(data, read_queue_nums=number, write_queue_nums=number))
    return replace(route, queue_datas=tuple(datas))


def write_queue_nums(route: TopicRouteData, broker_name: str) -> int | None:
    for data in route.queue_datas or ():
        if data.broker_name == broker_name:
            return data.write_queue_nums
    return None


def master_address(route: TopicRouteData, broker_name: str) -> str | None:
    for broker in route.broker_datas or ():
        if broker.broker_name == broker_name:
            return (broker.broker_addrs or {}).get(MASTER_ID)
    return None


# ---------------------------------------------------------------------------- static topics


def mock_broker_name(scope: str) -> str:
    return MOCK_BROKER_PREFIX + (scope[2:] if scope == GLOBAL_SCOPE else scope)


def static_queues(topic: str, route: TopicRouteData) -> dict[MessageQueue, str]:
    """Return the logical queues of a static topic, each with the broker that has it now.

    If several brokers claim a queue, the mapping with the largest epoch decides.

    Raises:
        DecodeError: more than ``MAX_QUEUES`` queues.
    """
    by_scope: dict[str, list[TopicQueueMappingInfo]] = {}
    for info in (route.topic_queue_mapping_by_broker or {}).values():
        if info.scope is not None:
            by_scope.setdefault(info.scope, []).append(info)
    broker_of: dict[MessageQueue, str] = {}
    for scope, infos in by_scope.items():
        owners = _owners(infos)
        total = max((info.total_queues for info in infos if info.epoch >= -1), default=0)
        for queue in _queues(topic, mock_broker_name(scope), total):
            broker_of[queue] = owners.get(queue.queue_id) or NO_BROKER
    return broker_of


def _owners(infos: list[TopicQueueMappingInfo]) -> dict[int, str | None]:
    owners: dict[int, str | None] = {}
    for info in sorted(infos, key=lambda info: info.epoch):
        owners.update(dict.fromkeys(info.curr_id_map or {}, info.bname))
    return owners


# ---------------------------------------------------------------------------- inside


def _queues(topic: str, broker_name: str | None, queue_count: int) -> list[MessageQueue]:
    if queue_count > MAX_QUEUES:
        raise DecodeError(f"a topic of {queue_count} queues", path="queue_datas")
    return [
        MessageQueue(topic=topic, broker_name=broker_name, queue_id=queue_id)
        for queue_id in range(queue_count)
    ]


def _parse_order_conf(topic: str, text: str) -> tuple[MessageQueue, ...]:
    queues: list[MessageQueue] = []
    for item in split(text, ";"):
        parts = split(item, ":")
        if len(parts) < 2 or not re.fullmatch(_INTEGER, parts[1]):
            raise DecodeError(f"{item[:80]!r}: must be broker:queues", path="order_topic_conf")
        queues += _queues(topic, parts[0], int(parts[1]))
    return tuple(queues)
