"""Popping messages of lite topics: 200070.

Each LMQ is consumed in order: while a message of it is neither acknowledged nor visible
again, no other one is popped.

Java: ``PopLiteMessageProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import Perm
from rocketwire.messages import decode_header
from rocketwire.messages.lite import PopLiteMessageRequestHeader
from rocketwire_broker.access.needs import CONSUMES
from rocketwire_broker.handlers.fields import FAQ, require
from rocketwire_broker.handlers.pops.pop import (
    MAX_POLL_MS,
    NO_MESSAGE,
    ORDERED_REVIVE_QUEUE,
    check_number,
    check_time,
    with_born_time,
)
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.lite import BIND_TOPIC, is_lite, wake_key
from rocketwire_broker.state.response import LATER, RefusedError, Response
from rocketwire_broker.storage.filters import EVERYTHING, select

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue
    from rocketwire_broker.tables.peer import Peer

_READ: Final = int(Perm.READ)

_NO_FIELDS: Final = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
"""Fields of an error: Java's header has them whatever happened."""


class LitePop(NamedTuple):
    client_id: str
    group: str
    topic: str  # the parent topic
    max_messages: int
    invisible_time: int  # milliseconds for which the messages are hidden
    attempt_id: str | None  # the client's name for this attempt


@handles(RequestCode.POP_LITE_MESSAGE, needs=CONSUMES)
def pop(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
    """200070: take messages of the client's events, or hold the request until there are some."""
    client_time = now - broker.clock_advance
    header = decode_header(PopLiteMessageRequestHeader, with_born_time(request, client_time))
    deadline = header.born_time + min(header.poll_time, MAX_POLL_MS)
    try:
        check_time(broker, deadline, client_time)
        question = _check(broker, header, now)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=_NO_FIELDS)
    response = _take(broker, question, now)
    if response is not None:
        return response
    due = deadline + broker.clock_advance
    if request.is_oneway or header.poll_time <= 0 or due <= now:
        return _nothing(question, ResponseCode.POLLING_TIMEOUT, now)
    key = wake_key(question.client_id)
    if len(tuple(broker.waits.of_queue(key))) > broker.config.max_polls:
        return _nothing(question, ResponseCode.POLLING_FULL, now)

    def wake_up(now: int, must_answer: bool) -> Response | None:
        response = _take(broker, question, now)
        if response is None and must_answer:
            return _nothing(question, ResponseCode.POLLING_TIMEOUT, now)
        return response

    broker.hold(peer, request.opaque, (key,), wake_up, due)
    return LATER


def _check(broker: Broker, header: PopLiteMessageRequestHeader, now: int) -> LitePop:
    # the order is Java's: it decides which of several problems a client sees
    name, group_name = require(header.topic, "topic"), require(header.consumer_group, "group")
    check_number(broker, header.max_msg_num)
    topic = broker.topics.get(name)
    if topic is None:
        remark = f"topic [{name}] not exist, apply first please! \n{FAQ}"
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, remark)
    if not topic.perm & _READ:
        remark = f"the topic [{name}] peeking message is forbidden"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    if not is_lite(topic):
        remark = f"the topic [{name}] message type not match"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    group = broker.groups.find_or_create(group_name, now)
    if group is None:
        remark = f"subscription group [{group_name}] not exist, \n{FAQ}"
        raise RefusedError(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    if not group.consume_enable:
        remark = f"subscription group no permission, {group_name}"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    if (group.attributes or {}).get(BIND_TOPIC) != name:
        remark = f"subscription bind topic not match, {group_name}"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    return LitePop(
        require(header.client_id, "clientId"),
        group_name,
        name,
        header.max_msg_num,
        header.invisible_time,
        header.attempt_id,
    )


# ---------------------------------------------------------------------------- taking


def _take(broker: Broker, question: LitePop, now: int) -> Response | None:
    events = broker.lite.events.get(question.client_id)
    records: list[bytes] = []
    counts: list[str] = []
    read: set[str] = set()
    while events is not None and len(records) < question.max_messages:
        name = events.take(now)
        if name is None:
            break
        queue = None if name in read else broker.store.queue(name, 0)
        read.add(name)
        if queue is not None:
            _take_of_queue(broker, question, queue, records, counts, now)
    if not records:
        return None
    broker.statistics.note_got(question.topic, question.group, len(records))
    fields = _fields(question, now, ";".join(counts))
    return Response(ResponseCode.SUCCESS, "FOUND", fields, tuple(records))


def _take_of_queue(
    broker: Broker,
    question: LitePop,
    queue: Queue,
    records: list[bytes],
    counts: list[str],
    now: int,
) -> None:
    group, name = question.group, queue.topic
    queue_key = (group, name, 0)
    if broker.pop_orders.is_blocked(queue_key, question.attempt_id, now):
        return
    offset = _offset(broker, group, queue, now)
    found = select(
        queue,
        offset,
        EVERYTHING,
        count=question.max_messages - len(records),
        max_bytes=broker.config.max_pull_bytes,
        max_filtered=broker.config.max_filtered,
    )
    if not found.records:
        return
    redelivered = broker.pop_orders.record_pop(
        queue_key, found.offsets, now, question.invisible_time, question.attempt_id
    )
    if redelivered:
        counts += (f"0 qo0%{offset} {count}" for offset, count in redelivered.items())
    else:
        counts += "0" * len(found.records)
    records += found.records
    broker.lite.dispatch_at(name, group, now + question.invisible_time)


def _offset(broker: Broker, group: str, queue: Queue, now: int) -> int:
    # a new group begins at the first message
    name = queue.topic
    if broker.offsets.take_reset(group, name, 0) is not None:
        broker.pop_orders.forget((group, name, 0))
    offset = broker.offsets.get(group, name, 0)
    if offset is None or offset < 0:
        start = 0 if not queue.min_offset else max(0, queue.max_offset - 1)
    else:
        start = min(max(offset, queue.min_offset), queue.max_offset)
    if start != offset:
        broker.offsets.commit(group, name, 0, start, now)
    return start


def _fields(question: LitePop, now: int, counts: str) -> dict[str, str]:
    return {
        "popTime": str(now),
        "invisibleTime": str(question.invisible_time),
        "reviveQid": str(ORDERED_REVIVE_QUEUE),
        "orderCountInfo": counts,
    }


def _nothing(question: LitePop, code: int, now: int) -> Response:
    return Response(code, NO_MESSAGE, _fields(question, now, ""))
