"""What a request needs: permissions for topics and groups, or those of an administrator.

Java: ``DefaultAuthorizationContextBuilder`` of 5.5.0; the codes of administrators are those of
``Permission.ADMIN_CODE`` of 4.9.4, and further ones that change the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, UnlockBatchRequestBody
from rocketwire.messages.heartbeat import HeartbeatData
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.accounts import Permission

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand


class Need(NamedTuple):
    """A resource and what is needed to use it.

    Attributes:
        kind: ``Topic``, ``Group`` or ``Cluster``.
        name: its name.
        permission: permission for a topic or a group; None: that of an administrator.
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
    if needs is not None:
        yield from needs(request, fields)
    elif request.code in _ADMIN:
        yield _administered(fields, cluster)


def _administered(fields: Fields, cluster: str) -> Need:
    for kind, names in (("Topic", _TOPIC_FIELDS), ("Group", _GROUP_FIELDS)):
        for name in names:
            if fields.get(name):
                return Need(kind, fields[name], None)
    return Need("Cluster", cluster, None)


def _topic(name: str | None, permission: Permission) -> Iterator[Need]:
    """Yield the need for a topic; a retry topic counts as its group."""
    if name and name.startswith(RETRY_PREFIX):
        yield Need("Group", name.removeprefix(RETRY_PREFIX), Permission.SUB)
    elif name:
        yield Need("Topic", name, permission)


def _group(name: str | None) -> Iterator[Need]:
    if name:
        yield Need("Group", name, Permission.SUB)


def _sending(field: str) -> _Needs:
    def needs(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
        yield from _topic(fields.get(field), Permission.PUB)

    return needs


def _reading(topic: str | None, group: str | None) -> _Needs:
    """Return the needs of requests whose fields name a topic, a group or both."""

    def needs(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
        if topic is not None:
            yield from _topic(fields.get(topic), Permission.SUB)
        if group is not None:
            yield from _group(fields.get(group))

    return needs


def _heartbeat(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    data = decode_body(HeartbeatData, request.body)
    for consumer in () if data is None else data.consumer_data_set or ():
        yield from _group(consumer.group_name)
        for subscription in consumer.subscription_data_set or ():
            if not (subscription.topic or "").startswith(RETRY_PREFIX):
                yield from _topic(subscription.topic, Permission.SUB)


def _locks(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body: LockBatchRequestBody | UnlockBatchRequestBody | None
    if request.code == RequestCode.LOCK_BATCH_MQ:
        body = decode_body(LockBatchRequestBody, request.body)
    else:
        body = decode_body(UnlockBatchRequestBody, request.body)
    if body is None:
        return
    yield from _group(body.consumer_group)
    for topic in {queue.topic for queue in body.mq_set or ()}:
        if not (topic or "").startswith(RETRY_PREFIX):
            yield from _topic(topic, Permission.SUB)


def _lite_subscriptions(request: RemotingCommand, fields: Fields) -> Iterator[Need]:
    body = decode_body(LiteSubscriptionCtlRequestBody, request.body)
    for change in () if body is None else body.subscription_set or ():
        yield from _group(change.group)
        yield from _topic(change.topic, Permission.SUB)


_TOPIC_FIELDS: Final = ("topic",)
_GROUP_FIELDS: Final = ("groupName", "consumerGroup", "group")

_NEEDS: Final[Mapping[int, _Needs]] = {
    RequestCode.SEND_MESSAGE: _sending("topic"),
    RequestCode.SEND_MESSAGE_V2: _sending("b"),
    RequestCode.SEND_BATCH_MESSAGE: _sending("b"),
    RequestCode.SEND_REPLY_MESSAGE: _sending("topic"),
    RequestCode.SEND_REPLY_MESSAGE_V2: _sending("b"),
    RequestCode.RECALL_MESSAGE: _sending("topic"),
    RequestCode.END_TRANSACTION: _sending("topic"),
    RequestCode.CONSUMER_SEND_MSG_BACK: _reading(None, "group"),
    RequestCode.PULL_MESSAGE: _reading("topic", "consumerGroup"),
    RequestCode.LITE_PULL_MESSAGE: _reading("topic", "consumerGroup"),
    RequestCode.POP_MESSAGE: _reading("topic", "consumerGroup"),
    RequestCode.POP_LITE_MESSAGE: _reading("topic", "consumerGroup"),
    RequestCode.LITE_SUBSCRIPTION_CTL: _lite_subscriptions,
    RequestCode.NOTIFICATION: _reading("topic", "consumerGroup"),
    RequestCode.POLLING_INFO: _reading("topic", "consumerGroup"),
    RequestCode.ACK_MESSAGE: _reading("topic", "consumerGroup"),
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: _reading("topic", "consumerGroup"),
    RequestCode.QUERY_MESSAGE: _reading("topic", None),
    RequestCode.HEART_BEAT: _heartbeat,
    RequestCode.UNREGISTER_CLIENT: _reading(None, "consumerGroup"),
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: _reading(None, "consumerGroup"),
    RequestCode.QUERY_CONSUMER_OFFSET: _reading("topic", "consumerGroup"),
    RequestCode.UPDATE_CONSUMER_OFFSET: _reading("topic", "consumerGroup"),
    RequestCode.LOCK_BATCH_MQ: _locks,
    RequestCode.UNLOCK_BATCH_MQ: _locks,
}

_ADMIN: Final = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
        RequestCode.UPDATE_BROKER_CONFIG,
        RequestCode.DELETE_TOPIC_IN_BROKER,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
        RequestCode.CLONE_GROUP_OFFSET,
        RequestCode.CONSUME_MESSAGE_DIRECTLY,
        RequestCode.SET_MESSAGE_REQUEST_MODE,
        RequestCode.RESUME_CHECK_HALF_MESSAGE,
        RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN,
    }
)
