"""Popping (broker.md 13.1)."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_pops import Popper


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


def test_topics_that_may_not_be_read_and_brokers_without_timers_refuse_pops(
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


# ---------------------------------------------------------------------------- in order


# ---------------------------------------------------------------------------- peek, notification
