"""Pulling: 11 and 361.

Java: ``PullMessageProcessor``, ``DefaultPullMessageResultHandler``, ``PullRequestHoldService``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import LocalProtocolError
from rocketwire.flags import Perm, PullSysFlag
from rocketwire.policy.resource_names import lite_queue
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.access.needs import CONSUMES
from rocketwire_broker.handlers.requests import (
    FAQ,
    existing_topic,
    handles,
    illegal_queue,
    integer,
    text,
)
from rocketwire_broker.state.response import LATER, RefusedError, Response
from rocketwire_broker.storage.filters import EVERYTHING, TAG, Filter, filter_of, select

if TYPE_CHECKING:
    from rocketwire.messages.groups import SubscriptionGroupConfig
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer

_COMMIT: Final = int(PullSysFlag.COMMIT_OFFSET)
_SUSPEND: Final = int(PullSysFlag.SUSPEND)
_SUBSCRIPTION: Final = int(PullSysFlag.SUBSCRIPTION)
_READ: Final = int(Perm.READ)

_LONGEST_HOLD_MS: Final = 600_000

NOT_FOUND: Final = int(ResponseCode.PULL_NOT_FOUND)
RETRY: Final = int(ResponseCode.PULL_RETRY_IMMEDIATELY)
MOVED: Final = int(ResponseCode.PULL_OFFSET_MOVED)


class PullRequest(NamedTuple):
    group: str
    topic: str
    queue_id: int
    offset: int
    max_messages: int
    message_filter: Filter
    stored_topic: str  # the topic of the messages' queue: an LMQ if a lite topic is read


class Outcome(NamedTuple):
    code: int
    remark: str  # Java's name of the situation (``GetMessageStatus``)
    next_offset: int  # where the next pull begins
    records: list[bytes] | tuple[bytes, ...] = ()


@handles(RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE, needs=CONSUMES)
def pull(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
    fields = request.ext_fields or {}
    sys_flag = integer(fields, "sysFlag")
    topic, lite_topic = text(fields, "topic"), fields.get("liteTopic", "").strip()
    pull_request = PullRequest(
        text(fields, "consumerGroup"),
        topic,
        integer(fields, "queueId"),
        integer(fields, "queueOffset"),
        max(1, min(integer(fields, "maxMsgNums"), broker.config.max_pull_messages)),
        EVERYTHING,
        lite_queue(topic, lite_topic) if lite_topic else topic,
    )
    message_filter = _check(broker, fields, pull_request, sys_flag, peer, now)
    pull_request = pull_request._replace(message_filter=message_filter)
    if sys_flag & _COMMIT:
        _commit(broker, pull_request, integer(fields, "commitOffset", -1), now)
    if (response := _reset(broker, pull_request)) is not None:
        return response
    outcome = read(broker, pull_request, pull_request.offset)
    response = _answer(broker, pull_request, outcome)
    if response.code == NOT_FOUND and sys_flag & _SUSPEND and not request.is_oneway:
        duration = min(integer(fields, "suspendTimeoutMillis", 0), _LONGEST_HOLD_MS)
        if duration > 0:
            _hold(broker, pull_request, peer, request.opaque, now + duration)
            return LATER
    return response


def _check(
    broker: Broker,
    fields: Mapping[str, str],
    pull_request: PullRequest,
    sys_flag: int,
    peer: Peer,
    now: int,
) -> Filter:
    # the order is Java's: it decides which of several problems a client sees
    group = broker.groups.find_or_create(pull_request.group, now)
    if group is None:
        remark = f"subscription group [{pull_request.group}] does not exist, \n{FAQ}"
        raise _refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    if not group.consume_enable:
        raise _no_permission(f"subscription group no permission, {pull_request.group}", 2)
    try:
        topic = existing_topic(broker, pull_request.topic, blank=" ")
    except RefusedError as refused:
        raise _refusal(refused.response.code, refused.response.remark) from None
    if not topic.perm & _READ:
        raise _no_permission(f"the topic[{pull_request.topic}] pulling message is forbidden", 3)
    if not 0 <= pull_request.queue_id < topic.read_queue_nums:
        remark = illegal_queue(topic, pull_request.queue_id, peer)
        raise _refusal(ResponseCode.INVALID_PARAMETER, remark)
    if sys_flag & _SUBSCRIPTION:
        subscription = _own_subscription(fields, pull_request.topic)
    else:
        subscription = _find_subscription(broker, fields, pull_request, group)
    if (subscription.expression_type or TAG) != TAG and not broker.config.property_filter:
        remark = (
            "The broker does not support consumer to filter message by "
            f"{subscription.expression_type}"
        )
        raise _refusal(ResponseCode.SYSTEM_ERROR, remark)
    return filter_of(subscription)


def _own_subscription(fields: Mapping[str, str], topic: str) -> SubscriptionData:
    try:
        return subscription_data(
            topic,
            fields.get("subscription"),
            expression_type=fields.get("expressionType"),
            version=integer(fields, "subVersion", 0),
        )
    except LocalProtocolError as error:
        remark = "parse the consumer's subscription failed"
        raise _refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark) from error


def _find_subscription(
    broker: Broker,
    fields: Mapping[str, str],
    pull_request: PullRequest,
    config: SubscriptionGroupConfig,
) -> SubscriptionData:
    group = broker.members.online(pull_request.group)
    if group is None:
        remark = f"the consumer's group info not exist\n{FAQ}"
        raise _refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
    if group.is_broadcasting and not config.consume_broadcast_enable:
        remark = f"the consumer group[{pull_request.group}] can not consume by broadcast way"
        raise _no_permission(remark, 4)
    if broker.groups.is_forbidden(pull_request.group, pull_request.topic):
        remark = (
            f"the consumer group[{pull_request.group}] is forbidden for topic[{pull_request.topic}]"
        )
        raise _no_permission(remark, 5)
    subscription = group.subscriptions.get(pull_request.topic)
    if subscription is None:
        remark = f"the consumer's subscription not exist\n{FAQ}"
        raise _refusal(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark)
    if (subscription.sub_version or 0) < integer(fields, "subVersion", 0):
        remark = "the consumer's subscription not latest"
        raise _refusal(ResponseCode.SUBSCRIPTION_NOT_LATEST, remark)
    return subscription


def _refusal(code: int, remark: str | None) -> RefusedError:
    return RefusedError(code, remark, {})


def _no_permission(remark: str, kind: int) -> RefusedError:
    return RefusedError(ResponseCode.NO_PERMISSION, remark, {"forbiddenType": str(kind)})


def _commit(broker: Broker, pull_request: PullRequest, offset: int, now: int) -> None:
    # a pending reset must not be undone
    group, topic, queue_id = pull_request.group, pull_request.topic, pull_request.queue_id
    if offset >= 0 and broker.offsets.pending_reset(group, topic, queue_id) is None:
        broker.offsets.commit(group, topic, queue_id, offset, now)


def read(broker: Broker, pull_request: PullRequest, offset: int) -> Outcome:
    queue = broker.store.queue(pull_request.stored_topic, pull_request.queue_id)
    if queue is None or not queue.max_offset:
        return Outcome(NOT_FOUND if offset == 0 else MOVED, "NO_MESSAGE_IN_QUEUE", 0)
    if offset < queue.min_offset:
        return Outcome(MOVED, "OFFSET_TOO_SMALL", queue.min_offset)
    if offset >= queue.max_offset:
        if offset == queue.max_offset:
            return Outcome(NOT_FOUND, "OFFSET_OVERFLOW_ONE", offset)
        return Outcome(MOVED, "OFFSET_OVERFLOW_BADLY", queue.max_offset)
    config = broker.config
    found = select(
        queue,
        offset,
        pull_request.message_filter,
        count=pull_request.max_messages,
        max_bytes=config.max_pull_bytes,
        max_filtered=config.max_filtered,
    )
    broker.work += pull_request.message_filter.work_of(found.next_offset - offset)
    if not found.records:
        return Outcome(RETRY, "NO_MATCHED_MESSAGE", found.next_offset)
    return Outcome(ResponseCode.SUCCESS, "FOUND", found.next_offset, found.records)


def _reset(broker: Broker, pull_request: PullRequest) -> Response | None:
    target = broker.offsets.take_reset(
        pull_request.group, pull_request.topic, pull_request.queue_id
    )
    return (
        None
        if target is None
        else _answer(broker, pull_request, Outcome(MOVED, "OFFSET_RESET", target))
    )


def _answer(broker: Broker, pull_request: PullRequest, outcome: Outcome) -> Response:
    store = broker.store
    fields = {
        "nextBeginOffset": str(outcome.next_offset),
        "minOffset": str(store.min_offset(pull_request.stored_topic, pull_request.queue_id)),
        "maxOffset": str(store.max_offset(pull_request.stored_topic, pull_request.queue_id)),
        "suggestWhichBrokerId": "0",
        "topicSysFlag": "0",
        "groupSysFlag": "0",
    }
    if outcome.records:
        broker.statistics.note_got(pull_request.topic, pull_request.group, len(outcome.records))
    broker.offsets.note_pulled(
        pull_request.group, pull_request.topic, pull_request.queue_id, outcome.next_offset
    )
    return Response(outcome.code, outcome.remark, fields, tuple(outcome.records))


def _hold(
    broker: Broker,
    pull_request: PullRequest,
    peer: Peer,
    opaque: int,
    due: int,
) -> None:
    offset = pull_request.offset

    def wake_up(now: int, must_answer: bool) -> Response | None:
        nonlocal offset
        if must_answer:
            existing_topic(broker, pull_request.topic, blank=" ")
        if (response := _reset(broker, pull_request)) is not None:
            return response
        outcome = read(broker, pull_request, offset)
        if outcome.code == RETRY:
            offset = outcome.next_offset
            if offset < broker.store.max_offset(pull_request.stored_topic, pull_request.queue_id):
                outcome = read(broker, pull_request, offset)  # the rest; more is read the next time
        if outcome.code not in {NOT_FOUND, RETRY}:
            return _answer(broker, pull_request, outcome)
        if not must_answer:
            return LATER
        if offset > pull_request.offset:
            outcome = Outcome(RETRY, "NO_MATCHED_MESSAGE", offset)
        return _answer(broker, pull_request, outcome)

    queues = ((pull_request.stored_topic, pull_request.queue_id),)
    broker.hold(peer, opaque, queues, wake_up, due, size=pull_request.message_filter.size)
