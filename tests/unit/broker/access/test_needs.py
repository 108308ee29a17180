"""What a request needs."""

from __future__ import annotations

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.errors import DecodeError
from rocketwire.messages import encode_body
from rocketwire.messages.allocation import LockBatchRequestBody
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData, SubscriptionData
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.access.accounts import Permission
from rocketwire_broker.access.needs import needs_of

PUB, SUB = Permission.PUB, Permission.SUB


def needs(
    code: int, body: object = None, **fields: str
) -> list[tuple[str, str, Permission | None]]:
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
        (Code.CONSUMER_SEND_MSG_BACK, {"group": "g", "originTopic": "t"}, [("Group", "g", SUB)]),
        (
            Code.PULL_MESSAGE,
            {"topic": "t", "consumerGroup": "g"},
            [("Topic", "t", SUB), ("Group", "g", SUB)],
        ),
        (
            Code.POP_MESSAGE,
            {"topic": "%RETRY%g", "consumerGroup": "g"},
            [("Group", "g", SUB), ("Group", "g", SUB)],
        ),
        (Code.QUERY_MESSAGE, {"topic": "t"}, [("Topic", "t", SUB)]),
        (Code.UPDATE_AND_CREATE_TOPIC, {"topic": "t"}, [("Topic", "t", None)]),
        (Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"}, [("Group", "g", None)]),
        (Code.UPDATE_BROKER_CONFIG, {}, [("Cluster", "DefaultCluster", None)]),
        (Code.GET_BROKER_CONFIG, {}, []),
        (9999, {}, []),
        (Code.PULL_MESSAGE, {}, []),
    ],
)
def test_fields_name_topics_and_groups(
    code: int, fields: dict[str, str], expected: list[tuple[str, str, Permission | None]]
) -> None:
    assert needs(code, **fields) == expected


def test_a_heartbeat_needs_its_groups_and_what_they_subscribe_to() -> None:
    topics = [SubscriptionData(topic=name) for name in ("t", "%RETRY%g")]
    data = ConsumerData(group_name="g", subscription_data_set=tuple(topics))

    found = needs(Code.HEART_BEAT, HeartbeatData(client_id="c", consumer_data_set=(data,)))

    assert found == [("Group", "g", SUB), ("Topic", "t", SUB)]
    assert needs(Code.HEART_BEAT) == []


def test_locks_need_their_group_and_their_topics() -> None:
    queues = (MessageQueue(topic="t", broker_name="b", queue_id=0),)
    body = LockBatchRequestBody(consumer_group="g", mq_set=queues)

    for code in (Code.LOCK_BATCH_MQ, Code.UNLOCK_BATCH_MQ):
        assert needs(code, body) == [("Group", "g", SUB), ("Topic", "t", SUB)]
        assert needs(code) == []


def test_subscriptions_to_lite_topics_need_their_groups_and_topics() -> None:
    change = LiteSubscriptionDTO(group="g", topic="rooms", client_id="c")
    body = LiteSubscriptionCtlRequestBody(subscription_set=(change,))

    assert needs(Code.LITE_SUBSCRIPTION_CTL, body=encode_body(body)) == [
        ("Group", "g", Permission.SUB),
        ("Topic", "rooms", Permission.SUB),
    ]


def test_a_body_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(DecodeError):
        needs(Code.HEART_BEAT, b"{")
