"""Lite topics for operators."""

from rocketwire.codes import RequestCode as Code
from rocketwire.messages import decode_body
from rocketwire.messages.lite import GetLiteTopicInfoResponseBody
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import PARENT, put_parent
from tests.support.values import require


def test_lite_topic_belongs_to_the_broker_of_its_queue(home: BrokerAtHand, client: Client) -> None:
    put_parent(home)
    routes = home.broker.routes
    routes.on_asked = lambda: None
    opaque = client.ask(Code.GET_LITE_TOPIC_INFO, {"parentTopic": PARENT, "liteTopic": "a"})
    assert client.answer_to(opaque) is None

    routes.put(PARENT, [MessageQueue(topic=PARENT, broker_name="b", queue_id=0)], home.now)
    home.settle()

    body = require(decode_body(GetLiteTopicInfoResponseBody, client.take_answer(opaque).body))
    assert (body.sharding_to_broker, body.subscriber) == (False, ())
    assert require(body.topic_offset).max_offset == 0
