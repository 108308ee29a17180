"""Times of delivery: who waits for how long, what is refused, and which messages are recalled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.errors import RocketWireError
from rocketwire.policy.resource_names import TIMER_TOPIC
from rocketwire_broker.later.timers import parse_handle
from rocketwire_broker.state.response import RefusedError
from tests.support.broker import START, BrokerAtHand, bodies, messages

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.broker import Client

DAY = 86_400_000


def jump(home: BrokerAtHand, milliseconds: int) -> None:
    """Let time pass in one step."""
    home.now += milliseconds
    home.settle()


def fields(answer: RemotingCommand) -> dict[str, str]:
    return dict(answer.ext_fields or {})


@pytest.mark.parametrize(
    ("name", "value", "delay"),
    [
        ("TIMER_DELAY_SEC", "86400", DAY),
        ("TIMER_DELAY_MS", "3300", 3_300),
        ("TIMER_DELIVER_MS", str(START + 2_500), 2_500),
        ("TIMER_DELAY_SEC", "259200", 3 * DAY),
    ],
)
def test_a_message_comes_exactly_at_its_time(name: str, value: str, delay: int) -> None:
    home = BrokerAtHand()
    client = home.connect()

    answer = client.send(properties={name: value}, queue=1)

    assert fields(answer)["queueId"] == "1"
    jump(home, delay - 1)
    assert bodies(client.pulled(queue=1)) == []
    home.pass_time(1)
    [message] = messages(client.pulled(queue=1))
    properties = message.properties or {}
    assert properties[name] == value
    assert properties["TIMER_OUT_MS"] == str((START + delay - 1) // 1_000 * 1_000)
    assert properties["TIMER_ENQUEUE_MS"] == str(START)
    assert properties["TIMER_DEQUEUE_MS"] == str(START + delay)
    assert properties["REAL_TOPIC"] == "orders"
    assert properties["REAL_QID"] == "1"


def test_the_first_copy_lies_in_the_timer_topic() -> None:
    client = BrokerAtHand().connect()

    client.send(properties={"TIMER_DELAY_SEC": "1"})

    assert bodies(client.pulled(topic=TIMER_TOPIC)) == [b"body"]


@pytest.mark.parametrize("value", [str(START), str(START - 1), "0", "-5"])
def test_a_time_that_has_passed_is_at_once(value: str) -> None:
    client = BrokerAtHand().connect()

    answer = client.send(properties={"TIMER_DELIVER_MS": value})

    assert answer.code == 0
    assert "recallHandle" not in fields(answer)
    assert bodies(client.pulled()) == [b"body"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIMER_DELAY_SEC", "259201"),
        ("TIMER_DELAY_MS", "259200001"),
        ("TIMER_DELIVER_MS", str(START + 3 * DAY + 1)),
        ("TIMER_DELAY_SEC", "tomorrow"),
        ("TIMER_DELIVER_MS", ""),
    ],
)
def test_what_is_too_late_or_no_number_is_refused(name: str, value: str) -> None:
    home = BrokerAtHand()
    client = home.connect()

    answer = client.send(properties={name: value or " "})

    assert answer.code == 13
    assert answer.remark == (
        "timer message illegal, the delay time should not be bigger than the max delay "
        "259200000ms; or if set del msg, the delay time should be bigger than the current time"
    )
    assert home.broker.store.put_count == 0


def test_without_timers_a_time_of_delivery_is_refused() -> None:
    client = BrokerAtHand(timer_enabled=False).connect()

    answer = client.send(properties={"TIMER_DELAY_SEC": "1"})

    assert answer.code == 1
    assert answer.remark == "accurate timer message is not enabled, timerWheelEnable is false"


def test_seconds_count_more_than_milliseconds_and_those_more_than_a_time() -> None:
    home = BrokerAtHand()
    client = home.connect()

    client.send(properties={"TIMER_DELAY_SEC": "1", "TIMER_DELAY_MS": "9000"})
    client.send(properties={"TIMER_DELAY_MS": "1000", "TIMER_DELIVER_MS": str(START + 9_000)})
    home.pass_time(1_000)

    assert len(bodies(client.pulled())) == 2


def test_a_consumer_that_sends_such_a_message_back_gets_it_after_the_delay_of_the_retry() -> None:
    home = BrokerAtHand()
    client = home.connect()
    client.send(properties={"TIMER_DELAY_SEC": "1"})
    home.pass_time(1_000)
    [message] = messages(client.pulled())

    client.call(36, {"offset": message.commit_log_offset, "group": "g", "delayLevel": 1})
    home.pass_time(1_000)

    assert bodies(client.pulled(topic="%RETRY%g")) == [b"body"]


def test_what_is_too_large_with_its_new_properties_is_refused_or_lost() -> None:
    home = BrokerAtHand()
    client = home.connect()
    codes = [
        client.send(properties={"TIMER_DELAY_SEC": "1", "x": "x" * size}).code
        for size in (32_760, 32_650, 32_500)
    ]
    accepted = home.broker.store.max_offset(TIMER_TOPIC, 0)
    home.pass_time(1_000)

    assert codes[0] == 13
    assert codes[-1] == 0
    assert 1 <= home.broker.store.max_offset("orders", 0) <= accepted


# ---------------------------------------------------------------------------- recall


def sent_handle(client: Client, **properties: str) -> str:
    answer = client.send(properties={"UNIQ_KEY": "KEY1", **properties})
    return fields(answer)["recallHandle"]


def test_the_handle_names_topic_broker_time_and_message() -> None:
    client = BrokerAtHand().connect()

    handle = parse_handle(sent_handle(client, TIMER_DELAY_MS="3300"))

    assert handle == ("orders", "broker-a", START + 3_001, "KEY1")


@pytest.mark.parametrize("delay", ["2000", "2001", "2999", "3000", "86400000"])
def test_a_recalled_message_does_not_come(delay: str) -> None:
    home = BrokerAtHand()
    client = home.connect()
    handle = sent_handle(client, TIMER_DELAY_MS=delay)
    client.send(properties={"TIMER_DELAY_MS": delay}, body=b"another")

    answer = client.call(370, {"topic": "orders", "recallHandle": handle, "producerGroup": "p"})
    again = client.call(370, {"topic": "orders", "recallHandle": handle})

    assert fields(answer) == {"MSG_REGION": "DefaultRegion", "msgId": "KEY1"}
    assert again.code == 0
    jump(home, 2 * DAY)
    assert bodies(client.pulled()) == [b"another"]
    assert not home.broker.timers.is_recalled("orders+KEY1")
    assert len(home.broker.timers) == 0


@pytest.mark.parametrize(
    "text",
    ["", "%%%", "djE=", "djIgb3JkZXJzIGJyb2tlci1hIDEgSw==", "djEgb3JkZXJzIGJyb2tlci1hIDE="],
    ids=["empty", "no base64", "too short", "another version", "no key"],
)
def test_a_text_that_is_no_handle_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match="recall handle is invalid") as refused:
        parse_handle(text)

    assert refused.value.response.code == 604
    assert not isinstance(refused.value, RocketWireError)
