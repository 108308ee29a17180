"""Taking messages out of queues for a pop, and hiding them.

A pop takes messages of several queues, moves the group's offsets behind them and hides them for a
time. A pop in order leaves the offset where it is, and blocks the queue.

Java: ``PopMessageProcessor.popMsgFromQueue``, ``ExtraInfoUtil``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import ResponseCode
from rocketwire.connection.guards import exceeds
from rocketwire.messages.message_const import POP_CK
from rocketwire.policy.pop_handle import NORMAL, RETRY_V1, PopHandle
from rocketwire.policy.resource_names import pop_retry_topic
from rocketwire_broker.handlers.priorities import pops_by_priority
from rocketwire_broker.later.pop_returns import hide, wake_at
from rocketwire_broker.state.response import RefusedError, Response
from rocketwire_broker.state.waits import ANY_QUEUE
from rocketwire_broker.storage.filters import EVERYTHING, Filter, select
from rocketwire_broker.storage.message import Message, read_stored
from rocketwire_broker.tables.pops import HiddenMessage, Origin

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue

ORDERED_REVIVE_QUEUE: Final = 999
"""Revive queue of pops in order, which tells their handles from others (Java: ``KeyBuilder``)."""

_REVIVE_QUEUES: Final = 8
_RETRY_FIRST: Final = 5
"""Each of so many pops reads the retry topic before the queues (``popFromRetryProbability``)."""

NO_MESSAGE: Final = "NO_MESSAGE_IN_QUEUE"
"""Remark of a response without messages."""


class PopRequest(NamedTuple):
    """A pop that was checked.

    Attributes:
        group: the consumer group.
        topic: the topic.
        queue_id: the queue, or -1 for all.
        max_messages: most messages.
        invisible_time: milliseconds for which the messages are hidden.
        message_filter: the consumer's filter.
        is_ordered: whether messages are consumed in order.
        attempt_id: the consumer's name for this attempt at popping in order.
    """

    group: str
    topic: str
    queue_id: int
    max_messages: int
    invisible_time: int
    message_filter: Filter
    is_ordered: bool
    attempt_id: str | None


@dataclass(slots=True)
class PopResult:
    """What a pop has taken so far.

    Attributes:
        pop_time: time of the pop.
        revive_queue_id: queue of Java's log of pops, which handles contain.
        records: stored bytes of the messages.
        size: bytes of them.
        rest: messages behind this pop in the queues that were read.
        filtered: messages that the filter has looked at.
        starts: ``startOffsetInfo`` of the response, one item for each queue.
        offsets: ``msgOffsetInfo``, in the same way.
        counts: ``orderCountInfo``, items for each queue and message.
    """

    pop_time: int
    revive_queue_id: int
    records: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    rest: int = 0
    filtered: int = 0
    starts: list[str] = field(default_factory=list[str])
    offsets: list[str] = field(default_factory=list[str])
    counts: list[str] = field(default_factory=list[str])


def take(broker: Broker, pop_request: PopRequest, now: int) -> Response | None:
    """Take messages and hide them; None if there are none.

    A pop whose filter has looked at many messages in vain is answered without messages. The offset
    has moved, so the next pop goes on behind them.

    Raises:
        RefusedError: too many messages are hidden.
    """
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
    most = pop_request.max_messages - len(result.records)
    room = broker.config.max_pull_bytes - result.size
    message_filter = pop_request.message_filter if retry == NORMAL else EVERYTHING
    max_filtered = _max_filtered(broker, pop_request) - result.filtered
    is_exhausted = not message_filter.is_open and max_filtered <= 0
    is_blocked = pop_request.is_ordered and broker.pop_orders.is_blocked(
        group_queue, pop_request.attempt_id, now
    )
    if most <= 0 or room <= 0 or is_blocked or is_exhausted:
        result.rest += queue.max_offset - offset
        return
    records, offsets, offset = select(
        queue,
        offset,
        message_filter,
        count=most,
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
    """Hide the messages of a queue, and add them to the response."""
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
    """Return a message of a retry topic under its first topic, with its handle."""
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
    """Yield earlier deliveries: of each message that had some, and the fewest of the queue."""
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
    """Return the response without messages."""
    revive = ORDERED_REVIVE_QUEUE if pop_request.is_ordered else broker.next_pop() % _REVIVE_QUEUES
    fields = _pop_fields(pop_request, PopResult(now, revive))
    return Response(ResponseCode.POLLING_TIMEOUT, NO_MESSAGE, fields)
