"""The permissions that a request list_needs."""

from typing import TypeAlias

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.errors import DecodeError
from rocketwire.messages import encode_body
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    QueryAssignmentRequestBody,
    UnlockBatchRequestBody,
)
from rocketwire.messages.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    HeartbeatData,
    SubscriptionData,
)
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pop import BatchAck, BatchAckMessageRequestBody
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.access.accounts import Permission
from rocketwire_broker.handlers.requests import REQUESTS, needs_of

Needs: TypeAlias = list[tuple[str, str, Permission | None]]
PUB, SUB = Permission.PUB, Permission.SUB
OF_CLUSTER = [("Cluster", "DefaultCluster", None)]
OF_READER = [("Topic", "t", SUB), ("Group", "g", SUB)]

QUEUES = (MessageQueue(topic="t", broker_name="b", queue_id=0),)
SUBSCRIPTIONS = tuple(SubscriptionData(topic=name) for name in ("t", "%RETRY%g"))
CONSUMER = ConsumerData(group_name="g", subscription_data_set=SUBSCRIPTIONS)
BODIES: dict[int, object] = {
    Code.HEART_BEAT: HeartbeatData(client_id="c", consumer_data_set=(CONSUMER,)),
    Code.LOCK_BATCH_MQ: LockBatchRequestBody(consumer_group="g", mq_set=QUEUES),
    Code.UNLOCK_BATCH_MQ: UnlockBatchRequestBody(consumer_group="g", mq_set=QUEUES),
    Code.LITE_SUBSCRIPTION_CTL: LiteSubscriptionCtlRequestBody(
        subscription_set=(LiteSubscriptionDTO(group="g", topic="t", client_id="c"),)
    ),
    Code.BATCH_ACK_MESSAGE: BatchAckMessageRequestBody(
        acks=(BatchAck(consumer_group="g", topic="t", bit_set=frozenset({0})),)
    ),
    Code.QUERY_ASSIGNMENT: QueryAssignmentRequestBody(consumer_group="g", topic="t"),
    Code.CHECK_CLIENT_CONFIG: CheckClientRequestBody(
        group="g", subscription_data=SubscriptionData(topic="t")
    ),
}
"""Requests whose bodies name a group and a topic."""


def list_needs(code: int, body: object = None, **fields: str) -> Needs:
    data = body if isinstance(body, bytes) else encode_body(body) if body is not None else None
    request = RemotingCommand(code=code, opaque=1, ext_fields=fields, body=data)
    return [(need.kind, need.name, need.permission) for need in needs_of(request, "DefaultCluster")]


@pytest.mark.parametrize(
    ("code", "fields", "expected"),
    [
        (Code.SEND_MESSAGE, {"topic": "t"}, [("Topic", "t", PUB)]),
        (Code.SEND_MESSAGE_V2, {"b": "t"}, [("Topic", "t", PUB)]),
        (Code.SEND_BATCH_MESSAGE, {"b": "t"}, [("Topic", "t", PUB)]),
        (Code.SEND_MESSAGE_V2, {"b": "%RETRY%g"}, [("Group", "g", SUB)]),
        (Code.CONSUMER_SEND_MSG_BACK, {"group": "g", "originTopic": "t"}, OF_READER),
        (Code.PEEK_MESSAGE, {"topic": "t", "consumerGroup": "g"}, OF_READER),
        (Code.GET_MAX_OFFSET, {"topic": "t"}, [("Topic", "t", PUB | SUB)]),
        (Code.PULL_MESSAGE, {"topic": "t", "consumerGroup": "g"}, OF_READER),
        (Code.POP_MESSAGE, {"topic": "%RETRY%g", "consumerGroup": "g"}, [("Group", "g", SUB)] * 2),
        (Code.QUERY_MESSAGE, {"topic": "t"}, [("Topic", "t", SUB)]),
        (Code.UPDATE_AND_CREATE_TOPIC, {"topic": "t"}, [("Topic", "t", None)]),
        (Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"}, [("Group", "g", None)]),
        (Code.UPDATE_BROKER_CONFIG, {}, OF_CLUSTER),
        (Code.GET_BROKER_CONFIG, {}, OF_CLUSTER),
        (9999, {}, OF_CLUSTER),
        (Code.PULL_MESSAGE, {}, []),
    ],
)
def test_needs_of_fields(code: int, fields: dict[str, str], expected: Needs) -> None:
    assert list_needs(code, **fields) == expected


@pytest.mark.parametrize("code", BODIES)
def test_needs_of_bodies(code: int) -> None:
    assert list_needs(code, BODIES[code]) == [("Group", "g", SUB), ("Topic", "t", SUB)]
    assert list_needs(code) == []


@pytest.mark.parametrize("code", sorted(REQUESTS))
def test_every_code_needs_a_permission(code: int) -> None:
    fields = {"topic": "t", "b": "t", "consumerGroup": "g", "group": "g", "originTopic": "t"}

    assert list_needs(code, BODIES.get(code), **fields)


def test_a_body_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(DecodeError):
        list_needs(Code.HEART_BEAT, b"{")
