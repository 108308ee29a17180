"""Popping messages of lite topics, and what follows."""

from __future__ import annotations

import pytest

from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, Reader, light, put_group, put_parent, send


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home)
    put_group(home)
    return home


def test_more_pops_than_the_limit_may_not_wait() -> None:
    home = BrokerAtHand(max_polls=1)
    put_parent(home)
    put_group(home)
    client = home.connect()
    reader = Reader(home, client)
    waiting = [reader.ask(poll=30_000) for _ in range(2)]

    assert [client.answer_to(number) for number in waiting] == [None, None]
    assert reader.answer(poll=30_000).code == 209


def test_a_lite_topic_that_was_deleted_has_nothing(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1")
    reader.subscribe("a")
    home.broker.store.delete_topic(light("a"))

    assert reader.pop() == []


def test_an_acknowledgement_does_not_undo_a_reset(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()
    home.broker.offsets.reset(GROUP, light("a"), 0, 0, home.now)
    reader.ack("a", 0)

    home.pass_time(10_000)
    assert reader.pop() == [b"1", b"2"]
