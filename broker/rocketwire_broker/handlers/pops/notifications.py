"""Requests that read the queues of a pop and take nothing: 200052, 200054 and 200055.

Java: ``PeekMessageProcessor``, ``NotificationProcessor``, ``PollingInfoProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_header
from rocketwire.messages.pop import (
    NotificationRequestHeader,
    PeekMessageRequestHeader,
    PollingInfoRequestHeader,
)
from rocketwire_broker.access.needs import CONSUMES
from rocketwire_broker.handlers.fields import require
from rocketwire_broker.handlers.names import existing_topic
from rocketwire_broker.handlers.pops.pop import (
    MAX_POLL_MS,
    MAX_POP_MESSAGES,
    NO_MESSAGE,
    NO_POP_FIELDS,
    PopRequest,
    check_readable,
    count_held,
    offset_of,
    queues,
    wakers,
    with_born_time,
)
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import LATER, RefusedError, Response
from rocketwire_broker.state.waits import ANY_QUEUE

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer


@handles(RequestCode.PEEK_MESSAGE, needs=CONSUMES)
def peek(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """200052: return messages as a pop would, but take none."""
    header = decode_header(PeekMessageRequestHeader, request.ext_fields)
    topic_name = require(header.topic, "topic")
    group = require(header.consumer_group, "consumerGroup")
    if header.max_msg_nums > MAX_POP_MESSAGES:
        remark = f"the max pull number is {MAX_POP_MESSAGES}"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark, NO_POP_FIELDS)
    try:
        check_readable(broker, topic_name, header.queue_id, group, peer, now)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=NO_POP_FIELDS)
    pop_request = PopRequest(group, topic_name, max(header.queue_id, ANY_QUEUE))
    records: list[bytes] = []
    remaining = 0
    for topic, queue, _ in queues(broker, pop_request, broker.next_pop()):
        offset = offset_of(broker, group, topic, queue, now)
        chosen = queue.records(offset, max(0, header.max_msg_nums - len(records)))
        records += chosen
        remaining += queue.max_offset - offset
    fields = {**NO_POP_FIELDS, "restNum": str(remaining)}
    if not records:
        return Response(ResponseCode.PULL_NOT_FOUND, NO_MESSAGE, fields)
    return Response(ResponseCode.SUCCESS, "FOUND", fields, tuple(records))


@handles(RequestCode.NOTIFICATION, needs=CONSUMES)
def notification(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
    """200054: answer whether there are messages to pop, or hold the request until there are."""
    client_time = now - broker.clock_advance
    header = decode_header(NotificationRequestHeader, with_born_time(request, client_time))
    topic = require(header.topic, "topic")
    group = require(header.consumer_group, "consumerGroup")
    pop_request = PopRequest(
        group, topic, max(header.queue_id, ANY_QUEUE), bool(header.order), header.attempt_id
    )
    due = header.born_time + min(header.poll_time, MAX_POLL_MS) + broker.clock_advance
    try:
        check_readable(broker, topic, header.queue_id, group, peer, now)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=_has_messages(is_true=False))
    if _would_find(broker, pop_request, now):
        return Response(ext_fields=_has_messages(is_true=True))
    if request.is_oneway or header.poll_time <= 0 or due <= now:
        return Response(ext_fields=_has_messages(is_true=False))

    def wake_up(now: int, must_answer: bool) -> Response | None:
        if must_answer:
            existing_topic(broker, topic, blank=" ")
        is_true = _would_find(broker, pop_request, now)
        if not is_true and not must_answer:
            return LATER
        return Response(ext_fields=_has_messages(is_true=is_true))

    broker.hold(peer, request.opaque, wakers(pop_request), wake_up, due)
    return LATER


def _has_messages(*, is_true: bool) -> dict[str, str]:
    return {"hasMsg": str(is_true).lower(), "pollingFull": "false"}


def _would_find(broker: Broker, pop_request: PopRequest, now: int) -> bool:
    for topic, queue, _ in queues(broker, pop_request, 1):
        group_queue = (pop_request.group, topic, queue.queue_id)
        if pop_request.is_ordered and broker.pop_orders.is_blocked(
            group_queue, pop_request.attempt_id, now
        ):
            continue
        if offset_of(broker, pop_request.group, topic, queue, now) < queue.max_offset:
            return True
    return False


@handles(RequestCode.POLLING_INFO, needs=CONSUMES)
def polling_info(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(PollingInfoRequestHeader, request.ext_fields)
    topic = require(header.topic, "topic")
    group = require(header.consumer_group, "consumerGroup")
    try:
        check_readable(broker, topic, header.queue_id, group, peer, now)
    except RefusedError as refused:
        return refused.response._replace(ext_fields={"pollingNum": "0"})
    pop_request = PopRequest(group, topic, max(header.queue_id, ANY_QUEUE))
    return Response(ext_fields={"pollingNum": str(count_held(broker, pop_request))})
