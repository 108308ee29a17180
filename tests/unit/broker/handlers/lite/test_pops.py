"""Pops of lite topics."""

import pytest

from rocketwire.codes import ResponseCode
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, Reader, light, send, start_lite_broker


@pytest.fixture
def home() -> BrokerAtHand:
    return start_lite_broker()


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
