"""Requests that are passed on to clients (broker.md 16.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.callbacks import GetConsumerStatusBody
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client

WHO: dict[str, object] = {"consumerGroup": "readers", "clientId": "c"}


@pytest.fixture
def operator(home: BrokerAtHand) -> Client:
    return home.connect()


@pytest.fixture
def consumer(home: BrokerAtHand) -> Client:
    client = home.connect()
    data = ConsumerData(group_name="readers", subscription_data_set=())
    client.call(34, {}, HeartbeatData(client_id="c", consumer_data_set=(data,)))
    client.requests()
    return client


def test_a_client_that_does_not_answer_is_a_timeout(
    home: BrokerAtHand, operator: Client, consumer: Client
) -> None:
    opaque = operator.ask(307, WHO)
    home.pass_time(10_000)

    answer = operator.answer_to(opaque)

    assert answer is not None
    assert answer.code == 207
    assert (answer.remark or "").startswith("consumer <readers> <c> Timeout:")


def test_the_members_of_a_group_are_asked_for_their_offsets(
    operator: Client, consumer: Client
) -> None:
    queue = MessageQueue(topic="orders", broker_name="broker-a", queue_id=0)
    opaque = operator.ask(223, {"topic": "orders", "group": "readers"})
    (request,) = consumer.requests()
    consumer.respond(request, 0, encode_body(GetConsumerStatusBody(message_queue_table={queue: 5})))

    answer = operator.answer_to(opaque)

    assert request.code == 221
    assert answer is not None
    body = decode_body(GetConsumerStatusBody, answer.body or b"")
    assert body is not None
    assert body.consumer_table == {"c": {queue: 5}}
    offline = operator.call(223, {"topic": "orders", "group": "nobody"})
    assert offline.code == 1
    nobody = operator.call(223, {"topic": "orders", "group": "readers", "clientAddr": "other"})
    assert nobody.code == 0
