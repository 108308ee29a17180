"""Popping (200050), and reading the queues of a pop without taking (200052, 200054, 200055).

A pop takes messages of several queues, moves the offsets of the group past them and hides them for
a time. ``acknowledgements`` ends that time early, ``delayed.pops`` stores a message again at its
end. A pop in order leaves the offset where it is, and blocks the queue.

Java: ``PopMessageProcessor``, ``PopLongPollingService``, ``ExtraInfoUtil``,
``PeekMessageProcessor``, ``NotificationProcessor``, ``PollingInfoProcessor``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.connection.guards import exceeds
from rocketwire.errors import IllegalValueError, LocalProtocolError
from rocketwire.flags import Perm
from rocketwire.messages import decode_header
from rocketwire.messages.message_const import POP_CK
from rocketwire.messages.pop import (
    NotificationRequestHeader,
    PeekMessageRequestHeader,
    PollingInfoRequestHeader,
    PopMessageRequestHeader,
)
from rocketwire.policy.pop_handle import NORMAL, RETRY_V1, PopHandle
from rocketwire.policy.resource_names import pop_retry_topic
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.access.needs import CONSUMES
from rocketwire_broker.delayed.pops import hide, wake_at
from rocketwire_broker.handlers.requests import FAQ, existing_topic, handles, illegal_queue, require
from rocketwire_broker.handlers.sends import pops_by_priority
from rocketwire_broker.state.response import LATER, RefusedError, Response
from rocketwire_broker.state.waits import ANY_QUEUE
from rocketwire_broker.storage.filters import (
    EVERYTHING,
    TAG,
    Filter,
    compile_condition,
    filter_of,
    select,
)
from rocketwire_broker.storage.message import Message, read_stored
from rocketwire_broker.tables.pops import HiddenMessage, Origin

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue
    from rocketwire_broker.tables.members import Peer


ORDERED_REVIVE_QUEUE: Final = 999
"""Revive queue in the handles of pops in order, and of no others (Java: ``KeyBuilder``)."""

_REVIVE_QUEUES: Final = 8
_RETRY_FIRST: Final = 5
"""One of this many pops reads the retry topic first (Java: ``popFromRetryProbability``)."""

NO_MESSAGE: Final = "NO_MESSAGE_IN_QUEUE"  # remark of a response without messages

MAX_POP_MESSAGES: Final = 32
_LATE_MS: Final = 500
MAX_POLL_MS: Final = 600_000  # longest time for which a request may wait, in milliseconds

_READ: Final = int(Perm.READ)
NO_POP_FIELDS: Final = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0", "restNum": "0"}
"""Fields of an error: Java's header has them whatever happened."""


class PopRequest(NamedTuple):
    """A pop that was checked, or a question whether it would find messages."""

    group: str
    topic: str
    queue_id: int  # the queue, or -1 for all
    is_ordered: bool = False
    attempt_id: str | None = None  # the consumer's name for this attempt at popping in order
    max_messages: int = 1
    invisible_time: int = 0  # milliseconds for which the messages are hidden
    message_filter: Filter = EVERYTHING


@handles(RequestCode.POP_MESSAGE, needs=CONSUMES)
def pop(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
    """200050: take messages and hide them, or hold the request until there are some."""
    client_time = now - broker.clock_advance
    header = decode_header(PopMessageRequestHeader, with_born_time(request, client_time))
    deadline = header.born_time + min(header.poll_time, MAX_POLL_MS)
    try:
        check_time(broker, deadline, client_time)
        pop_request = _check(broker, header, peer, now)
        response = take(broker, pop_request, now)
        if response is not None:
            return response
        due = deadline + broker.clock_advance
        if request.is_oneway or header.poll_time <= 0 or due <= now:
            return nothing(broker, pop_request, now)
        held = HeldPop(broker, pop_request)
        if count_held(broker, pop_request) >= broker.config.max_polls:
            raise RefusedError(ResponseCode.POLLING_FULL, NO_MESSAGE)
        size = pop_request.message_filter.size
        broker.hold(peer, request.opaque, wakers(pop_request), held, due, size=size)
    except RefusedError as refused:
        response = refused.response
        return response._replace(ext_fields=NO_POP_FIELDS)
    return LATER


def check_time(broker: Broker, deadline: int, client_time: int) -> None:
    """Refuse a pop whose client has stopped to wait half a second ago."""
    if client_time > deadline + _LATE_MS:
        remark = f"the broker[{broker.config.broker_ip}] pop message is timeout too much"
        raise RefusedError(ResponseCode.POLLING_TIMEOUT, remark)


def check_number(broker: Broker, max_messages: int) -> None:
    if max_messages > MAX_POP_MESSAGES:
        host = broker.config.broker_ip
        remark = f"the broker[{host}] pop message's num is greater than {MAX_POP_MESSAGES}"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)


