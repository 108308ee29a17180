"""Popping, peeking, and asking whether there is something to pop (broker.md 13.1, 13.3)."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, bodies
from tests.support.broker_pops import GROUP, Popper, popped


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand()


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home.connect()


@pytest.fixture
def popper(home: BrokerAtHand, client: Client) -> Popper:
    return Popper(home, client)


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


def test_hidden_messages_are_bounded() -> None:
    home = BrokerAtHand(max_hidden_messages=40)
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(64):
        client.send()

    assert len(popper.pop()) == 32
    assert popper.answer().code == 2


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


def test_a_peek_shows_messages_and_takes_none(client: Client, popper: Popper) -> None:
    for number in range(3):
        client.send(body=b"%d" % number)

    answer = client.call(
        200052, {"consumerGroup": GROUP, "topic": "orders", "queueId": -1, "maxMsgNums": 2}
    )

    assert bodies(answer) == [b"0", b"1"]
    assert (answer.ext_fields or {}) == {
        "popTime": "0",
        "invisibleTime": "0",
        "reviveQid": "0",
        "restNum": "3",
    }
    assert len(popper.pop()) == 3


def notify(home: BrokerAtHand, client: Client, poll: int, **changes: object) -> int:
    fields: dict[str, object] = {
        "consumerGroup": GROUP,
        "topic": "orders",
        "queueId": -1,
        "pollTime": poll,
        "bornTime": home.now,
    }
    return client.ask(200054, {**fields, **changes})


def test_a_notification_says_whether_there_is_a_message(home: BrokerAtHand, client: Client) -> None:
    nothing = client.answer_to(notify(home, client, 0))
    client.send()
    something = client.answer_to(notify(home, client, 0))

    assert nothing is not None
    assert nothing.ext_fields == {"hasMsg": "false", "pollingFull": "false"}
    assert something is not None
    assert something.ext_fields == {"hasMsg": "true", "pollingFull": "false"}


def test_a_notification_waits_for_a_message_or_for_its_time(
    home: BrokerAtHand, client: Client
) -> None:
    woken, late = (
        notify(home, client, 2_000),
        notify(home, client, 1_000, topic="orders", queueId=3),
    )
    home.pass_time(1_000)
    client.send()

    answers = [client.answer_to(number) for number in (woken, late)]

    assert [answer and (answer.ext_fields or {})["hasMsg"] for answer in answers] == [
        "true",
        "false",
    ]


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
