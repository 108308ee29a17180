"""Popped messages that were not acknowledged come again (broker.md 13.4)."""

import pytest

from rocketwire.codes import RequestCode as Code
from tests.support.broker import BrokerAtHand
from tests.support.broker_pops import GROUP, Popper


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(orders=4)


def test_redeliveries_are_counted_and_never_end(home: BrokerAtHand, popper: Popper) -> None:
    popper.client.send()
    popper.pop()

    counts: list[int] = []
    for _ in range(20):
        home.pass_time(10_000)
        counts += [message.reconsume_times for message in popper.pop(queue=-1)]

    assert counts == list(range(1, 21))


def test_a_waiting_pop_gets_the_redelivery_at_once(home: BrokerAtHand, popper: Popper) -> None:
    popper.client.send()
    popper.pop()
    number = popper.ask(queue=1, poll=20_000)

    home.pass_time(10_000)

    assert popper.client.answer_to(number) is not None


def test_deleted_topics_and_groups_have_no_redeliveries(home: BrokerAtHand, popper: Popper) -> None:
    popper.client.send()
    popper.pop()
    popper.pop(consumerGroup="others")

    popper.client.call(Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "others", "cleanOffset": True})
    assert len(home.broker.pops) == 1
    popper.client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": "orders"})

    assert len(home.broker.pops) == 0


def test_an_expired_message_does_not_come_again() -> None:
    home = BrokerAtHand(orders=4, retain_hours=0.001)
    popper = Popper(home, home.connect())
    popper.client.send()
    popper.pop(invisible=60_000)

    home.pass_time(60_000)

    assert popper.pop(queue=-1) == []
    assert len(home.broker.pops) == 0


def test_a_day_of_redeliveries_takes_no_time(home: BrokerAtHand, popper: Popper) -> None:
    popper.client.send()
    popper.pop(invisible=60_000)

    deliveries = 0
    for _ in range(24):
        home.pass_time(3_600_000)
        deliveries += len(popper.pop(queue=-1, invisible=60_000))

    assert deliveries == 24


def test_a_reset_offset_begins_anew(home: BrokerAtHand, popper: Popper) -> None:
    for number in range(3):
        popper.client.send(body=b"%d" % number)
    for message in popper.pop():
        popper.settle(Code.ACK_MESSAGE, message)
    home.broker.offsets.reset(GROUP, "orders", 0, 1, home.now)

    assert [message.body for message in popper.pop()] == [b"1", b"2"]


def test_delayed_message_waits_once_more_as_in_java(home: BrokerAtHand, popper: Popper) -> None:
    popper.client.send(properties={"DELAY": "1"})
    home.pass_time(1_000)
    popper.pop(invisible=10_000)

    home.pass_time(10_999)
    assert popper.pop(queue=-1) == []
    home.pass_time(1)

    assert [message.reconsume_times for message in popper.pop(queue=-1)] == [1]


def test_redelivery_too_large_to_store_is_lost_alone(home: BrokerAtHand, popper: Popper) -> None:
    size = next(
        size
        for size in range(32_760, 32_000, -10)
        if popper.client.send(properties={"x": "x" * size}).code == 0
    )
    popper.client.send(properties={"x": "x" * (size - 200)})
    popper.pop()

    home.pass_time(10_000)

    assert len(popper.pop(queue=-1)) == 1