def with_born_time(request: RemotingCommand, client_time: int) -> dict[str, str]:
    """Return the fields of a header; clients that do not poll send no time, or 0."""
    fields = dict(request.ext_fields or {})
    if fields.get("bornTime", "0") == "0":
        fields["bornTime"] = str(client_time)
    return fields


def wakers(pop_request: PopRequest) -> tuple[tuple[str, int], ...]:
    retry = pop_retry_topic(pop_request.group, pop_request.topic)
    return ((pop_request.topic, pop_request.queue_id), (retry, ANY_QUEUE))


def _check(broker: Broker, header: PopMessageRequestHeader, peer: Peer, now: int) -> PopRequest:
    # the order is Java's: it decides which of several problems a client sees
    host, name = broker.config.broker_ip, require(header.topic, "topic")
    check_number(broker, header.max_msg_nums)
    if not broker.config.timer_enabled:
        remark = f"the broker[{host}] pop message is forbidden because timerWheelEnable is false"
        raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    group = require(header.consumer_group, "consumerGroup")
    check_readable(broker, name, header.queue_id, group, peer, now)
    return PopRequest(
        group,
        name,
        max(header.queue_id, ANY_QUEUE),
        bool(header.order),
        header.attempt_id,
        header.max_msg_nums,
        header.invisible_time,
        _filter(header.exp_type, header.exp, name),
    )


