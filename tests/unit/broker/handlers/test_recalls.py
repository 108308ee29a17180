"""370: which recalls are refused."""

from __future__ import annotations

import base64

import pytest

from tests.support.broker import START, BrokerAtHand

DAY = 86_400_000


def handle(topic: str = "orders", broker: str = "broker-a", time: object = START + 30_001) -> str:
    return base64.urlsafe_b64encode(f"v1 {topic} {broker} {time} KEY1".encode()).decode()


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("no handle", "recall handle is invalid"),
        (handle(topic="others"), "recall failed, topic not match"),
        (handle(broker="broker-b"), "recall failed, broker service not available"),
        (handle(time=START), "recall failed, timestamp invalid"),
        (handle(time=START + 3 * DAY), "recall failed, timestamp invalid"),
        (handle(time="soon"), "recall failed, timestamp invalid"),
    ],
)
def test_a_handle_of_something_else_is_refused(text: str, remark: str) -> None:
    client = BrokerAtHand().connect()
    client.send()

    answer = client.call(370, {"topic": "orders", "recallHandle": text})

    assert (answer.code, answer.remark) == (604, remark)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion"}


def test_a_broker_may_refuse_all_recalls() -> None:
    client = BrokerAtHand(recall_enabled=False).connect()

    answer = client.call(370, {"topic": "orders", "recallHandle": handle()})

    assert (answer.code, answer.remark) == (16, "recall failed, operation is forbidden")


def test_a_recall_of_a_message_that_is_not_there_succeeds_as_in_java() -> None:
    home = BrokerAtHand()
    client = home.connect()
    client.send()

    answer = client.call(370, {"topic": "orders", "recallHandle": handle()})
    home.now += DAY
    home.settle()

    assert answer.code == 0
    assert home.broker.store.max_offset("orders", 0) == 1
