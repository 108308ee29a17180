"""Peeking, and asking whether there is something to pop and how many wait for it (broker.md 13.3)."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_pops import GROUP, Popper


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


def notify(home: BrokerAtHand, client: Client, poll: int, **changes: object) -> int:
    fields: dict[str, object] = {
        "consumerGroup": GROUP,
        "topic": "orders",
        "queueId": -1,
        "pollTime": poll,
        "bornTime": home.now,
    }
    return client.ask(200054, {**fields, **changes})


def test_a_notification_in_order_does_not_see_what_another_attempt_hides(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    client.send()
    popper.pop(order=True, attemptId="a")

    same = client.answer_to(notify(home, client, 0, order=True, attemptId="a"))
    other = client.answer_to(notify(home, client, 0, order=True, attemptId="b"))

    assert same is not None
    assert (same.ext_fields or {})["hasMsg"] == "true"
    assert other is not None
    assert (other.ext_fields or {})["hasMsg"] == "false"


def test_the_number_of_waiting_pops_is_bounded_and_told() -> None:
    home = BrokerAtHand(max_polls=2)
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(2):
        popper.ask(poll=5_000)

    answer = popper.answer(poll=5_000)
    told = client.call(200055, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0})

    assert answer.code == 209
    assert (told.ext_fields or {})["pollingNum"] == "2"
