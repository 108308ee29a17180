"""Offsets: 14, 15, 29, 30, 31, 32, 43, 222, 308 and 314.

Java: ``ConsumerManageProcessor``, ``AdminBrokerProcessor``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_header, encode_body
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import (
    CloneGroupOffsetRequestHeader,
    QueryCorrectionOffsetBody,
    QueryCorrectionOffsetHeader,
    ResetOffsetBody,
    ResetOffsetRequestHeader,
)
from rocketwire.policy.resource_names import LMQ_PREFIX, lite_queue
from rocketwire.wire.json.fastjson import dumps
from rocketwire_broker.access.needs import CONSUMES, SEES_TOPIC
from rocketwire_broker.handlers.requests import handles, integer, require, text, with_body
from rocketwire_broker.state.response import SUCCESS, RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue
    from rocketwire_broker.tables.members import Peer

_MAX_FIRST_ENDS: Final = 4_096  # ends of queues that are remembered for a connection
_LONGEST_NAME: Final = 1_024  # characters of the name of a topic whose end is remembered


def _offset(value: int, remark: str | None = None) -> Response:
    return Response(remark=remark, ext_fields={"offset": str(value)})


@handles(RequestCode.QUERY_CONSUMER_OFFSET, needs=CONSUMES)
def query_consumer_offset(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    """14: the committed offset of a group, or 0 if the queue's first message is still there."""
    fields = request.ext_fields or {}
    group, topic = text(fields, "consumerGroup"), text(fields, "topic")
    queue_id = integer(fields, "queueId")
    offset = broker.offsets.get(group, topic, queue_id)
    if offset is not None and offset >= 0:
        return _offset(offset)
    _note_end(broker, peer, group, topic, queue_id)
    if fields.get("setZeroIfNotFound") == "false":
        remark = "Not found, do not set to zero, maybe this group boot first"
        return Response(ResponseCode.QUERY_NOT_FOUND, remark, {})
    queue = broker.store.queue(topic, queue_id)
    if queue is not None and queue.min_offset == 0 and queue.max_offset > 0:
        peer.first_ends.pop((topic, queue_id), None)
        return _offset(0)
    remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
    return Response(ResponseCode.QUERY_NOT_FOUND, remark, {})


def _note_end(broker: Broker, peer: Peer, group: str, topic: str, queue_id: int) -> None:
    # A new consumer that begins at the end asks for the end (30) when it has the answer. A Java
    # broker loses a message that comes between the two requests for it; here the consumer gets the
    # end at the time of its first request.
    online = broker.members.online(group)
    if online is None or online.consume_from_where != ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET:
        return
    if len(peer.first_ends) < _MAX_FIRST_ENDS and len(topic) <= _LONGEST_NAME:
        peer.first_ends[topic, queue_id] = broker.store.max_offset(topic, queue_id)


@handles(RequestCode.UPDATE_CONSUMER_OFFSET, needs=CONSUMES)
def update_consumer_offset(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    fields = request.ext_fields or {}
    group, topic = text(fields, "consumerGroup"), text(fields, "topic")
    if group not in broker.groups:
        remark = f"Group {group} not exist!"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark, {})
    is_lmq = topic.startswith(LMQ_PREFIX) and broker.config.enable_lmq
    if topic not in broker.topics and not is_lmq:
        return Response(ResponseCode.TOPIC_NOT_EXIST, f"Topic {topic} not exist!", {})
    for name, what in (("queueId", "QueueId"), ("commitOffset", "Offset")):
        if name not in fields:
            remark = f"{what} is null, topic is {topic}"
            return Response(ResponseCode.INVALID_PARAMETER, remark, {})
    queue_id, offset = integer(fields, "queueId"), integer(fields, "commitOffset")
    if broker.offsets.pending_reset(group, topic, queue_id) is not None:
        return Response(remark="Offset has been previously reset", ext_fields={})
    broker.offsets.commit(group, topic, queue_id, offset, now)
    return Response(ext_fields={})


def _queue(broker: Broker, fields: Mapping[str, str]) -> Queue | None:
    return broker.store.queue(text(fields, "topic"), integer(fields, "queueId"))


