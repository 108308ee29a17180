"""Delay levels, times of delivery and recalls."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import decode_body
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.offsets import DelayOffsetSerializeWrapper
from rocketwire.policy.resource_names import SCHEDULE_TOPIC, TIMER_TOPIC
from rocketwire.wire.message.host import Host
from rocketwire_broker.delayed.delays import AT_ONCE, parse_handle
from rocketwire_broker.delayed.put_hooks import make_dead_letter, store_message
from rocketwire_broker.storage.message import Message
from tests.support.broker import START, BrokerAtHand, Client, bodies, fields_of, messages
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


def test_the_first_copy_lies_in_the_timer_topic(client: Client) -> None:
    client.send(properties={"TIMER_DELAY_SEC": "1"})

    assert bodies(client.pull_now(topic=TIMER_TOPIC)) == [b"body"]


def test_without_timers_a_time_of_delivery_is_refused() -> None:
    client = BrokerAtHand(timer_enabled=False).connect()

    answer = client.send(properties={"TIMER_DELAY_SEC": "1"})

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert answer.remark == "accurate timer message is not enabled, timerWheelEnable is false"


def test_sent_back_message_has_the_delay_of_a_retry(home: BrokerAtHand, client: Client) -> None:
    client.send(properties={"TIMER_DELAY_SEC": "1"})
    home.pass_time(1_000)
    [message] = messages(client.pull_now())

    fields = {"offset": message.commit_log_offset, "group": "g", "delayLevel": 1}
    client.call(Code.CONSUMER_SEND_MSG_BACK, fields)
    home.pass_time(1_000)

    assert bodies(client.pull_now(topic="%RETRY%g")) == [b"body"]


def test_timed_message_too_large_is_refused_or_lost(home: BrokerAtHand, client: Client) -> None:
    codes = [
        client.send(properties={"TIMER_DELAY_SEC": "1", "x": "x" * size}).code
        for size in (32_760, 32_650, 32_500)
    ]
    accepted = home.broker.store.max_offset(TIMER_TOPIC, 0)
    home.pass_time(1_000)

    assert codes[0] == 13
    assert codes[-1] == 0
    assert 1 <= home.broker.store.max_offset("orders", 0) <= accepted


def send_for_handle(client: Client, delay: str) -> str:
    properties = {"UNIQ_KEY": "KEY1", "TIMER_DELAY_MS": delay}
    return fields_of(client.send(properties=properties))["recallHandle"]


def test_the_handle_names_topic_broker_time_and_message(client: Client) -> None:
    handle = parse_handle(send_for_handle(client, "3300"))

    assert handle == ("orders", "broker-a", START + 3_001, "KEY1")


@pytest.mark.parametrize("delay", ["2000", "2001", "2999", "3000", "86400000"])
def test_a_recalled_message_does_not_come(home: BrokerAtHand, client: Client, delay: str) -> None:
    fields = {"topic": "orders", "recallHandle": send_for_handle(client, delay)}
    client.send(properties={"TIMER_DELAY_MS": delay}, body=b"another")

    first = client.call(Code.RECALL_MESSAGE, {**fields, "producerGroup": "p"})
    second = client.call(Code.RECALL_MESSAGE, fields)

    assert fields_of(first) == {"MSG_REGION": "DefaultRegion", "msgId": "KEY1"}
    assert second.code == 0
    home.now += 2 * 86_400_000
    home.settle()
    assert bodies(client.pull_now()) == [b"another"]
    assert not home.broker.timers.is_recalled("orders+KEY1")
    assert len(home.broker.timers) == 0


def test_a_dead_letter_goes_to_a_topic_that_is_created_for_it(home: BrokerAtHand) -> None:
    message = Message(
        topic="%RETRY%g", queue_id=3, body=b"x", properties={}, born_host=Host(bytes(4), 1)
    )
    message.properties["DELAY"] = "3"

    make_dead_letter(home.broker, message, "g", home.now)
    place = store_message(home.broker, message, home.now)

    topic = home.broker.topics.get("%DLQ%g")
    assert topic is not None
    assert (topic.read_queue_nums, topic.perm) == (1, 6)
    assert home.broker.store.max_offset("%DLQ%g", 0) == place.queue_offset + 1
    assert message.properties["DELAY"] == "-1"
