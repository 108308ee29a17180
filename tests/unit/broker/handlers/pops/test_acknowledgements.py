"""Acknowledging popped messages and changing the time they are hidden (broker.md 13.2, 13.3, 13.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker_pops import GROUP, Popper

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client

ACK, CHANGE, BATCH = 200051, 200053, 200151


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    for number in range(3):
        client.send(body=b"%d" % number)
    return client


# ---------------------------------------------------------------------------- in order


def committed(client: Client) -> str:
    answer = client.call(14, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0})
    return (answer.ext_fields or {})["offset"]


def test_in_order_a_handle_of_an_earlier_pop_does_nothing(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    old = popper.pop(order=True)[0]
    home.pass_time(10_000)
    popper.pop(order=True)

    answer = popper.settle(ACK, old)

    assert answer.code == 0
    assert committed(client) == "0"


def test_in_order_a_changed_time_blocks_the_queue_until_then(
    home: BrokerAtHand, popper: Popper
) -> None:
    message = popper.pop(order=True, count=1)[0]

    answer = popper.settle(CHANGE, message, invisibleTime=30_000)

    assert (answer.ext_fields or {})["reviveQid"] == "999"
    home.pass_time(29_999)
    assert popper.pop(order=True) == []
    home.pass_time(1)
    assert [again.body for again in popper.pop(order=True, count=1)] == [b"0"]
