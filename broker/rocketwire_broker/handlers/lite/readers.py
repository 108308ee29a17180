"""Clients that read lite topics: their subscriptions (200071), and pops of their events (200070).

Each LMQ is consumed in order: while a message of it is neither acknowledged nor visible
again, no other one is popped.

Java: ``LiteSubscriptionCtlProcessor``, ``PopLiteMessageProcessor``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import Perm
from rocketwire.messages import decode_body, decode_header
from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.lite import (
    LiteSubscriptionCtlRequestBody,
    LiteSubscriptionDTO,
    PopLiteMessageRequestHeader,
)
from rocketwire.policy.resource_names import lite_queue
from rocketwire_broker.access.needs import CONSUMES, reads_names
from rocketwire_broker.handlers.pops.pop import (
    MAX_POLL_MS,
    NO_MESSAGE,
    ORDERED_REVIVE_QUEUE,
    check_number,
    check_time,
    with_born_time,
)
from rocketwire_broker.handlers.requests import FAQ, handles, require
from rocketwire_broker.state.lite import BIND_TOPIC, has_lite_topic, is_lite, wake_key
from rocketwire_broker.state.response import LATER, SUCCESS, RefusedError, Response
from rocketwire_broker.storage.filters import EVERYTHING, select

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue
    from rocketwire_broker.tables.members import Peer


_ADDING: Final = (Action.PARTIAL_ADD, Action.COMPLETE_ADD)


@handles(
    RequestCode.LITE_SUBSCRIPTION_CTL,
    needs=reads_names(
        LiteSubscriptionCtlRequestBody,
        lambda body: [(change.group, (change.topic,)) for change in body.subscription_set or ()],
    ),
)
def change_subscriptions(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    """200071: change what clients have subscribed to; a proxy does it for its clients."""
    if request.body is None:
        return Response(ResponseCode.ILLEGAL_OPERATION, "Request body is null.")
    body = decode_body(LiteSubscriptionCtlRequestBody, request.body)
    changes = () if body is None else body.subscription_set or ()
    if not changes:
        remark = "LiteSubscriptionCtlRequestBody is empty."
        return Response(ResponseCode.ILLEGAL_OPERATION, remark)
    topics = {change.topic or "" for change in changes if change.action in _ADDING}
    unknown = next(
        (
            topic
            for topic in sorted(topics)
            if topic in broker.topics and not broker.routes.is_fresh(topic, now)
        ),
        None,
    )
    if unknown is None or request.is_oneway:
        return _change_all(broker, changes, peer, now)

    def answer(now: int) -> None:
        broker.answer(peer, request.opaque, _change_all(broker, changes, peer, now))

    broker.routes.ask(unknown, answer)
    return LATER


def _change_all(
    broker: Broker, changes: Sequence[LiteSubscriptionDTO], peer: Peer, now: int
) -> Response:
    try:
        for change in changes:
            if all(map(_is_named, (change.client_id, change.group, change.topic))):
                _change(broker, change, peer, now)
    except RefusedError as refused:
        return refused.response
    return SUCCESS


def _is_named(name: str | None) -> bool:
    return bool((name or "").strip())


def _change(broker: Broker, change: LiteSubscriptionDTO, peer: Peer, now: int) -> None:
    client_id, group, parent = change.client_id or "", change.group or "", change.topic or ""
    lite = broker.lite
    names = change.lite_topic_set or ()
    if not all(names):
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "java.lang.NullPointerException")
    queues = {lite_queue(parent, name): name for name in names}
    if change.action == Action.COMPLETE_REMOVE:
        lite.unsubscribe_all(client_id, now)
    elif change.action == Action.PARTIAL_REMOVE:
        _check_room(broker, client_id, 0)
        for queue in queues:
            lite.unsubscribe(client_id, group, parent, queue, now)
    elif change.action in _ADDING:
        _check_consumes(broker, group, now)
        _check_room(broker, client_id, len(queues))
        if change.action == Action.PARTIAL_ADD and lite.is_wildcard(group):
            raise _illegal("subscribe lite operation is not supported for this group")
        own = [
            queue for queue, name in queues.items() if has_lite_topic(broker, parent, name, queue)
        ]
        lite.subscriptions.of_client(client_id, group, parent, now).peer = peer
        if change.action == Action.COMPLETE_ADD:
            lite.subscribe_exactly(client_id, group, parent, own, now)
            return
        for queue in own:
            lite.subscribe(client_id, group, parent, queue, change.offset_option, now)
        lite.subscriptions.of_client(client_id, group, parent, now).peer = peer


def _check_consumes(broker: Broker, name: str, now: int) -> None:
    group = broker.groups.find_or_create(name, now)
    if group is None or not group.consume_enable:
        raise _illegal("Consumer group is not allowed to consume.")


def _check_room(broker: Broker, client_id: str, more: int) -> None:
    subscriptions = broker.lite.subscriptions
    limit = broker.config.max_lite_subscriptions
    is_new = subscriptions.get(client_id) is None
    is_full = more > limit or (more and subscriptions.count >= limit)
    if is_full or (is_new and len(subscriptions) >= limit):
        remark = (
            "org.apache.rocketmq.broker.lite.LiteQuotaException: "
            f"lite subscription quota exceeded {limit}"
        )
        raise RefusedError(ResponseCode.LITE_SUBSCRIPTION_QUOTA_EXCEEDED, remark)


def _illegal(remark: str) -> RefusedError:
    return RefusedError(
        ResponseCode.ILLEGAL_OPERATION, f"java.lang.IllegalStateException: {remark}"
    )


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
        question = _check_pop(broker, header, now)
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


def _check_pop(broker: Broker, header: PopLiteMessageRequestHeader, now: int) -> LitePop:
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
