"""Popping (broker.md 13.1)."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, bodies
from tests.support.broker_pops import Popper


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"maxMsgNums": 33}, 29, "the broker[127.0.0.1] pop message's num is greater than 32"),
        ({"maxMsgNums": 0}, 210, "NO_MESSAGE_IN_QUEUE"),
        ({"topic": "nothing"}, 17, "topic[nothing] not exist"),
        ({"consumerGroup": "a b"}, 26, "subscription group [a b] does not exist"),
        ({"queueId": 4}, 29, "queueId[4] is illegal, topic:[orders]"),
        ({"expType": "SQL92", "exp": "a >"}, 23, "parse the consumer's subscription failed"),
        ({"bornTime": 1}, 210, "the broker[127.0.0.1] pop message is timeout too much"),
    ],
)
def test_refused_pops_have_the_four_required_fields(
    popper: Popper, changes: dict[str, object], code: int, remark: str
) -> None:
    answer = popper.answer(**changes)

    assert answer.code == code
    assert (answer.remark or "").startswith(remark)
    assert {"popTime", "invisibleTime", "reviveQid", "restNum"} <= (answer.ext_fields or {}).keys()


def test_topics_that_may_not_be_read_and_brokers_without_timers_refuse_pops(
    home: BrokerAtHand, popper: Popper
) -> None:
    home.broker.topics.put(new_topic("orders", 4, perm=2), home.now)

    assert popper.answer().code == 16

    bare = BrokerAtHand(timer_enabled=False)
    bare.broker.topics.put(new_topic("orders", 4), bare.now)
    assert Popper(bare, bare.connect()).answer().code == 1


def test_a_pop_waits_until_its_time_is_over(home: BrokerAtHand, popper: Popper) -> None:
    number = popper.ask(poll=2_000)

    home.pass_time(1_999)
    assert popper.client.answer_to(number) is None
    home.pass_time(1)
    answer = popper.client.answer_to(number)

    assert answer is not None
    assert (answer.code, answer.remark) == (210, "NO_MESSAGE_IN_QUEUE")
    fields = answer.ext_fields or {}
    assert (fields["startOffsetInfo"], fields["msgOffsetInfo"], fields["restNum"]) == ("", "", "0")


def test_a_matching_message_wakes_a_pop_and_another_does_not(
    client: Client, popper: Popper
) -> None:
    number = popper.ask(queue=-1, poll=2_000, expType="TAG", exp="A")

    client.send(properties={"TAGS": "B"})
    assert client.answer_to(number) is None
    client.send(queue=3, properties={"TAGS": "A"}, body=b"this")
    answer = client.answer_to(number)

    assert answer is not None
    assert bodies(answer) == [b"this"]


def test_one_message_wakes_the_pop_that_waits_longest(home: BrokerAtHand, popper: Popper) -> None:
    other = Popper(home, home.connect())
    first, second = popper.ask(poll=5_000), other.ask(poll=5_000)

    home.connect().send()

    assert popper.client.answer_to(first) is not None
    assert other.client.answer_to(second) is None


def test_a_pop_without_a_time_is_taken_as_sent_now(client: Client, popper: Popper) -> None:
    client.send()

    assert popper.answer(bornTime=0).code == 0


def test_a_clock_that_a_test_has_moved_does_not_make_pops_late(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    client.send()
    home.pass_time(3_600_000)
    home.broker.clock_advance = 3_600_000

    assert popper.answer(bornTime=home.now - 3_600_000).code == 0


# ---------------------------------------------------------------------------- in order


def test_an_acknowledgement_wakes_a_pop_in_order(client: Client, popper: Popper) -> None:
    for number in range(2):
        client.send(body=b"%d" % number)
    first = popper.pop(order=True, count=1)
    number = popper.ask(order=True, count=1, poll=5_000)

    popper.settle(200051, first[0])
    answer = client.answer_to(number)

    assert answer is not None
    assert bodies(answer) == [b"1"]


def test_the_end_of_a_hidden_time_wakes_a_pop_in_order(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    client.send(body=b"0")
    popper.pop(order=True, invisible=1_000)
    number = popper.ask(order=True, poll=5_000)

    home.pass_time(1_000)
    answer = client.answer_to(number)

    assert answer is not None
    assert bodies(answer) == [b"0"]


# ---------------------------------------------------------------------------- peek, notification