def check_readable(
    broker: Broker, name: str, queue_id: int, group_name: str, peer: Peer, now: int
) -> TopicConfig:
    topic = existing_topic(broker, name, blank=" ")
    if not topic.perm & _READ:
        remark = f"the topic[{name}] peeking message is forbidden"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    if queue_id >= topic.read_queue_nums:
        remark = illegal_queue(topic, queue_id, peer)
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    group = broker.groups.find_or_create(group_name, now)
    if group is None:
        remark = f"subscription group [{group_name}] does not exist, \n{FAQ}"
        raise RefusedError(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    if not group.consume_enable:
        remark = f"subscription group no permission, {group_name}"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    return topic


def _filter(kind: str | None, expression: str | None, topic: str) -> Filter:
    if not expression:
        return EVERYTHING
    try:
        if kind not in {None, "", TAG}:
            compile_condition(str(kind), expression)
        subscription = subscription_data(topic, expression, expression_type=kind or TAG, version=0)
    except (IllegalValueError, LocalProtocolError) as error:
        remark = "parse the consumer's subscription failed"
        raise RefusedError(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark) from error
    return filter_of(subscription)


class HeldPop:
    __slots__ = ("broker", "pop_request")

    def __init__(self, broker: Broker, pop_request: PopRequest) -> None:
        self.broker = broker
        self.pop_request = pop_request

    def __call__(self, now: int, must_answer: bool) -> Response | None:
        try:
            if must_answer:
                existing_topic(self.broker, self.pop_request.topic, blank=" ")
            response = take(self.broker, self.pop_request, now)
        except RefusedError as refused:
            return refused.response._replace(ext_fields=NO_POP_FIELDS)
        if response is None and must_answer:
            return nothing(self.broker, self.pop_request, now)
        return response


def count_held(broker: Broker, pop_request: PopRequest) -> int:
    """Return the number of pops that wait for a queue, or for all queues, of a topic."""
    return sum(
        isinstance(wait.wake_up, HeldPop) and wait.wake_up.pop_request.group == pop_request.group
        for wait in broker.waits.of_queue((pop_request.topic, pop_request.queue_id))
    )


@dataclass(slots=True)
class PopResult:
    pop_time: int
    revive_queue_id: int  # queue of Java's log of pops, which handles contain
    records: list[bytes] = field(default_factory=list[bytes])
    size: int = 0  # bytes of them
    rest: int = 0  # messages after this pop in the queues that were read
    filtered: int = 0  # messages that the filter has looked at
    # ``startOffsetInfo`` of the response, one item for each queue
    starts: list[str] = field(default_factory=list[str])
    # ``msgOffsetInfo``, one item for each queue
    offsets: list[str] = field(default_factory=list[str])
    # ``orderCountInfo``, items for each queue and message
    counts: list[str] = field(default_factory=list[str])


def take(broker: Broker, pop_request: PopRequest, now: int) -> Response | None:
    """Take messages and hide them; None if there are none, unless the filter has read many."""
    limit = broker.config.max_hidden_messages
    if exceeds(len(broker.pops) + pop_request.max_messages, limit):
        raise RefusedError(ResponseCode.SYSTEM_BUSY, "too many messages are not acknowledged")
    turn = broker.next_pop()
    revive = ORDERED_REVIVE_QUEUE if pop_request.is_ordered else turn % _REVIVE_QUEUES
    result = PopResult(now, revive)
    for topic, queue, retry in queues(broker, pop_request, turn):
        _take_of_queue(broker, pop_request, topic, queue, retry, result, now)
    if not result.records:
        is_exhausted = result.filtered >= _max_filtered(broker, pop_request)
        return nothing(broker, pop_request, now) if is_exhausted else None
    broker.statistics.note_got(pop_request.topic, pop_request.group, len(result.records))
    return Response(
        ResponseCode.SUCCESS, "FOUND", _pop_fields(pop_request, result), tuple(result.records)
    )


def queues(broker: Broker, pop_request: PopRequest, turn: int) -> Iterator[tuple[str, Queue, str]]:
    """Yield the queues of a pop: each begins with another, and some with the retry topic.

    Pops by priority begin with the highest queue, and end with the retry topic.
    """
    retry = pop_retry_topic(pop_request.group, pop_request.topic)
    with_retry = not pop_request.is_ordered
    by_priority = with_retry and pops_by_priority(
        broker, pop_request.topic, pop_request.group, turn
    )
    retry_first = with_retry and not by_priority and turn % _RETRY_FIRST == 0
    if retry_first:
        yield from ((retry, queue, RETRY_V1) for queue in broker.store.queues(retry))
    if pop_request.queue_id == ANY_QUEUE:
        topic = broker.topics.get(pop_request.topic)
        count = topic.read_queue_nums if topic is not None else 0
        numbers = [(turn + index) % count for index in range(count)]
        if by_priority:
            numbers = list(reversed(range(count)))
    else:
        numbers = [pop_request.queue_id]
    for number in numbers:
        queue = broker.store.queue(pop_request.topic, number)
        if queue is not None:
            yield pop_request.topic, queue, NORMAL
    if with_retry and not retry_first:
        yield from ((retry, queue, RETRY_V1) for queue in broker.store.queues(retry))


def offset_of(broker: Broker, group: str, topic: str, queue: Queue, now: int) -> int:
    """Return where the next pop of a group begins, inside the queue's bounds."""
    queue_id = queue.queue_id
    if broker.offsets.take_reset(group, topic, queue_id) is not None:
        broker.pop_orders.forget((group, topic, queue_id))
    offset = broker.offsets.get(group, topic, queue_id)
    bounded = min(max(offset or 0, queue.min_offset), queue.max_offset)
    if bounded != offset:
        broker.offsets.commit(group, topic, queue_id, bounded, now)
    return bounded


def _take_of_queue(
    broker: Broker,
    pop_request: PopRequest,
    topic: str,
    queue: Queue,
    retry: str,
    result: PopResult,
    now: int,
) -> None:
    group_queue = (pop_request.group, topic, queue.queue_id)
    start = offset = offset_of(broker, pop_request.group, topic, queue, now)
    max_count = pop_request.max_messages - len(result.records)
    room = broker.config.max_pull_bytes - result.size
    message_filter = pop_request.message_filter if retry == NORMAL else EVERYTHING
    max_filtered = _max_filtered(broker, pop_request) - result.filtered
    is_exhausted = not message_filter.is_open and max_filtered <= 0
    is_blocked = pop_request.is_ordered and broker.pop_orders.is_blocked(
        group_queue, pop_request.attempt_id, now
    )
    if max_count <= 0 or room <= 0 or is_blocked or is_exhausted:
        result.rest += queue.max_offset - offset
        return
    records, offsets, offset = select(
        queue,
        offset,
        message_filter,
        count=max_count,
        max_bytes=room,
        max_filtered=max_filtered,
    )
    if not message_filter.is_open:
        result.filtered += offset - start
        broker.work += message_filter.work_of(offset - start)
    result.rest += queue.max_offset - offset
    if offset != start and not (pop_request.is_ordered and records):
        broker.offsets.commit(*group_queue, offset, now)
    if records:
        _note(broker, pop_request, group_queue, retry, result, records, offsets, start)


def _max_filtered(broker: Broker, pop_request: PopRequest) -> int:
    return min(broker.config.max_filtered, pop_request.message_filter.max_messages)


def _note(
    broker: Broker,
    pop_request: PopRequest,
    group_queue: tuple[str, str, int],
    retry: str,
    result: PopResult,
    records: list[bytes],
    offsets: list[int],
    start: int,
) -> None:
    group, topic, queue_id = group_queue
    result.starts.append(f"{retry} {queue_id} {start}")
    result.offsets.append(f"{retry} {queue_id} {','.join(map(str, offsets))}")
    result.size += sum(map(len, records))
    if pop_request.is_ordered:
        counts = broker.pop_orders.record_pop(
            group_queue,
            offsets,
            result.pop_time,
            pop_request.invisible_time,
            pop_request.attempt_id,
        )
        result.counts += _order_counts(retry, queue_id, counts, offsets)
        wake_at(broker, topic, queue_id, result.pop_time + pop_request.invisible_time)
    else:
        due = result.pop_time + pop_request.invisible_time
        origin = Origin(start, result.revive_queue_id, due)
        for offset in offsets:
            hide(broker, HiddenMessage(group, topic, queue_id, offset, result.pop_time), origin)
    if retry == NORMAL:
        result.records += records
        return
    handle = PopHandle(
        start_offset=start,
        pop_time=result.pop_time,
        invisible_time=pop_request.invisible_time,
        revive_queue_id=result.revive_queue_id,
        retry=retry,
        broker_name=broker.config.broker_name,
        queue_id=queue_id,
        queue_offset=start,
    )
    result.records += [_as_original(record, pop_request.topic, handle) for record in records]


def _as_original(record: bytes, topic: str, handle: PopHandle) -> bytes:
    stored = read_stored(record)
    message = Message.of(stored)
    message.topic = topic
    offset = stored.queue_offset
    message.properties[POP_CK] = str(replace(handle, queue_offset=offset))
    return message.encode(
        offset, stored.commit_log_offset, stored.store_host, stored.store_timestamp
    )


def _order_counts(
    retry: str, queue_id: int, counts: Mapping[int, int], offsets: list[int]
) -> Iterator[str]:
    for offset, count in counts.items():
        yield f"{retry} qo{queue_id}%{offset} {count}"
    fewest = min(counts.values()) if counts and len(counts) == len(offsets) else 0
    yield f"{retry} {queue_id} {fewest}"


def _pop_fields(pop_request: PopRequest, result: PopResult) -> dict[str, str]:
    fields = {
        "popTime": str(result.pop_time),
        "invisibleTime": str(pop_request.invisible_time),
        "reviveQid": str(result.revive_queue_id),
        "restNum": str(result.rest),
        "startOffsetInfo": ";".join(result.starts),
        "msgOffsetInfo": ";".join(result.offsets),
    }
    if pop_request.is_ordered:
        fields["orderCountInfo"] = ";".join(result.counts)
    return fields


def nothing(broker: Broker, pop_request: PopRequest, now: int) -> Response:
    revive = ORDERED_REVIVE_QUEUE if pop_request.is_ordered else broker.next_pop() % _REVIVE_QUEUES
    fields = _pop_fields(pop_request, PopResult(now, revive))
    return Response(ResponseCode.POLLING_TIMEOUT, NO_MESSAGE, fields)


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
