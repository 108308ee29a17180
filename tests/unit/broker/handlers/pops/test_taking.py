"""Taking messages for a pop."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_pops import Popper


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


def test_hidden_messages_are_bounded() -> None:
    home = BrokerAtHand(max_hidden_messages=40)
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(64):
        client.send()

    assert len(popper.pop()) == 32
    assert popper.answer().code == 2