@handles(RequestCode.GET_MAX_OFFSET, needs=SEES_TOPIC)
def get_max_offset(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    fields = request.ext_fields or {}
    queue = _queue(broker, fields)
    if peer.first_ends:
        end = peer.first_ends.pop((text(fields, "topic"), integer(fields, "queueId")), None)
        if end is not None and (queue is None or queue.min_offset <= end <= queue.max_offset):
            return _offset(end)
    return _offset(0 if queue is None else queue.max_offset)


@handles(RequestCode.GET_MIN_OFFSET, needs=SEES_TOPIC)
def get_min_offset(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    queue = _queue(broker, request.ext_fields or {})
    return _offset(0 if queue is None else queue.min_offset, remark="")


@handles(RequestCode.GET_EARLIEST_MSG_STORETIME, needs=SEES_TOPIC)
def get_earliest_store_time(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    queue = _queue(broker, request.ext_fields or {})
    time = None if queue is None else queue.store_time(queue.min_offset)
    return Response(ext_fields={"timestamp": str(-1 if time is None else time)})


@handles(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, needs=SEES_TOPIC)
def search_offset(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    fields = request.ext_fields or {}
    lite_topic = fields.get("liteTopic", "").strip()
    if lite_topic:  # its queue is 0, whatever the queue of its parent's topic
        name = lite_queue(text(fields, "topic"), lite_topic)
        queue = broker.store.queue(name, integer(fields, "queueId"))
    else:
        queue = _queue(broker, fields)
    timestamp = integer(fields, "timestamp")
    is_upper = fields.get("boundaryType", "").lower() == "upper"
    return _offset(0 if queue is None else offset_at(queue, timestamp, is_upper=is_upper))


def offset_at(queue: Queue, timestamp: int, *, is_upper: bool = False) -> int:
    """Return the offset at a time (Java: ``ConsumeQueue.binarySearchInQueueByTime``).

    Lower: the first message stored at this time or later. Upper: the last one stored at this time
    or, between two messages, before it.
    """
    if not is_upper:
        return queue.offset_at(timestamp)
    return max(queue.offset_until(timestamp) - 1, queue.min_offset)


@handles(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
def reset_offsets(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """222: move a group to a time or an offset; consumers learn it at their next pull."""
    header = decode_header(ResetOffsetRequestHeader, request.ext_fields)
    name, group = require(header.topic, "topic"), require(header.group, "group")
    topic = broker.topics.get(name)
    if topic is None:
        remark = f"Topic {name} does not exist"
        return Response(ResponseCode.TOPIC_NOT_EXIST, remark)
    if group not in broker.groups:
        remark = f"Group {group} does not exist"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    if not broker.config.server_side_reset:
        return _push_reset(broker, topic, header)
    targets = _reset_targets(broker, topic, header)
    for queue_id, target in targets.items():
        broker.offsets.reset(group, name, queue_id, target, now)
    broker.store.arrivals.update((name, queue_id) for queue_id in targets)
    return Response(body=(_reset_body(broker, name, targets),))


def _reset_body(broker: Broker, topic: str, targets: Mapping[int, int]) -> bytes:
    table = {
        MessageQueue(topic=topic, broker_name=broker.config.broker_name, queue_id=queue_id): target
        for queue_id, target in targets.items()
    }
    return encode_body(ResetOffsetBody(offset_table=table)) or b""


def _push_reset(broker: Broker, topic: TopicConfig, header: ResetOffsetRequestHeader) -> Response:
    # Java: ``Broker2Client.resetOffset``
    name, group = str(topic.topic_name), header.group or ""
    online = broker.members.online(group)
    if online is None:
        remark = (
            f"Consumer not online, so can not reset offset, Group: {group} "
            f"Topic: {name} Timestamp: {header.timestamp}"
        )
        return Response(ResponseCode.CONSUMER_NOT_ONLINE, remark)
    targets: dict[int, int] = {}
    for queue_id, target in _reset_targets(broker, topic, header).items():
        consumed = broker.offsets.get(group, name, queue_id)
        if consumed is None:
            remark = f"THe consumer group <{group}> not exist"
            return Response(ResponseCode.SYSTEM_ERROR, remark)
        targets[queue_id] = target if header.is_force else min(target, consumed)
    body = _reset_body(broker, name, targets)
    fields = {"topic": name, "group": group, "timestamp": str(header.timestamp)}
    for member in online.members.values():
        broker.notify(member.peer, RequestCode.RESET_CONSUMER_CLIENT_OFFSET, fields, body)
    return Response(body=(body,))


def _reset_targets(
    broker: Broker, topic: TopicConfig, header: ResetOffsetRequestHeader
) -> dict[int, int]:
    name, store = str(topic.topic_name), broker.store
    only = header.queue_id
    queue_ids = [only] if only >= 0 else list(range(topic.write_queue_nums))
    if only >= 0 and header.offset is not None and header.offset >= 0:
        low, high = store.min_offset(name, only), store.max_offset(name, only)
        if not low <= header.offset <= high + 1:
            remark = f"Target offset {header.offset} not in consume queue range [{low}-{high}]"
            raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
        return {only: header.offset}
    targets: dict[int, int] = {}
    for queue_id in queue_ids:
        queue = store.queue(name, queue_id)
        if queue is None:
            targets[queue_id] = 0
        elif header.timestamp < 0:
            targets[queue_id] = queue.max_offset
        else:
            targets[queue_id] = queue.offset_at(header.timestamp)
    return targets


@handles(RequestCode.CLONE_GROUP_OFFSET)
def clone_group_offset(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(CloneGroupOffsetRequestHeader, request.ext_fields)
    source = require(header.src_group, "srcGroup")
    topics = [header.topic] if header.topic else broker.offsets.topics_of(source)
    for topic in topics:
        if topic in broker.topics:
            broker.offsets.clone(source, require(header.dest_group, "destGroup"), topic)
    return SUCCESS


@handles(RequestCode.QUERY_CORRECTION_OFFSET)
def query_correction(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """308: the lowest offset of all groups by queue.

    As in Java, the groups of ``filterGroups`` lose their offsets, so that ``compareGroup`` never
    has a lower one.
    """
    header = decode_header(QueryCorrectionOffsetHeader, request.ext_fields)
    topic = require(header.topic, "topic")
    for group in filter(None, (header.filter_groups or "").split(",")):
        broker.offsets.delete_group(group)
    lowest: dict[int, int] = {}
    for group in broker.offsets.groups_of(topic):
        for queue_id, offset in broker.offsets.of(group, topic).items():
            lowest[queue_id] = min(offset, lowest.get(queue_id, offset))
    return with_body(QueryCorrectionOffsetBody(correction_offsets=lowest))


@handles(RequestCode.GET_ALL_CONSUMER_OFFSET)
def get_all_consumer_offset(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    return Response(body=(dumps(broker.offsets.document()),))
