"""Popping messages, and what hides them."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_pops import Popper


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


def test_pop_of_an_unreadable_topic_or_without_timers_is_refused(
    home: BrokerAtHand, popper: Popper
) -> None:
    home.broker.topics.put(new_topic("orders", 4, perm=2), home.now)

    assert popper.answer().code == 16

    bare = BrokerAtHand(timer_enabled=False)
    bare.broker.topics.put(new_topic("orders", 4), bare.now)
    assert Popper(bare, bare.connect()).answer().code == 1


def test_a_clock_that_a_test_has_moved_does_not_make_pops_late(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    client.send()
    home.pass_time(3_600_000)
    home.broker.clock_advance = 3_600_000

    assert popper.answer(bornTime=home.now - 3_600_000).code == 0


def test_hidden_messages_are_bounded_and_other_requests_are_served() -> None:
    home = BrokerAtHand(max_hidden_messages=40)
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(64):
        client.send()

    assert len(popper.pop()) == 32
    assert popper.answer().code == 2
    assert client.pulled(0).code == 0


def test_a_pop_in_vain_is_answered_and_the_next_one_goes_on() -> None:
    home = BrokerAtHand(max_filtered=10)
    home.broker.topics.put(new_topic("orders", 1), home.now)
    client = home.connect()
    popper = Popper(home, client)
    for number in range(12):
        client.send(body=b"%d" % number, properties={"TAGS": "B" if number == 11 else "A"})

    assert popper.answer(count=8, exp="B", expType="TAG", poll=10_000).code == 210
    assert [one.body for one in popper.pop(count=8, exp="B", expType="TAG")] == [b"11"]
