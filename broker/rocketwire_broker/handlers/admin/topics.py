"""Topics for operators: 17, 18, 21, 215, 305, 351, 513 and 5002.

Java: ``AdminBrokerProcessor``, ``TopicConfigManager``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError, LocalProtocolError
from rocketwire.messages import decode_body, decode_header
from rocketwire.messages import topics as bodies
from rocketwire.messages.enums import TopicFilterType
from rocketwire.messages.route import TopicList
from rocketwire.messages.topic_config import (
    DataVersion,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
)
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire.policy.topic_attributes import parse_attribute_changes
from rocketwire_broker.access.needs import SEES_TOPIC
from rocketwire_broker.delayed.pops import forget
from rocketwire_broker.handlers.requests import (
    body_of,
    check_list,
    handles,
    require,
    text,
    topic_problem,
    with_body,
)
from rocketwire_broker.state.response import NOT_SET, SUCCESS, RefusedError, Response
from rocketwire_broker.tables.topics import MAX_QUEUES, NOT_COUNTED

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer

ATTRIBUTES: Final = frozenset(
    {"queue.type", "cleanup.policy", "message.type", "lite.topic.expiration"}
)
"""Attributes of topics (Java: ``TopicAttributes``)."""


@handles(RequestCode.UPDATE_AND_CREATE_TOPIC)
def create_topic(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.CreateTopicRequestHeader, request.ext_fields)
    name = require(header.topic, "topic")
    present = broker.topics.get(name)
    topic = TopicConfig(
        topic_name=name,
        read_queue_nums=require(header.read_queue_nums, "readQueueNums"),
        write_queue_nums=require(header.write_queue_nums, "writeQueueNums"),
        perm=require(header.perm, "perm"),
        topic_filter_type=TopicFilterType(require(header.topic_filter_type, "topicFilterType")),
        topic_sys_flag=header.topic_sys_flag or 0,
        order=bool(header.order),
        attributes=_attributes(present, header.attributes or ""),
    )
    _put(broker, topic, now)
    return Response(remark=NOT_SET)


@handles(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST)
def create_topics(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    for topic in body_of(request, bodies.CreateTopicListRequestBody).topic_config_list or ():
        changes = ",".join(
            f"{name}={value}" if value else name for name, value in (topic.attributes or {}).items()
        )
        present = broker.topics.get(topic.topic_name or "")
        _put(broker, replace(topic, attributes=_attributes(present, changes)), now)
    return SUCCESS


def _put(broker: Broker, topic: TopicConfig, now: int) -> None:
    name = topic.topic_name or ""
    problem = topic_problem(name)
    if problem is not None:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, problem)
    _refuse_system(broker, name)
    if not all(
        0 <= number <= MAX_QUEUES for number in (topic.read_queue_nums, topic.write_queue_nums)
    ):
        raise RefusedError(ResponseCode.INVALID_PARAMETER, f"more than {MAX_QUEUES} queues")
    if broker.topics.is_full and name not in broker.topics:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "too many topics")
    broker.topics.put(topic, now)


def _refuse_system(broker: Broker, name: str) -> None:
    if broker.topics.is_system(name):
        remark = f"The topic[{name}] is conflict with system topic."
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)


def _attributes(present: TopicConfig | None, changes: str) -> dict[str, str]:
    attributes = dict((None if present is None else present.attributes) or {})
    try:
        parsed = parse_attribute_changes(changes)
    except LocalProtocolError as error:
        raise DecodeError(str(error), path="attributes") from error
    for change, value in parsed.items():
        sign, name = change[0], change[1:]
        if name not in ATTRIBUTES:
            raise RefusedError(ResponseCode.SYSTEM_ERROR, f"unsupported key: {name}")
        if sign == "-":
            attributes.pop(name, None)
        else:
            attributes[name] = value
    return attributes


@handles(RequestCode.DELETE_TOPIC_IN_BROKER)
def delete_topic(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """215: delete a topic with its messages, offsets and retry topics of pops."""
    _delete(
        broker,
        (decode_header(bodies.DeleteTopicRequestHeader, request.ext_fields).topic or "",),
        now,
    )
    return SUCCESS


@handles(RequestCode.DELETE_TOPIC_IN_BROKER_LIST)
def delete_topics(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """5002: delete several topics, or none if one of the names is refused."""
    body = decode_body(bodies.DeleteTopicListRequestBody, request.body or b"{}")
    body = body or bodies.DeleteTopicListRequestBody()
    _delete(broker, check_list(body.topic_list, "topic"), now)
    return SUCCESS


def _delete(broker: Broker, names: Collection[str], now: int) -> None:
    for name in names:
        if not name.strip():
            raise RefusedError(ResponseCode.INVALID_PARAMETER, "The specified topic is blank.")
        _refuse_system(broker, name)
    endings = tuple(f"_{name}" for name in names)
    retries = [
        str(topic.topic_name)
        for topic in broker.topics
        if str(topic.topic_name).startswith(RETRY_PREFIX)
        and str(topic.topic_name).endswith(endings)
    ]
    for name in names:
        broker.lite.delete_all(name)
    for deleted in (*names, *retries):
        has_messages = next(broker.store.queues(deleted), None) is not None
        end = broker.store.next_physical if has_messages and broker.store.is_durable else 0
        broker.topics.delete(deleted, now, end=end)
        broker.store.delete_topic(deleted)
        broker.offsets.delete_topic(deleted)
        broker.statistics.delete_topic(deleted)
        broker.routes.delete_topic(deleted)
        forget(broker, topic=deleted)
        broker.wake_topic(deleted, now)


@handles(RequestCode.GET_TOPIC_CONFIG, needs=SEES_TOPIC)
def get_topic(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    name = text(request.ext_fields or {}, "topic")
    topic = broker.topics.get(name)
    if topic is None:
        return Response(ResponseCode.TOPIC_NOT_EXIST, f"No topic in this broker. topic: {name}")
    body = bodies.TopicConfigAndQueueMapping(
        attributes=topic.attributes,
        order=topic.order,
        perm=topic.perm,
        read_queue_nums=topic.read_queue_nums,
        topic_filter_type=topic.topic_filter_type,
        topic_name=topic.topic_name,
        topic_sys_flag=topic.topic_sys_flag,
        write_queue_nums=topic.write_queue_nums,
    )
    return with_body(body)


@handles(RequestCode.GET_ALL_TOPIC_CONFIG)
def get_all_topics(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    fields = request.ext_fields or {}
    topics = {str(topic.topic_name): topic for topic in broker.topics}
    if "topicSeq" in fields and "maxTopicNum" in fields:
        header = decode_header(bodies.GetAllTopicConfigRequestHeader, fields)
        start, count = max(0, header.topic_seq or 0), max(0, header.max_topic_num or 0)
        names = sorted(topics)[start : start + count]
        topics = {name: topics[name] for name in names}
    body = TopicConfigAndMappingSerializeWrapper(
        data_version=broker.topics.version,
        topic_config_table=topics,
        mapping_data_version=DataVersion(counter=0, state_version=0, timestamp=broker.started),
        topic_queue_mapping_detail_map={},
    )
    return with_body(body, {"totalTopicNum": str(len(broker.topics))})


@handles(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
def get_system_topics(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    names = (*sorted(broker.topics.system - set(NOT_COUNTED)), *NOT_COUNTED)
    return with_body(TopicList(topic_list=names))
