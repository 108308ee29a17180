"""Requests that are passed on to clients (broker.md 16.3)."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.callbacks import GetConsumerStatusBody
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client, bodies

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


def test_a_clients_answer_comes_back(operator: Client, consumer: Client) -> None:
    opaque = operator.ask(307, {**WHO, "jstackEnable": "false"})
    (request,) = consumer.requests()
    consumer.respond(request, 0, b"{}")

    answer = operator.answer_to(opaque)

    assert (request.code, request.ext_fields) == (307, {**WHO, "jstackEnable": "false"})
    assert answer is not None
    assert (answer.code, answer.body) == (0, b"{}")


def test_a_client_that_does_not_answer_is_a_timeout(
    home: BrokerAtHand, operator: Client, consumer: Client
) -> None:
    opaque = operator.ask(307, WHO)
    home.pass_time(10_000)

    answer = operator.answer_to(opaque)

    assert answer is not None
    assert answer.code == 207
    assert (answer.remark or "").startswith("consumer <readers> <c> Timeout:")


@pytest.mark.parametrize("code", [307, 309])
def test_a_client_that_is_not_there_is_an_error(operator: Client, code: int) -> None:
    answer = operator.call(code, {**WHO, "msgId": "0" * 32})

    assert (answer.code, answer.remark) == (1, "The Consumer <readers> <c> not online")


def test_a_message_is_passed_on_with_its_bytes(operator: Client, consumer: Client) -> None:
    message_id = (operator.send(body=b"this").ext_fields or {})["msgId"]

    operator.ask(309, {**WHO, "msgId": message_id})

    (request,) = consumer.requests()
    assert bodies(request) == [b"this"]
    assert (request.ext_fields or {})["brokerName"] == "broker-a"
    assert operator.call(309, {**WHO, "msgId": "odd"}).code == 1


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
