"""Consumer groups for operators: 200, 201, 207, 225, 300, 343, 345, 352, 353 and 5003.

Java: ``AdminBrokerProcessor``, ``SubscriptionGroupManager``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_body, decode_header
from rocketwire.messages import groups as bodies
from rocketwire.messages.route import TopicList
from rocketwire_broker.access.needs import SEES_GROUP, SEES_TOPIC, reads
from rocketwire_broker.delayed.pops import forget
from rocketwire_broker.handlers.requests import (
    body_of,
    check_list,
    group_problem,
    handles,
    require,
    text,
    with_body,
)
from rocketwire_broker.state.response import SUCCESS, RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer


@handles(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)
def create_group(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """200: create or change a group; a request without one is a success, as in Java."""
    if request.body:
        _put(broker, body_of(request, bodies.SubscriptionGroupConfig), now)
    return SUCCESS


@handles(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST)
def create_groups(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    for group in body_of(request, bodies.SubscriptionGroupList).group_config_list or ():
        _put(broker, group, now)
    return SUCCESS


def _put(broker: Broker, group: bodies.SubscriptionGroupConfig, now: int) -> None:
    name = group.group_name or ""
    problem = group_problem(name)
    if problem is not None:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, problem)
    if broker.groups.is_full and name not in broker.groups:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "too many groups")
    present = broker.groups.get(name)
    attributes = dict((None if present is None else present.attributes) or {})
    for change, value in (group.attributes or {}).items():
        if change.startswith("-"):
            attributes.pop(change[1:], None)
        else:
            attributes[change.removeprefix("+")] = value
    broker.groups.put(replace(group, attributes=attributes), now)


@handles(RequestCode.DELETE_SUBSCRIPTIONGROUP)
def delete_group(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.DeleteSubscriptionGroupRequestHeader, request.ext_fields)
    _delete(broker, require(header.group_name, "groupName"), now, offsets=header.clean_offset)
    return SUCCESS


@handles(RequestCode.DELETE_SUBSCRIPTION_GROUP_LIST)
def delete_groups(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """5003: delete several groups, or none if one of the names is blank."""
    body = decode_body(bodies.DeleteSubscriptionGroupListRequestBody, request.body or b"{}")
    body = body or bodies.DeleteSubscriptionGroupListRequestBody()
    names = check_list(body.group_name_list, "group name")
    if not all(name.strip() for name in names):
        raise RefusedError(ResponseCode.INVALID_PARAMETER, "The specified group name is blank.")
    for name in names:
        _delete(broker, name, now, offsets=body.clean_offset)
    return SUCCESS


def _delete(broker: Broker, name: str, now: int, *, offsets: bool) -> None:
    broker.groups.delete(name, now)
    broker.statistics.delete_group(name)
    if offsets:
        broker.offsets.delete_group(name)
        forget(broker, group=name)


@handles(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, needs=reads(None, "group"))
def get_group(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """352: the configuration of a group, which is created if it is missing."""
    group = broker.groups.find_or_create(text(request.ext_fields or {}, "group"), now)
    if group is None:
        remark = "No group in this broker"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    return with_body(group)


@handles(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
def get_all_groups(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    fields = request.ext_fields or {}
    groups = {str(group.group_name): group for group in broker.groups}
    if "groupSeq" in fields and "maxGroupNum" in fields:
        header = decode_header(bodies.GetAllSubscriptionGroupRequestHeader, fields)
        start, count = max(0, header.group_seq or 0), max(0, header.max_group_num or 0)
        names = sorted(groups)[start : start + count]
        groups = {name: groups[name] for name in names}
    body = bodies.SubscriptionGroupWrapper(
        data_version=broker.groups.version,
        forbidden_table={
            group: dict.fromkeys(sorted(topics), 2)  # Java: the bit of PermName.INDEX_PERM_READ
            for group, topics in broker.groups.forbidden.items()
            if topics
        },
        subscription_group_table=groups,
    )
    return with_body(body, {"totalGroupNum": str(len(broker.groups))})


@handles(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, needs=SEES_TOPIC)
def get_groups_of_topic(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    topic = text(request.ext_fields or {}, "topic")
    online = [
        group.name
        for group in broker.members.consumers.values()
        if group.members and topic in group.subscriptions
    ]
    names = dict.fromkeys((*online, *broker.offsets.groups_of(topic)))
    return with_body(bodies.GroupList(group_list=tuple(names)))


@handles(RequestCode.QUERY_TOPICS_BY_CONSUMER, needs=reads(None, "group"))
def get_topics_of_group(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    group = text(request.ext_fields or {}, "group")
    topics = tuple(dict.fromkeys(broker.offsets.topics_of(group)))
    return with_body(TopicList(topic_list=topics, broker_addr=broker.address))


@handles(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, needs=SEES_GROUP)
def get_subscription(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.QuerySubscriptionByConsumerRequestHeader, request.ext_fields)
    group = broker.members.online(header.group or "")
    subscription = None if group is None else group.subscriptions.get(header.topic or "")
    body = bodies.QuerySubscriptionResponseBody(
        group=header.group, topic=header.topic, subscription_data=subscription
    )
    return with_body(body)


@handles(RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN)
def update_forbidden(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = decode_header(bodies.UpdateGroupForbiddenRequestHeader, request.ext_fields)
    group, topic = require(header.group, "group"), require(header.topic, "topic")
    if header.readable is not None:
        broker.groups.forbid(group, topic, now, readable=header.readable)
    readable = not broker.groups.is_forbidden(group, topic)
    return with_body(bodies.GroupForbidden(group=group, topic=topic, readable=readable))
