"""From where a topic lives to the queues that one publishes to and reads from.

Java: ``MQClientInstance.topicRouteData2TopicPublishInfo``, ``topicRouteData2TopicSubscribeInfo``,
``ClientMetadata.topicRouteData2EndpointsForStaticTopic``, ``DefaultMQProducerImpl.tryToFindTopicPublishInfo``.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.flags import Perm
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.java_strings import sort_key, split
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.messages.route import (
        BrokerData,
        QueueData,
        TopicQueueMappingInfo,
        TopicRouteData,
    )

MASTER_ID: Final = 0
DEFAULT_TOPIC: Final = "TBW102"
"""Topic whose route stands in for that of a topic that does not exist yet."""

GLOBAL_SCOPE: Final = "__global__"
MOCK_BROKER_PREFIX: Final = "__syslo__"
"""Beginning of the name that stands for a broker in the queues of a static topic."""

NO_BROKER: Final = "__syslo__none__"
"""Where a queue of a static topic lives that no broker has."""

MAX_QUEUES: Final = 65_536
"""Most queues of one topic that a route is believed to have; an operator creates tens."""

_INTEGER: Final = r"[+-]?[0-9]{1,10}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishInfo:
    """Where messages of a topic may go (Java: ``TopicPublishInfo``).

    Attributes:
        queues: in the order in which they take turns.
        order_topic: the number and order of the queues was fixed by an operator.
        broker_of: where each queue of a static topic really lives; empty for ordinary topics.
    """

    queues: tuple[MessageQueue, ...] = ()
    order_topic: bool = False
    broker_of: Mapping[MessageQueue, str] = field(default_factory=dict[MessageQueue, str])

    def broker_name(self, queue: MessageQueue) -> str:
        """The broker to ask for a queue."""
        return self.broker_of.get(queue) or queue.broker_name or ""


def publish_info(topic: str, route: TopicRouteData) -> PublishInfo:
    """The queues to publish to.

    Raises:
        DecodeError: the order configuration is none, or there are more than ``MAX_QUEUES`` queues.
    """
    if route.order_topic_conf:
        return PublishInfo(queues=_ordered(topic, route.order_topic_conf), order_topic=True)
    if route.order_topic_conf is None and route.topic_queue_mapping_by_broker:
        places = static_queues(topic, route)
        queues = tuple(sorted(places, key=lambda queue: queue.queue_id))
        return PublishInfo(queues=queues, broker_of=places)
    masters = _first_by_name(route.broker_datas or ())
    datas = sorted(route.queue_datas or (), key=lambda data: sort_key(data.broker_name or ""))
    found: list[MessageQueue] = []
    for data in datas:
        broker = masters.get(data.broker_name)
        if data.perm & Perm.WRITE and broker and MASTER_ID in (broker.broker_addrs or {}):
            found += _queues(topic, data.broker_name, data.write_queue_nums)
    return PublishInfo(queues=tuple(found))


def subscribe_queues(topic: str, route: TopicRouteData) -> tuple[MessageQueue, ...]:
    """The queues to read from, each once; a broker without a master is read from its slaves.

    Raises:
        DecodeError: there are more than ``MAX_QUEUES`` queues.
    """
    if route.topic_queue_mapping_by_broker:
        return tuple(static_queues(topic, route))
    found: dict[MessageQueue, None] = {}
    for data in route.queue_datas or ():
        if data.perm & Perm.READ:
            queues = _queues(topic, data.broker_name, data.read_queue_nums)
            found.update(dict.fromkeys(queues))
    return tuple(found)


def default_route(route: TopicRouteData, queues: int) -> TopicRouteData:
    """The route of ``DEFAULT_TOPIC`` as that of a topic to be created.

    Args:
        route: what the name server says of ``DEFAULT_TOPIC``.
        queues: how many queues the producer wants; there are no more than the broker offers.
    """
    datas: list[QueueData] = []
    for data in route.queue_datas or ():
        number = min(queues, data.read_queue_nums)
        datas.append(replace(data, read_queue_nums=number, write_queue_nums=number))
    return replace(route, queue_datas=tuple(datas))


def write_queue_nums(route: TopicRouteData, broker_name: str) -> int | None:
    """How many queues of the topic a broker writes to; None where it has none of it."""
    for data in route.queue_datas or ():
        if data.broker_name == broker_name:
            return data.write_queue_nums
    return None


def master_address(route: TopicRouteData, broker_name: str) -> str | None:
    """Address of a broker's master."""
    for broker in route.broker_datas or ():
        if broker.broker_name == broker_name:
            return (broker.broker_addrs or {}).get(MASTER_ID)
    return None


# ---------------------------------------------------------------------------- static topics


def mock_broker_name(scope: str) -> str:
    """The name that stands for a broker in the queues of a scope."""
    return MOCK_BROKER_PREFIX + (scope[2:] if scope == GLOBAL_SCOPE else scope)


def static_queues(topic: str, route: TopicRouteData) -> dict[MessageQueue, str]:
    """The logical queues of a static topic, and the broker where each lives now.

    Of several brokers that claim a queue, the one of the latest mapping has it.

    Raises:
        DecodeError: there are more than ``MAX_QUEUES`` queues.
    """
    by_scope: dict[str, list[TopicQueueMappingInfo]] = {}
    for info in (route.topic_queue_mapping_by_broker or {}).values():
        if info.scope is not None:
            by_scope.setdefault(info.scope, []).append(info)
    places: dict[MessageQueue, str] = {}
    for scope, infos in by_scope.items():
        owners = _owners(infos)
        total = max((info.total_queues for info in infos if info.epoch >= -1), default=0)
        for queue in _queues(topic, mock_broker_name(scope), total):
            places[queue] = owners.get(queue.queue_id) or NO_BROKER
    return places


def _owners(infos: list[TopicQueueMappingInfo]) -> dict[int, str | None]:
    """Broker by logical queue, the latest mapping last and so the one that counts."""
    owners: dict[int, str | None] = {}
    for info in sorted(infos, key=lambda info: info.epoch):
        owners.update(dict.fromkeys(info.curr_id_map or {}, info.bname))
    return owners


# ---------------------------------------------------------------------------- inside


def _queues(topic: str, broker_name: str | None, number: int) -> list[MessageQueue]:
    if number > MAX_QUEUES:
        raise DecodeError(f"{number} queues of one topic", path="queue_datas")
    return [
        MessageQueue(topic=topic, broker_name=broker_name, queue_id=queue_id)
        for queue_id in range(number)
    ]


def _first_by_name(brokers: tuple[BrokerData, ...]) -> dict[str | None, BrokerData]:
    return {broker.broker_name: broker for broker in reversed(brokers)}


def _ordered(topic: str, text: str) -> tuple[MessageQueue, ...]:
    """Queues of ``broker:number;...``, in that order."""
    found: list[MessageQueue] = []
    for item in split(text, ";"):
        pieces = split(item, ":")
        if len(pieces) < 2 or not re.fullmatch(_INTEGER, pieces[1]):
            raise DecodeError(f"not broker:queues but {item[:80]!r}", path="order_topic_conf")
        found += _queues(topic, pieces[0], int(pieces[1]))
    return tuple(found)
