"""Popping: 200050.

``taking`` takes messages and hides them for a time. ``acknowledgements`` ends that time early,
``later.pop_returns`` does what follows when it is over.

Java: ``PopMessageProcessor``, ``PopLongPollingService``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import IllegalValueError, LocalProtocolError
from rocketwire.flags import Perm
from rocketwire.messages import decode_header
from rocketwire.messages.pop import (
    PopMessageRequestHeader,
)
from rocketwire.policy.resource_names import pop_retry_topic
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.access.needs import CONSUMES
from rocketwire_broker.handlers.fields import FAQ, required
from rocketwire_broker.handlers.names import existing_topic
from rocketwire_broker.handlers.pops.taking import NO_MESSAGE, PopRequest, nothing, take
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import LATER, RefusedError, Response
from rocketwire_broker.state.waits import ANY_QUEUE
from rocketwire_broker.storage.filters import EVERYTHING, TAG, Filter, compiled, filter_of

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

MAX_POP_MESSAGES: Final = 32
_LATE_MS: Final = 500
MAX_POLL_MS: Final = 600_000
"""Longest time for which a request may wait, in milliseconds."""

_READ: Final = int(Perm.READ)
NO_POP_FIELDS: Final = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0", "restNum": "0"}
"""Fields of an error: Java's header has them whatever happened."""


class NotificationRequest(NamedTuple):
    """A question whether a pop would find messages; see ``PopRequest``."""

    group: str
    topic: str
    queue_id: int
    is_ordered: bool
    attempt_id: str | None


# ---------------------------------------------------------------------------- 200050


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
    """Refuse a pop whose client waits no more.

    Args:
        deadline: when it stops to wait.
        client_time: now, by the clock of clients.

    Raises:
        RefusedError: it came more than half a second too late.
    """
    if client_time > deadline + _LATE_MS:
        remark = f"the broker[{broker.config.broker_ip}] pop message is timeout too much"
        raise RefusedError(ResponseCode.POLLING_TIMEOUT, remark)


def check_number(broker: Broker, max_messages: int) -> None:
    """Refuse a pop of too many messages.

    Raises:
        RefusedError: it is refused.
    """
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


def wakers(pop_request: PopRequest | NotificationRequest) -> tuple[tuple[str, int], ...]:
    """Return the queues whose messages wake a pop."""
    retry = pop_retry_topic(pop_request.group, pop_request.topic)
    return ((pop_request.topic, pop_request.queue_id), (retry, ANY_QUEUE))


def _check(broker: Broker, header: PopMessageRequestHeader, peer: Peer, now: int) -> PopRequest:
    """Check a pop in Java's order.

    Raises:
        RefusedError: it is refused.
    """
    host, name = broker.config.broker_ip, required(header.topic, "topic")
    check_number(broker, header.max_msg_nums)
    if not broker.config.timer_enabled:
        remark = f"the broker[{host}] pop message is forbidden because timerWheelEnable is false"
        raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    group = required(header.consumer_group, "consumerGroup")
    check_readable(broker, name, header.queue_id, group, peer, now)
    return PopRequest(
        group,
        name,
        max(header.queue_id, ANY_QUEUE),
        header.max_msg_nums,
        header.invisible_time,
        _filter(header.exp_type, header.exp, name),
        bool(header.order),
        header.attempt_id,
    )


def check_readable(
    broker: Broker, name: str, queue_id: int, group_name: str, peer: Peer, now: int
) -> TopicConfig:
    """Return a topic that a group may read.

    Raises:
        RefusedError: there is no such topic, queue or group, or it may not be read.
    """
    topic = existing_topic(broker, name, blank=" ")
    if not topic.perm & _READ:
        remark = f"the topic[{name}] peeking message is forbidden"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    if queue_id >= topic.read_queue_nums:
        remark = (
            f"queueId[{queue_id}] is illegal, topic:[{name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_nums}] consumer:[/{peer.address}]"
        )
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
            compiled(str(kind), expression)
        subscription = subscription_data(topic, expression, expression_type=kind or TAG, version=0)
    except (IllegalValueError, LocalProtocolError) as error:
        remark = "parse the consumer's subscription failed"
        raise RefusedError(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark) from error
    return filter_of(subscription)


class HeldPop:
    """A pop that waits for messages."""

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


def count_held(broker: Broker, pop_request: PopRequest | NotificationRequest) -> int:
    """Return the number of pops that wait for a queue, or for all queues, of a topic."""
    return sum(
        isinstance(wait.wake_up, HeldPop) and wait.wake_up.pop_request.group == pop_request.group
        for wait in broker.waits.of_queue((pop_request.topic, pop_request.queue_id))
    )
