"""Popping messages of lite topics, and what follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.broker import BrokerAtHand, Client, bodies, messages
from tests.support.broker_lite import GROUP, PARENT, Reader, light, put_group, put_parent, send


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home)
    put_group(home)
    return home


def test_a_pop_finds_the_messages_of_all_lite_topics_of_a_client(
    client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    send(client, "b", "3")
    send(client, "c", "4")
    reader.subscribe("a", "b")

    answer = reader.answer()

    assert bodies(answer) == [b"1", b"2", b"3"]
    fields = answer.ext_fields or {}
    assert (answer.remark, fields["orderCountInfo"], fields["reviveQid"]) == (
        "FOUND",
        "0;0;0",
        "999",
    )
    second = messages(answer)[1]
    properties = second.properties or {}
    assert (second.topic, second.queue_offset) == (PARENT, 1)
    assert properties["INNER_MULTI_DISPATCH"] == light("a")
    assert properties["INNER_MULTI_QUEUE_OFFSET"] == "1"


def test_a_pop_takes_no_more_than_it_asks_for_and_the_rest_comes_after_the_acknowledgements(
    client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2", "3")
    reader.subscribe("a")

    assert reader.pop(count=2) == [b"1", b"2"]
    assert reader.ack("a", 1).code == 0
    assert reader.pop() == []
    assert reader.ack("a", 0).code == 0
    assert reader.pop() == [b"3"]


def test_a_pop_that_waits_gets_the_message_that_comes(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    reader.subscribe("a")
    waiting = reader.ask(poll=30_000)

    assert client.answer_to(waiting) is None
    send(client, "b", "0")
    send(client, "a", "1")
    answer = client.answer_to(waiting)

    assert answer is not None
    assert bodies(answer) == [b"1"]
    in_vain = reader.ask(poll=1_000)
    home.pass_time(1_000)
    answer = client.answer_to(in_vain)
    assert answer is not None
    assert (answer.code, answer.remark) == (210, "NO_MESSAGE_IN_QUEUE")


def test_a_pop_that_does_not_wait_is_answered_at_once(reader: Reader) -> None:
    assert reader.answer().code == 210


def test_one_pop_of_two_that_wait_gets_a_message(client: Client, reader: Reader) -> None:
    reader.subscribe("a")
    first, second = reader.ask(poll=30_000), reader.ask(poll=30_000)

    send(client, "a", "1")

    answers = [client.answer_to(first), client.answer_to(second)]
    assert sum(answer is not None for answer in answers) == 1


def test_more_pops_than_the_limit_may_not_wait() -> None:
    home = BrokerAtHand(max_polls=1)
    put_parent(home)
    put_group(home)
    client = home.connect()
    reader = Reader(home, client)
    waiting = [reader.ask(poll=30_000) for _ in range(2)]

    assert [client.answer_to(number) for number in waiting] == [None, None]
    assert reader.answer(poll=30_000).code == 209


def test_messages_whose_time_is_over_come_again_with_the_number_of_their_deliveries(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop(count=1, invisible=1_000)

    home.pass_time(999)
    assert reader.pop() == []
    home.pass_time(1)
    answer = reader.answer()

    assert bodies(answer) == [b"1", b"2"]
    assert (answer.ext_fields or {})["orderCountInfo"] == "0 qo0%0 1"


def test_an_attempt_gets_its_messages_again(client: Client, reader: Reader) -> None:
    send(client, "a", "1")
    reader.subscribe("a")
    reader.pop(attemptId="one")

    client.call(200079, {"group": GROUP, "clientId": reader.client_id})
    assert reader.pop(attemptId="two") == []
    client.call(200079, {"group": GROUP, "clientId": reader.client_id})
    assert reader.pop(attemptId="one") == [b"1"]


def test_a_group_begins_at_the_first_message_that_is_kept_or_at_the_last_one(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2", "3")
    queue = home.broker.store.queue(light("a"), 0)
    assert queue is not None
    queue.drop_first()
    reader.subscribe("a")

    assert reader.pop() == [b"3"]
    assert home.broker.offsets.get(GROUP, light("a"), 0) == 2


def test_a_group_goes_on_inside_the_bounds_of_a_queue(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1")
    home.broker.offsets.commit(GROUP, light("a"), 0, 77, home.now)
    reader.subscribe("a")

    assert reader.pop() == []
    assert home.broker.offsets.get(GROUP, light("a"), 0) == 1


def test_a_lite_topic_that_was_deleted_has_nothing(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1")
    reader.subscribe("a")
    home.broker.store.delete_topic(light("a"))

    assert reader.pop() == []


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"maxMsgNum": 33}, 29, "the broker[127.0.0.1] pop message's num is greater than 32"),
        ({"topic": "unknown"}, 17, "topic [unknown] not exist, apply first please! "),
        ({"topic": "TBW102"}, 29, "the topic [TBW102] message type not match"),
        ({"topic": "silent"}, 16, "the topic [silent] peeking message is forbidden"),
        ({"consumerGroup": "a b"}, 26, "subscription group [a b] not exist, "),
        ({"consumerGroup": "closed"}, 16, "subscription group no permission, closed"),
        ({"consumerGroup": "other"}, 29, "subscription bind topic not match, other"),
        ({"bornTime": 1}, 210, "the broker[127.0.0.1] pop message is timeout too much"),
    ],
)
def test_a_pop_is_refused(
    home: BrokerAtHand, reader: Reader, changes: dict[str, object], code: int, remark: str
) -> None:
    put_parent(home, "silent")
    topic = home.broker.topics.get("silent")
    assert topic is not None
    home.broker.topics.put(replace(topic, perm=2), home.now)
    put_group(home, "closed")
    group = home.broker.groups.get("closed")
    assert group is not None
    home.broker.groups.put(replace(group, consume_enable=False), home.now)

    answer = reader.answer(**changes)

    assert answer.code == code
    assert (answer.remark or "").startswith(remark)
    assert answer.ext_fields == {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
