"""Delay levels: where a message waits, when it comes, and what it looks like then."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.offsets import DelayOffsetSerializeWrapper
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire_broker.later.delays import AT_ONCE
from tests.support.broker import START, BrokerAtHand, bodies, messages

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000

LEVELS = {
    1: SECOND,
    2: 5 * SECOND,
    3: 10 * SECOND,
    4: 30 * SECOND,
    **{level: (level - 4) * MINUTE for level in range(5, 15)},
    15: 20 * MINUTE,
    16: 30 * MINUTE,
    17: HOUR,
    18: 2 * HOUR,
}
"""Delay of each level of Java's default ``messageDelayLevel``."""


@pytest.mark.parametrize("level", LEVELS)
def test_a_message_comes_when_the_delay_of_its_level_is_over(level: int) -> None:
    home = BrokerAtHand()
    client = home.connect()

    answer = client.send(properties={"DELAY": str(level)}, queue=2)

    assert answer.code == 0
    assert answer.ext_fields is not None
    assert answer.ext_fields["queueId"] == "2"
    assert answer.ext_fields["queueOffset"] == "0"
    assert "recallHandle" not in answer.ext_fields
    home.pass_time(LEVELS[level] - 1)
    assert bodies(client.pulled(queue=2)) == []
    home.pass_time(1)
    [message] = messages(client.pulled(queue=2))
    assert message.queue_id == 2
    assert message.queue_offset == 0
    assert message.store_timestamp == START + LEVELS[level]
    assert message.properties is not None
    assert {name: message.properties[name] for name in ("DELAY", "REAL_TOPIC", "REAL_QID")} == {
        "DELAY": str(level),
        "REAL_TOPIC": "orders",
        "REAL_QID": "2",
    }


def test_the_first_copy_lies_in_the_delay_topic_in_the_queue_of_its_level() -> None:
    home = BrokerAtHand()
    client = home.connect()
    client.send(properties={"DELAY": "18"})
    client.send(properties={"DELAY": "99"}, body=b"beyond the last level")

    found = bodies(client.pulled(topic=SCHEDULE_TOPIC, queue=17))

    assert found == [b"body", b"beyond the last level"]


def test_levels_come_in_the_order_of_their_times_not_of_their_sending() -> None:
    home = BrokerAtHand()
    client = home.connect()
    for level in (18, 5, 1, 5, 2):
        client.send(properties={"DELAY": str(level)}, body=str(level).encode())

    home.pass_time(2 * HOUR)

    assert bodies(client.pulled()) == [b"1", b"2", b"5", b"5", b"18"]


def test_a_pull_that_waits_is_answered_when_the_message_comes() -> None:
    home = BrokerAtHand()
    client = home.connect()
    client.send(properties={"DELAY": "1"})
    opaque = client.pull(hold=15_000)

    home.pass_time(999)
    assert client.answer_to(opaque) is None
    home.pass_time(1)

    answer = client.answer_to(opaque)
    assert answer is not None
    assert bodies(answer) == [b"body"]


@pytest.mark.parametrize("text", ["0", "-1"])
def test_no_level_is_no_delay(text: str) -> None:
    home = BrokerAtHand()
    client = home.connect()

    client.send(properties={"DELAY": text})

    [message] = messages(client.pulled())
    assert message.properties is not None
    assert message.properties["DELAY"] == text


def test_a_level_that_is_no_number_is_an_error_and_nothing_is_stored() -> None:
    home = BrokerAtHand()
    client = home.connect()

    answer = client.send(properties={"DELAY": "soon"})

    assert answer.code == 1
    assert home.broker.store.put_count == 0


def test_a_level_wins_over_a_time_of_delivery() -> None:
    home = BrokerAtHand()
    client = home.connect()

    client.send(properties={"DELAY": "1", "TIMER_DELAY_SEC": "30"})
    home.pass_time(SECOND)

    [message] = messages(client.pulled())
    assert "TIMER_DELAY_SEC" not in (message.properties or {})


def test_an_operator_may_choose_other_delays() -> None:
    home = BrokerAtHand(delay_levels="100s 1s")
    client = home.connect()
    client.send(properties={"DELAY": "2"}, body=b"fast")
    client.send(properties={"DELAY": "3"}, body=b"the last level")

    home.pass_time(SECOND)

    assert bodies(client.pulled()) == [b"fast", b"the last level"]


def test_delayed_messages_that_were_evicted_do_not_stop_the_others() -> None:
    home = BrokerAtHand(retain_bytes=2_000)
    client = home.connect()
    for number in range(20):
        client.send(properties={"DELAY": "1"}, body=str(number).encode())

    home.pass_time(SECOND)
    found = bodies(client.pulled(home.broker.store.min_offset("orders", 0)))

    assert found[-1] == b"19"
    assert home.broker.delivered == {0: 20}


@pytest.mark.parametrize("properties", [{"DELAY": "1"}, {"TIMER_DELAY_MS": "1000"}])
def test_many_messages_that_are_due_leave_time_for_requests(
    properties: dict[str, str | None],
) -> None:
    home = BrokerAtHand()
    client = home.connect()
    for _ in range(AT_ONCE + 1):
        client.send(properties=properties)

    home.pass_time(SECOND)
    assert home.broker.store.max_offset("orders", 0) == AT_ONCE
    home.pass_time(1)
    assert home.broker.store.max_offset("orders", 0) == AT_ONCE + 1


def test_operators_see_how_far_each_level_is() -> None:
    home = BrokerAtHand()
    client = home.connect()
    for level in ("1", "1", "2"):
        client.send(properties={"DELAY": level})
    home.pass_time(SECOND)

    offsets = decode_body(DelayOffsetSerializeWrapper, client.call(45).body or b"")
    figures = decode_body(KVTable, client.call(28).body or b"")

    assert offsets is not None
    assert offsets.offset_table == {1: 2, 2: 0}
    table = (figures and figures.table) or {}
    assert table["scheduleMessageOffset_1"] == "2,2"
    assert table["scheduleMessageOffset_2"] == "0,1"
