"""Taking messages for a pop."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_pops import GROUP, Popper, popped


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


def test_an_answer_says_where_its_messages_are_and_how_long_they_are_hidden(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    for queue in (0, 0, 1, 0):
        client.send(queue=queue)

    answer = popper.answer(queue=-1, count=3)

    fields = answer.ext_fields or {}
    assert (answer.code, answer.remark) == (0, "FOUND")
    assert fields["popTime"] == str(home.now)
    assert fields["invisibleTime"] == "10000"
    assert 0 <= int(fields["reviveQid"]) < 8
    assert fields["restNum"] == "1"
    assert sorted(fields["startOffsetInfo"].split(";")) == ["0 0 0", "0 1 0"]
    assert set(fields["msgOffsetInfo"].split(";")) <= {"0 0 0,1,2", "0 0 0,1", "0 1 0"}
    assert "orderCountInfo" not in fields


def test_a_second_pop_does_not_see_hidden_messages_and_the_offset_has_moved(
    client: Client, popper: Popper
) -> None:
    for number in range(4):
        client.send(body=b"%d" % number)

    first, second = popper.pop(count=2), popper.pop(count=10)

    assert [message.body for message in first] == [b"0", b"1"]
    assert [message.body for message in second] == [b"2", b"3"]
    offset = client.call(14, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0})
    assert (offset.ext_fields or {})["offset"] == "4"


def test_pops_of_all_queues_begin_with_another_queue_each_time(
    client: Client, popper: Popper
) -> None:
    for queue in (*range(4), *range(4)):
        client.send(queue=queue, body=b"%d" % queue)

    order = [popper.pop(queue=-1, count=1)[0].body for _ in range(4)]

    assert set(order) == {b"0", b"1", b"2", b"3"}


def test_messages_that_do_not_match_are_passed_for_good(client: Client, popper: Popper) -> None:
    for number in range(6):
        client.send(properties={"TAGS": "A" if number % 2 else "B"}, body=b"%d" % number)

    matching = popper.pop(expType="TAG", exp="A")

    assert [message.body for message in matching] == [b"1", b"3", b"5"]
    assert popper.pop() == []


def test_a_filter_that_matches_nothing_looks_at_the_whole_queue(
    client: Client, popper: Popper
) -> None:
    for _ in range(2_000):
        client.send(properties={"TAGS": "B"})
    client.send(properties={"TAGS": "A"}, body=b"rare")

    assert [message.body for message in popper.pop(expType="TAG", exp="A")] == [b"rare"]


def test_hidden_messages_are_bounded() -> None:
    home = BrokerAtHand(max_hidden_messages=40)
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(64):
        client.send()

    assert len(popper.pop()) == 32
    assert popper.answer().code == 2


def test_while_a_message_is_hidden_the_queue_gives_nothing_in_order(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    for number in range(3):
        client.send(body=b"%d" % number)

    first = popper.answer(order=True, count=2)

    assert (first.ext_fields or {})["reviveQid"] == "999"
    assert (first.ext_fields or {})["orderCountInfo"] == "0 0 0"
    assert popper.pop(order=True) == []
    home.pass_time(9_999)
    assert popper.pop(order=True) == []
    home.pass_time(1)
    assert [message.body for message in popper.pop(order=True)] == [b"0", b"1", b"2"]


def test_the_same_attempt_gets_the_same_messages_again(client: Client, popper: Popper) -> None:
    client.send()

    first = popper.pop(order=True, attemptId="a")

    assert len(first) == len(popper.pop(order=True, attemptId="a")) == 1
    assert popper.pop(order=True, attemptId="b") == []


def test_redeliveries_in_order_are_counted_by_message_and_by_queue(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    for number in range(2):
        client.send(body=b"%d" % number)
    first = popper.pop(order=True)
    popper.settle(200051, first[0])
    client.send(body=b"2")
    home.pass_time(10_000)

    again = popper.answer(order=True)

    assert (again.ext_fields or {})["orderCountInfo"] == "0 qo0%1 1;0 0 0"
    assert [message.reconsume_times for message in popped(again, order=True)] == [1, 0]
