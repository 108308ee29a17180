"""Times of delivery: delays, refusals and recalls."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.policy.resource_names import TIMER_TOPIC
from rocketwire_broker.delayed.delays import parse_handle
from tests.support.broker import START, BrokerAtHand, Client, bodies, fields_of, messages


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
