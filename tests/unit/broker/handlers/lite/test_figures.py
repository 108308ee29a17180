"""Lite topics for operators."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.lite import GetLiteTopicInfoResponseBody
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import PARENT, put_group, put_parent


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home, minutes=30)
    put_group(home)
    return home


def test_a_lite_topic_belongs_to_the_broker_of_its_queue(
    home: BrokerAtHand, client: Client
) -> None:
    routes = home.broker.routes
    routes.on_asked = lambda: None
    opaque = client.ask(200076, {"parentTopic": PARENT, "liteTopic": "a"})
    assert client.answer_to(opaque) is None

    routes.put(PARENT, [MessageQueue(topic=PARENT, broker_name="b", queue_id=0)], home.now)
    home.settle()

    answer = client.answer_to(opaque)
    assert answer is not None
    body = decode_body(GetLiteTopicInfoResponseBody, answer.body)
    assert body is not None
    assert (body.sharding_to_broker, body.subscriber) == (False, ())
    assert body.topic_offset is not None
    assert body.topic_offset.max_offset == 0
