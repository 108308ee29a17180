"""What a request needs: permissions for topics and groups, or those of an administrator.

A code that ``_NEEDS`` does not list needs an administrator.

Java (5.5.0): ``DefaultAuthorizationContextBuilder``, ``RocketMQAction`` and ``RocketMQResource`` of
the header classes. Java's ``GET`` is not a permission of 4.x: an account that may send to a topic
or read it sees its figures. Java lets every account acknowledge batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    QueryAssignmentRequestBody,
    UnlockBatchRequestBody,
)
from rocketwire.messages.heartbeat import CheckClientRequestBody, HeartbeatData
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody
from rocketwire.messages.pop import BatchAckMessageRequestBody
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.accounts import Permission

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand

PUB_OR_SUB: Final = Permission.PUB | Permission.SUB


class Need(NamedTuple):
    """A resource and what is needed to use it.

    Attributes:
        kind: ``Topic``, ``Group`` or ``Cluster``.
        name: its name.
        permission: one of these for the topic or the group; None: that of an administrator.
    """

    kind: str
    name: str
    permission: Permission | None


Fields = Mapping[str, str]
_Needs = Callable[["RemotingCommand", Fields], Iterator[Need]]


def needs_of(request: RemotingCommand, cluster: str) -> Iterator[Need]:
    """Yield what a request needs; nothing if every account may send it.

    Raises:
        RocketWireError: its body cannot be read.
    """
    fields = request.ext_fields or {}
    needs = _NEEDS.get(request.code)
    if needs is None:
        yield _administered(fields, cluster)
    else:
        yield from needs(request, fields)


def needs_of_topic(name: str | None, permission: Permission) -> Iterator[Need]:
    """Yield the need for a topic; a retry topic counts as its group."""
    if name and name.startswith(RETRY_PREFIX):
        yield Need("Group", name.removeprefix(RETRY_PREFIX), Permission.SUB)
    elif name:
        yield Need("Topic", name, permission)


def _administered(fields: Fields, cluster: str) -> Need:
    for kind, names in (("Topic", _TOPIC_FIELDS), ("Group", _GROUP_FIELDS)):
        for name in names:
            if fields.get(name):
                return Need(kind, fields[name], None)
    return Need("Cluster", cluster, None)


def _needs_of_group(name: str | None) -> Iterator[Need]:
    if name:
        yield Need("Group", name, Permission.SUB)


def _sending(field: str) -> _Needs:
    def needs(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
        yield from needs_of_topic(fields.get(field), Permission.PUB)

    return needs


def _reading(
    topic: str | None, group: str | None, permission: Permission = Permission.SUB
) -> _Needs:
    """Return the needs of requests whose fields name a topic, a group or both."""

    def needs(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
        if topic is not None:
            yield from needs_of_topic(fields.get(topic), permission)
        if group is not None:
            yield from _needs_of_group(fields.get(group))

    return needs


def _heartbeat(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    data = decode_body(HeartbeatData, request.body)
    for consumer in () if data is None else data.consumer_data_set or ():
        yield from _needs_of_group(consumer.group_name)
        for subscription in consumer.subscription_data_set or ():
            if not (subscription.topic or "").startswith(RETRY_PREFIX):
                yield from needs_of_topic(subscription.topic, Permission.SUB)


def _locks(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body: LockBatchRequestBody | UnlockBatchRequestBody | None
    if request.code == RequestCode.LOCK_BATCH_MQ:
        body = decode_body(LockBatchRequestBody, request.body)
    else:
        body = decode_body(UnlockBatchRequestBody, request.body)
    if body is None:
        return
    yield from _needs_of_group(body.consumer_group)
    for topic in {queue.topic for queue in body.mq_set or ()}:
        if not (topic or "").startswith(RETRY_PREFIX):
            yield from needs_of_topic(topic, Permission.SUB)


def _lite_subscriptions(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body = decode_body(LiteSubscriptionCtlRequestBody, request.body)
    for change in () if body is None else body.subscription_set or ():
        yield from _needs_of_group(change.group)
        yield from needs_of_topic(change.topic, Permission.SUB)


def _assignment(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body = decode_body(QueryAssignmentRequestBody, request.body)
    if body is not None:
        yield from _needs_of_group(body.consumer_group)
        yield from needs_of_topic(body.topic, Permission.SUB)


def _expression_check(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body = decode_body(CheckClientRequestBody, request.body)
    if body is not None:
        yield from _needs_of_group(body.group)
        if body.subscription_data is not None:
            yield from needs_of_topic(body.subscription_data.topic, Permission.SUB)


def _acknowledgements(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body = decode_body(BatchAckMessageRequestBody, request.body)
    for ack in () if body is None else body.acks or ():
        yield from _needs_of_group(ack.consumer_group)
        yield from needs_of_topic(ack.topic, Permission.SUB)


_TOPIC_FIELDS: Final = ("topic",)
_GROUP_FIELDS: Final = ("groupName", "consumerGroup", "group")
_CONSUMING: Final = _reading("topic", "consumerGroup")
_SEEING_TOPIC: Final = _reading("topic", None, PUB_OR_SUB)
_SEEING_GROUP: Final = _reading("topic", "group", PUB_OR_SUB)

_NEEDS: Final[Mapping[int, _Needs]] = {
    RequestCode.SEND_MESSAGE: _sending("topic"),
    RequestCode.SEND_MESSAGE_V2: _sending("b"),
    RequestCode.SEND_BATCH_MESSAGE: _sending("b"),
    RequestCode.SEND_REPLY_MESSAGE: _sending("topic"),
    RequestCode.SEND_REPLY_MESSAGE_V2: _sending("b"),
    RequestCode.RECALL_MESSAGE: _sending("topic"),
    RequestCode.END_TRANSACTION: _sending(
        "topic"
    ),  # 4.x names no topic: the handler asks for that of the half message
    RequestCode.CONSUMER_SEND_MSG_BACK: _reading("originTopic", "group"),
    RequestCode.PULL_MESSAGE: _CONSUMING,
    RequestCode.LITE_PULL_MESSAGE: _CONSUMING,
    RequestCode.POP_MESSAGE: _CONSUMING,
    RequestCode.PEEK_MESSAGE: _CONSUMING,
    RequestCode.POP_LITE_MESSAGE: _CONSUMING,
    RequestCode.LITE_SUBSCRIPTION_CTL: _lite_subscriptions,
    RequestCode.NOTIFICATION: _CONSUMING,
    RequestCode.POLLING_INFO: _CONSUMING,
    RequestCode.ACK_MESSAGE: _CONSUMING,
    RequestCode.BATCH_ACK_MESSAGE: _acknowledgements,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: _CONSUMING,
    RequestCode.QUERY_ASSIGNMENT: _assignment,
    RequestCode.CHECK_CLIENT_CONFIG: _expression_check,
    RequestCode.QUERY_MESSAGE: _reading("topic", None),
    RequestCode.VIEW_MESSAGE_BY_ID: _reading(
        "topic", None
    ),  # the handler asks for the topic of the message
    RequestCode.HEART_BEAT: _heartbeat,
    RequestCode.UNREGISTER_CLIENT: _reading(None, "consumerGroup"),
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: _reading(None, "consumerGroup"),
    RequestCode.QUERY_CONSUMER_OFFSET: _CONSUMING,
    RequestCode.UPDATE_CONSUMER_OFFSET: _CONSUMING,
    RequestCode.LOCK_BATCH_MQ: _locks,
    RequestCode.UNLOCK_BATCH_MQ: _locks,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: _SEEING_TOPIC,
    RequestCode.GET_MAX_OFFSET: _SEEING_TOPIC,
    RequestCode.GET_MIN_OFFSET: _SEEING_TOPIC,
    RequestCode.GET_EARLIEST_MSG_STORETIME: _SEEING_TOPIC,
    RequestCode.GET_TOPIC_STATS_INFO: _SEEING_TOPIC,
    RequestCode.GET_TOPIC_CONFIG: _SEEING_TOPIC,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: _SEEING_TOPIC,
    RequestCode.QUERY_CONSUME_QUEUE: _reading("topic", "consumerGroup", PUB_OR_SUB),
    RequestCode.GET_CONSUME_STATS: _reading("topic", "consumerGroup", PUB_OR_SUB),
    RequestCode.GET_CONSUMER_CONNECTION_LIST: _reading(None, "consumerGroup"),
    RequestCode.GET_CONSUMER_RUNNING_INFO: _reading(None, "consumerGroup"),
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: _SEEING_GROUP,
    RequestCode.QUERY_CONSUME_TIME_SPAN: _SEEING_GROUP,
    RequestCode.QUERY_TOPICS_BY_CONSUMER: _reading(None, "group"),
    RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER: _SEEING_GROUP,
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: _reading(None, "group"),
}
"""What accounts may do, by request code."""
