"""Lite topics for operators: 200074 to 200079.

Java: ``LiteManagerProcessor``, ``LiteConsumerLagCalculator``.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_header
from rocketwire.messages import lite as bodies
from rocketwire.messages.queries import OffsetWrapper
from rocketwire.messages.topics import TopicOffset
from rocketwire.policy.resource_names import LITE_PREFIX, lite_names, lite_queue
from rocketwire_broker.handlers.requests import handles, require, with_body
from rocketwire_broker.state.lite import BIND_TOPIC, broker_of, expiration_minutes, is_lite
from rocketwire_broker.state.response import LATER, NOT_SET, RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.messages.groups import SubscriptionGroupConfig
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer

_MAX_NAMES: Final = 10_000


@handles(RequestCode.GET_BROKER_LITE_INFO)
def get_broker_info(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    lite, store = broker.lite, broker.store
    body = bodies.GetBrokerLiteInfoResponseBody(
        store_type="default",
        max_lmq_num=broker.config.max_lmqs,
        current_lmq_num=len(store.lmqs),
        lite_subscription_count=lite.subscriptions.count,
        order_info_count=broker.pop_orders.count(LITE_PREFIX),
        cq_table_size=len(store.lmqs)
        + sum(1 for topic in broker.topics if _has_messages(broker, topic)),
        offset_table_size=len(broker.offsets.table()),
        event_map_size=len(lite.events),
        topic_meta={
            str(topic.topic_name): expiration_minutes(topic)
            for topic in broker.topics
            if is_lite(topic)
        },
        group_meta={
            topic: tuple(str(group.group_name) for group in groups)
            for topic, groups in lite.groups_by_parent().items()
        },
    )
    return with_body(body)


def _has_messages(broker: Broker, topic: TopicConfig) -> bool:
    return any(True for _ in broker.store.queues(str(topic.topic_name)))


@handles(RequestCode.GET_PARENT_TOPIC_INFO)
def get_parent_info(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.GetParentTopicInfoRequestHeader, request.ext_fields)
    name = require(header.topic, "topic")
    topic = _parent(broker, name)
    groups = broker.lite.groups_by_parent().get(name)
    body = bodies.GetParentTopicInfoResponseBody(
        topic=name,
        ttl=expiration_minutes(topic),
        lmq_num=len(broker.store.lmqs),
        lite_topic_count=len(broker.lite.queues_of(name)),
        groups=None if groups is None else tuple(str(group.group_name) for group in groups),
    )
    return with_body(body)


@handles(RequestCode.GET_LITE_TOPIC_INFO)
def get_topic_info(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    """200076: offsets and readers of a lite topic, and whether it belongs to this broker."""
    header = decode_header(bodies.GetLiteTopicInfoRequestHeader, request.ext_fields)
    name, lite_topic = require(header.parent_topic, "parentTopic"), header.lite_topic or ""
    _parent(broker, name)
    if broker.routes.is_fresh(name, now) or request.is_oneway:
        return _topic_info(broker, name, lite_topic)
    broker.routes.ask(
        name,
        lambda now: broker.answer(peer, request.opaque, _topic_info(broker, name, lite_topic)),
    )
    return LATER


def _topic_info(broker: Broker, parent: str, lite_topic: str) -> Response:
    name = lite_queue(parent, lite_topic)
    queue = broker.store.queue(name, 0)
    readers = {
        bodies.ClientGroup(
            client_id="*" if broker.lite.is_wildcard(group) else client_id, group=group
        )
        for group, clients in broker.lite.readers(name).items()
        for client_id in clients
    }
    body = bodies.GetLiteTopicInfoResponseBody(
        parent_topic=parent,
        lite_topic=lite_topic,
        subscriber=tuple(readers),
        topic_offset=TopicOffset(
            min_offset=0 if queue is None else queue.min_offset,
            max_offset=0 if queue is None else queue.max_offset,
            last_update_timestamp=0
            if queue is None
            else queue.store_time(queue.max_offset - 1) or -1,
        ),
        sharding_to_broker=broker_of(broker, parent, lite_topic) == broker.config.broker_name,
    )
    return with_body(body)


@handles(RequestCode.GET_LITE_CLIENT_INFO)
def get_client_info(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.GetLiteClientInfoRequestHeader, request.ext_fields)
    name, group_name = require(header.parent_topic, "parentTopic"), header.group or ""
    _parent(broker, name)
    group = _existing_group(broker, group_name, now)
    if (group.attributes or {}).get(BIND_TOPIC) != name:
        remark = f"Subscription [{group_name}]-[{name}] not match."
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    client_id = require(header.client_id, "clientId")
    subscription = broker.lite.subscriptions.get(client_id)
    events = broker.lite.events.get(client_id)
    queues = None if subscription is None else tuple(subscription.queues)
    max_count = max(0, min(header.max_count, _MAX_NAMES))
    body = bodies.GetLiteClientInfoResponseBody(
        parent_topic=name,
        group=group_name,
        client_id=client_id,
        lite_topic_count=-1 if queues is None else len(queues),
        lite_topic_set=None if queues is None else queues[:max_count],
        last_access_time=-1 if events is None else events.accessed,
    )
    return with_body(body)


@handles(RequestCode.GET_LITE_GROUP_INFO)
def get_group_info(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.GetLiteGroupInfoRequestHeader, request.ext_fields)
    name = require(header.group, "group")
    parent = _parent_of_group(broker, name, now)
    if header.lite_topic:
        return with_body(_lag_of_topic(broker, name, parent, header.lite_topic))
    if header.top_k < 1:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "java.lang.IllegalArgumentException")
    lags = list(_lags(broker, name))
    body = bodies.GetLiteGroupInfoResponseBody(
        group=name,
        parent_topic=parent,
        lite_topic=header.lite_topic,
        lag_count_top_k=tuple(nlargest(header.top_k, lags, key=lambda lag: lag.lag_count)),
        total_lag_count=sum(lag.lag_count for lag in lags),
        lag_timestamp_top_k=(),
    )
    return with_body(body)


def _lags(broker: Broker, group: str) -> Iterator[bodies.LiteLagInfo]:
    for topic in broker.offsets.topics_of(group):
        names = lite_names(topic)
        queue = None if names is None else broker.store.queue(topic, 0)
        offset = broker.offsets.get(group, topic, 0)
        if names is None or queue is None or offset is None or offset < 0:
            continue
        if queue.max_offset > offset:
            time = queue.store_time(offset)
            yield bodies.LiteLagInfo(
                lite_topic=names[1],
                lag_count=queue.max_offset - offset,
                earliest_unconsumed_timestamp=-1 if time is None else time,
            )


def _lag_of_topic(
    broker: Broker, group: str, parent: str, lite_topic: str
) -> bodies.GetLiteGroupInfoResponseBody:
    name = lite_queue(parent, lite_topic)
    queue = broker.store.queue(name, 0)
    offset = broker.offsets.get(group, name, 0)
    lag, first, wrapper = 0, -1, None
    if queue is None or not queue.max_offset:
        lag = -1
    elif offset is not None and offset >= 0:
        lag = queue.max_offset - offset
        time, before = queue.store_time(offset), queue.store_time(offset - 1) if offset else 0
        first = -1 if time is None else time
        wrapper = OffsetWrapper(
            broker_offset=queue.max_offset,
            consumer_offset=offset,
            last_timestamp=-1 if before is None else before,
        )
    return bodies.GetLiteGroupInfoResponseBody(
        group=group,
        parent_topic=parent,
        lite_topic=lite_topic,
        total_lag_count=lag,
        earliest_unconsumed_timestamp=first,
        lite_topic_offset_wrapper=wrapper,
    )


@handles(RequestCode.TRIGGER_LITE_DISPATCH)
def trigger_dispatch(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.TriggerLiteDispatchRequestHeader, request.ext_fields)
    group = require(header.group, "group")
    _parent_of_group(broker, group, now)
    if header.client_id:
        broker.lite.dispatch_all_of_client(header.client_id, group, now)
    else:
        broker.lite.dispatch_all_of_group(group, now)
    return Response(remark=NOT_SET)


def _parent(broker: Broker, name: str) -> TopicConfig:
    topic = broker.topics.get(name)
    if topic is None:
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, f"Topic [{name}] not exist.")
    if not is_lite(topic):
        raise RefusedError(ResponseCode.INVALID_PARAMETER, f"Topic [{name}] type not match.")
    return topic


def _existing_group(broker: Broker, name: str, now: int) -> SubscriptionGroupConfig:
    group = broker.groups.find_or_create(name, now)
    if group is None:
        remark = f"Group [{name}] not exist."
        raise RefusedError(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    return group


def _parent_of_group(broker: Broker, name: str, now: int) -> str:
    group = _existing_group(broker, name, now)
    parent = (group.attributes or {}).get(BIND_TOPIC)
    if not parent:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, f"Group [{name}] is not a LITE group.")
    return parent
