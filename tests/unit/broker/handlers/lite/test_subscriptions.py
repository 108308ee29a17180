"""Changes of subscriptions to lite topics."""

from __future__ import annotations

import pytest

from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import PARENT, Reader, light, put_group, put_parent, send


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand(max_lite_subscriptions=4)
    put_parent(home)
    put_group(home)
    return home


def queues(home: BrokerAtHand, client_id: str = "reader") -> list[str] | None:
    subscription = home.broker.lite.subscriptions.get(client_id)
    return None if subscription is None else sorted(subscription.queues)


def test_too_many_subscriptions_and_too_many_clients_are_refused(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    remark = (
        "org.apache.rocketmq.broker.lite.LiteQuotaException: lite subscription quota exceeded 4"
    )

    assert reader.subscribe("a", "b", "c").code == 0
    assert reader.subscribe("d", "e").code == 0  # as Java: it looks at what there was before
    answers = [reader.subscribe("f"), reader.change(Action.COMPLETE_ADD, "e", "f")]
    reader.change(Action.COMPLETE_REMOVE)
    answers.append(reader.subscribe("a", "b", "c", "d", "e"))
    for number in range(4):
        Reader(home, client, f"client-{number}").change(Action.PARTIAL_REMOVE, "a")
    answers.append(reader.change(Action.PARTIAL_REMOVE, "a"))

    assert [(answer.code, answer.remark) for answer in answers] == [(2018, remark)] * 4


def test_only_the_broker_that_has_a_lite_topic_takes_subscriptions_to_it(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    routes = home.broker.routes
    asked: list[str] = []
    routes.on_asked = lambda: asked.extend(routes.pending())
    opaque = client.ask(200071, {}, reader.body(Action.PARTIAL_ADD, "a", "b", "c", "d"))

    assert (client.answer_to(opaque), asked) == (None, [PARENT])
    at = [
        MessageQueue(topic=PARENT, broker_name=name, queue_id=number)
        for name in ("broker-a", "broker-b")
        for number in range(2)
    ]
    routes.put(PARENT, at, home.now)
    home.settle()

    assert client.answer_to(opaque) is not None
    own = queues(home) or []
    assert 0 < len(own) < 4
    other = next(name for name in "abcd" if light(name) not in own)
    home.broker.store.has_lmqs = True
    send(client, other, "1")  # a message of it makes this broker its own, too
    reader.subscribe(other)
    assert light(other) in (queues(home) or [])


def test_a_request_that_nobody_waits_for_asks_no_name_server(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    home.broker.routes.on_asked = lambda: None

    client.ask(200071, {}, reader.body(Action.PARTIAL_ADD, "a"), flag=2)

    assert queues(home) == [light("a")]
