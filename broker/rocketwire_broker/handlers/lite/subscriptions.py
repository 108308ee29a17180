"""Subscriptions to lite topics: 200071.

Java: ``LiteSubscriptionCtlProcessor``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_body
from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO
from rocketwire.policy.resource_names import lite_queue
from rocketwire_broker.access.needs import needs_of_names
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.lite import has_lite_topic
from rocketwire_broker.state.response import LATER, SUCCESS, RefusedError, Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.needs import Need
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

_ADDING: Final = (Action.PARTIAL_ADD, Action.COMPLETE_ADD)


def _needs_of_subscriptions(request: RemotingCommand) -> Iterator[Need]:
    body = decode_body(LiteSubscriptionCtlRequestBody, request.body)
    for change in () if body is None else body.subscription_set or ():
        yield from needs_of_names(change.group, (change.topic,))


@handles(RequestCode.LITE_SUBSCRIPTION_CTL, needs=_needs_of_subscriptions)
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
