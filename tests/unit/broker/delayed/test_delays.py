"""Delay levels: the topic and the queue in which a message waits, and its delivery."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.messages import decode_body
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.offsets import DelayOffsetSerializeWrapper
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire_broker.delayed.delays import AT_ONCE
from tests.support.broker import BrokerAtHand, Client, bodies
from tests.support.values import require

SECOND = 1_000


def test_first_copy_is_in_the_queue_of_its_level(client: Client) -> None:
    client.send(properties={"DELAY": "18"})
    client.send(properties={"DELAY": "99"}, body=b"beyond the last level")

    result = bodies(client.pull_now(topic=SCHEDULE_TOPIC, queue=17))

    assert result == [b"body", b"beyond the last level"]


def test_an_operator_may_choose_other_delays() -> None:
    home = BrokerAtHand(delay_levels="100s 1s")
    client = home.connect()
    client.send(properties={"DELAY": "2"}, body=b"fast")
    client.send(properties={"DELAY": "3"}, body=b"the last level")

    home.pass_time(SECOND)

    assert bodies(client.pull_now()) == [b"fast", b"the last level"]


def test_delayed_messages_that_were_evicted_do_not_stop_the_others() -> None:
    home = BrokerAtHand(retain_bytes=2_000)
    client = home.connect()
    for number in range(20):
        client.send(properties={"DELAY": "1"}, body=str(number).encode())

    home.pass_time(SECOND)
    result = bodies(client.pull_now(home.broker.store.min_offset("orders", 0)))

    assert result[-1] == b"19"
    assert home.broker.delivered == {0: 20}


@pytest.mark.parametrize("properties", [{"DELAY": "1"}, {"TIMER_DELAY_MS": "1000"}])
def test_due_messages_leave_time(
    home: BrokerAtHand, client: Client, properties: dict[str, str | None]
) -> None:
    for _ in range(AT_ONCE + 1):
        client.send(properties=properties)

    home.pass_time(SECOND)
    assert home.broker.store.max_offset("orders", 0) == AT_ONCE
    home.pass_time(1)
    assert home.broker.store.max_offset("orders", 0) == AT_ONCE + 1


def test_operators_see_how_far_each_level_is(home: BrokerAtHand, client: Client) -> None:
    for level in ("1", "1", "2"):
        client.send(properties={"DELAY": level})
    home.pass_time(SECOND)

    answer = client.call(Code.GET_ALL_DELAY_OFFSET)
    offsets = require(decode_body(DelayOffsetSerializeWrapper, answer.body))
    answer = client.call(Code.GET_BROKER_RUNTIME_INFO)
    figures = require(decode_body(KVTable, answer.body)).table or {}

    assert offsets.offset_table == {1: 2, 2: 0}
    assert figures["scheduleMessageOffset_1"] == "2,2"
    assert figures["scheduleMessageOffset_2"] == "0,1"
