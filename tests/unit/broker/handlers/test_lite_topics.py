"""Lite topics: subscriptions, pops, and what operators see."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import decode_body
from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.lite import GetLiteTopicInfoResponseBody
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, PARENT, Reader, light, send, start_lite_broker
from tests.support.values import require


@pytest.fixture
def home() -> BrokerAtHand:
    return start_lite_broker(max_lite_subscriptions=4)


def list_queues(home: BrokerAtHand) -> list[str]:
    return sorted(require(home.broker.lite.subscriptions.get("reader")).queues)


def test_subscriptions_and_clients_beyond_the_limit_are_refused(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    java = "org.apache.rocketmq.broker.lite.LiteQuotaException"
    refusal = (
        ResponseCode.LITE_SUBSCRIPTION_QUOTA_EXCEEDED,
        f"{java}: lite subscription quota exceeded 4",
    )
    assert reader.subscribe("a", "b", "c").code == 0
    assert reader.subscribe("d", "e").code == 0  # as Java: it looks at what there was before
    answers = [reader.subscribe("f"), reader.change(Action.COMPLETE_ADD, "e", "f")]
    reader.change(Action.COMPLETE_REMOVE)
    answers.append(reader.subscribe("a", "b", "c", "d", "e"))
    for number in range(4):
        Reader(home, client, f"client-{number}").change(Action.PARTIAL_REMOVE, "a")
    answers.append(reader.change(Action.PARTIAL_REMOVE, "a"))

    assert [(answer.code, answer.remark) for answer in answers] == [refusal] * 4


def test_subscription_has_one_broker(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    routes = home.broker.routes
    topics: list[str] = []
    routes.on_asked = lambda: topics.extend(routes.pending())
    body = reader.body(Action.PARTIAL_ADD, "a", "b", "c", "d")
    opaque = client.ask(Code.LITE_SUBSCRIPTION_CTL, {}, body)

    assert (client.answer_to(opaque), topics) == (None, [PARENT])
    places = [("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1)]
    queues = [MessageQueue(topic=PARENT, broker_name=b, queue_id=q) for b, q in places]
    routes.put(PARENT, queues, home.now)
    home.settle()

    client.take_answer(opaque)
    subscribed = list_queues(home)
    assert 0 < len(subscribed) < 4
    missing = next(name for name in "abcd" if light(name) not in subscribed)
    home.broker.store.has_lmqs = True
    send(client, missing, "1")  # a broker that has a message of it has its subscriptions, too
    reader.subscribe(missing)
    assert light(missing) in list_queues(home)


def test_oneway_subscription_counts(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    home.broker.routes.on_asked = lambda: None

    client.ask(Code.LITE_SUBSCRIPTION_CTL, {}, reader.body(Action.PARTIAL_ADD, "a"), flag=2)

    assert list_queues(home) == [light("a")]


def test_pops_beyond_the_limit_do_not_wait() -> None:
    home = start_lite_broker(max_polls=1)
    reader = Reader(home, home.connect())
    numbers = [reader.ask(poll=30_000) for _ in range(2)]

    assert [reader.client.answer_to(number) for number in numbers] == [None, None]
    assert reader.answer(poll=30_000).code == ResponseCode.POLLING_FULL


def test_pop_of_deleted_topic_is_empty(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    send(client, "a", "1")
    reader.subscribe("a")
    home.broker.store.delete_topic(light("a"))

    assert reader.pop() == []


def test_ack_does_not_undo_a_reset(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()
    home.broker.offsets.reset(GROUP, light("a"), 0, 0, home.now)
    reader.ack("a", 0)

    home.pass_time(10_000)
    assert reader.pop() == [b"1", b"2"]


def test_lite_topic_belongs_to_the_broker_of_its_queue(home: BrokerAtHand, client: Client) -> None:
    routes = home.broker.routes
    routes.on_asked = lambda: None
    opaque = client.ask(Code.GET_LITE_TOPIC_INFO, {"parentTopic": PARENT, "liteTopic": "a"})
    assert client.answer_to(opaque) is None

    routes.put(PARENT, [MessageQueue(topic=PARENT, broker_name="b", queue_id=0)], home.now)
    home.settle()

    body = require(decode_body(GetLiteTopicInfoResponseBody, client.take_answer(opaque).body))
    assert (body.sharding_to_broker, body.subscriber) == (False, ())
    assert require(body.topic_offset).max_offset == 0
