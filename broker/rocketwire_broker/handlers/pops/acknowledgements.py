"""Acknowledging popped messages: 200051 and 200151; hiding them for another time: 200053.

Java: ``AckMessageProcessor``, ``ChangeInvisibleTimeProcessor``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_body, decode_header
from rocketwire.messages.pop import (
    AckMessageRequestHeader,
    BatchAck,
    BatchAckMessageRequestBody,
    ChangeInvisibleTimeRequestHeader,
)
from rocketwire.policy.pop_handle import NORMAL, RETRY_V2, PopHandle, parse_pop_handle
from rocketwire.policy.resource_names import RETRY_PREFIX, lite_queue, pop_retry_topic
from rocketwire_broker.access.needs import CONSUMES, reads_names
from rocketwire_broker.delayed.pops import hide, show, wake_at
from rocketwire_broker.handlers.pops.pop import ORDERED_REVIVE_QUEUE
from rocketwire_broker.handlers.requests import existing_topic, handles, illegal_queue, require
from rocketwire_broker.state.lite import BIND_TOPIC
from rocketwire_broker.state.response import NOT_SET, SUCCESS, RefusedError, Response
from rocketwire_broker.tables.pops import UNKNOWN, HiddenMessage, Origin

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer

_NO_CHANGE_FIELDS: Final = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}


@handles(RequestCode.ACK_MESSAGE, needs=CONSUMES)
def acknowledge(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """200051: acknowledge a message; one that is not hidden is no error."""
    header = decode_header(AckMessageRequestHeader, request.ext_fields)
    topic, group = require(header.topic, "topic"), require(header.consumer_group, "consumerGroup")
    queue_id, offset = require(header.queue_id, "queueId"), require(header.offset, "offset")
    _check_queue(broker, topic, queue_id, peer)
    if (header.lite_topic or "").strip():
        return _acknowledge_lite(broker, header, now)
    lowest, highest = _bounds(broker, topic, queue_id)
    if not lowest <= offset <= highest:
        raise RefusedError(
            ResponseCode.NO_MESSAGE,
            f"offset is illegal, key:{topic}@{queue_id}, commit:{offset}, store:{lowest}~{highest}",
        )
    handle = parse_pop_handle(require(header.extra_info, "extraInfo"))
    message = HiddenMessage(group, topic, queue_id, offset, handle.pop_time)
    if handle.revive_queue_id != ORDERED_REVIVE_QUEUE:
        show(broker, message)
        return SUCCESS
    remark = f"offset is illegal, key:{topic}@{group}@{queue_id}, commit:{offset}"
    if _acknowledge_ordered(broker, message, remark, now):
        broker.store.arrivals.add((topic, queue_id))
    return SUCCESS


def _bounds(broker: Broker, topic: str, queue_id: int) -> tuple[int, int]:
    return broker.store.min_offset(topic, queue_id), broker.store.max_offset(topic, queue_id)


def _check_queue(broker: Broker, name: str, queue_id: int, peer: Peer) -> None:
    topic = existing_topic(broker, name, blank=" ")
    if not 0 <= queue_id < topic.read_queue_nums:
        remark = illegal_queue(topic, queue_id, peer)
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, remark)


def _acknowledge_ordered(broker: Broker, message: HiddenMessage, remark: str, now: int) -> bool:
    """Acknowledge a message popped in order; return whether its queue can be read again."""
    group, topic, queue_id, offset, pop_time = message
    committed = broker.offsets.get(group, topic, queue_id)
    if committed is not None and offset < committed:
        return False
    queue = (group, topic, queue_id)
    following = broker.pop_orders.acknowledge(queue, offset, pop_time)
    if following == UNKNOWN:
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, remark)
    if following < 0:
        return False
    if broker.offsets.pending_reset(group, topic, queue_id) is None:
        broker.offsets.commit(group, topic, queue_id, following, now)
    return not broker.pop_orders.is_blocked(queue, None, now)


@handles(
    RequestCode.BATCH_ACK_MESSAGE,
    needs=reads_names(
        BatchAckMessageRequestBody,
        lambda body: [(ack.consumer_group, (ack.topic,)) for ack in body.acks or ()],
    ),
)
def acknowledge_batch(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    if not request.body:
        return Response(ResponseCode.NO_MESSAGE)
    body = decode_body(BatchAckMessageRequestBody, request.body)
    if body is None or not body.acks:
        return Response(ResponseCode.NO_MESSAGE)
    for batch in body.acks:
        for message in _messages_of(batch):
            if batch.revive_queue_id != ORDERED_REVIVE_QUEUE:
                show(broker, message)
                continue
            with suppress(RefusedError):
                if _acknowledge_ordered(broker, message, "", now):
                    broker.store.arrivals.add((message.topic, message.queue_id))
    return SUCCESS


def _messages_of(batch: BatchAck) -> list[HiddenMessage]:
    topic, group = batch.topic or "", batch.consumer_group or ""
    if batch.retry not in {NORMAL, None, ""} and not topic.startswith(RETRY_PREFIX):
        topic = pop_retry_topic(group, topic, version_2=batch.retry == RETRY_V2)
    return [
        HiddenMessage(group, topic, batch.queue_id, batch.start_offset + bit, batch.pop_time)
        for bit in sorted(batch.bit_set or ())
    ]


@handles(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, needs=CONSUMES)
def change_invisible_time(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response:
    """200053: hide a message for another time, counted from now; its handle changes."""
    header = decode_header(ChangeInvisibleTimeRequestHeader, request.ext_fields)
    topic, group = require(header.topic, "topic"), require(header.consumer_group, "consumerGroup")
    queue_id, offset = require(header.queue_id, "queueId"), require(header.offset, "offset")
    invisible_time = require(header.invisible_time, "invisibleTime")
    try:
        _check_queue(broker, topic, queue_id, peer)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=_NO_CHANGE_FIELDS)
    if (header.lite_topic or "").strip():
        return _change_lite(broker, header, now)
    lowest, highest = _bounds(broker, topic, queue_id)
    if not lowest <= offset < highest:
        return Response(ResponseCode.NO_MESSAGE, ext_fields=_NO_CHANGE_FIELDS)
    handle = parse_pop_handle(require(header.extra_info, "extraInfo"))
    message = HiddenMessage(group, topic, queue_id, offset, handle.pop_time)
    if handle.revive_queue_id == ORDERED_REVIVE_QUEUE:
        return _change_ordered(broker, message, handle, invisible_time, now)
    show(broker, message)
    origin = Origin(offset, handle.revive_queue_id, now + invisible_time)
    hide(broker, message._replace(pop_time=now), origin)
    return Response(ext_fields=_change_fields(now, invisible_time, handle))


def _change_fields(pop_time: int, invisible_time: int, handle: PopHandle) -> dict[str, str]:
    return {
        "popTime": str(pop_time),
        "invisibleTime": str(invisible_time),
        "reviveQid": str(handle.revive_queue_id),
    }


def _change_ordered(
    broker: Broker, message: HiddenMessage, handle: PopHandle, invisible_time: int, now: int
) -> Response:
    group, topic, queue_id, offset, pop_time = message
    due = now + invisible_time
    broker.pop_orders.change_time((group, topic, queue_id), offset, pop_time, due)
    wake_at(broker, topic, queue_id, due)
    return Response(ext_fields=_change_fields(pop_time, due - pop_time, handle))


def _acknowledge_lite(broker: Broker, header: AckMessageRequestHeader, now: int) -> Response:
    parent, group = header.topic or "", header.consumer_group or ""
    config = broker.groups.find_or_create(group, now)
    if config is None or (config.attributes or {}).get(BIND_TOPIC) != parent:
        remark = "group type or bind topic not match."
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    name = lite_queue(parent, header.lite_topic or "")
    offset = header.offset or 0
    if offset > broker.store.max_offset(name, 0):
        raise RefusedError(ResponseCode.NO_MESSAGE, "ack offset illegal.")
    handle = parse_pop_handle(require(header.extra_info, "extraInfo"))
    if header.queue_id != 0 or handle.revive_queue_id != ORDERED_REVIVE_QUEUE:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, "ack queue illegal.")
    message = HiddenMessage(group, name, 0, offset, handle.pop_time)
    if _acknowledge_ordered(broker, message, "ack offset illegal.", now):
        broker.lite.dispatch(name, group, now)
    return SUCCESS


def _change_lite(broker: Broker, header: ChangeInvisibleTimeRequestHeader, now: int) -> Response:
    group = header.consumer_group or ""
    name = lite_queue(header.topic or "", header.lite_topic or "")
    offset = header.offset or 0
    if offset > broker.store.max_offset(name, 0):
        return Response(ResponseCode.NO_MESSAGE, NOT_SET, _NO_CHANGE_FIELDS)
    handle = parse_pop_handle(require(header.extra_info, "extraInfo"))
    committed = broker.offsets.get(group, name, 0)
    if committed is not None and offset < committed:
        return Response(remark=NOT_SET, ext_fields=_NO_CHANGE_FIELDS)
    due = now + require(header.invisible_time, "invisibleTime")
    queue_key = (group, name, 0)
    if header.suspend:  # of all messages of the pop, and the delivery is not counted
        broker.pop_orders.suspend(queue_key, handle.pop_time, due)
    else:
        broker.pop_orders.change_time(queue_key, offset, handle.pop_time, due)
    broker.lite.dispatch_at(name, group, due)
    fields = _change_fields(handle.pop_time, due - handle.pop_time, handle)
    return Response(remark=NOT_SET, ext_fields=fields)
