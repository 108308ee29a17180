"""Pulling: checks, outcomes and holding (broker.md 5)."""

from __future__ import annotations

import pytest

from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, bodies


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return client


def test_expressions_filter_if_the_broker_has_them() -> None:
    with_it, without = BrokerAtHand(), BrokerAtHand(property_filter=False)
    for home in (with_it, without):
        client = home.connect()
        client.send(properties={"a": "1"}, body=b"one")
        client.send(properties={"a": "3"}, body=b"three")

        answer = client.pulled(tags="a > 2", expressionType="SQL92")

        if home is with_it:
            assert bodies(answer) == [b"three"]
        else:
            assert (answer.code, answer.remark) == (
                1,
                "The broker does not support consumer to filter message by SQL92",
            )


def test_an_expression_that_is_missing_is_refused(client: Client) -> None:
    assert client.pulled(tags="", expressionType="SQL92").code == 23


def test_a_pull_commits_the_offset_that_it_carries(client: Client, home: BrokerAtHand) -> None:
    client.send()
    client.pulled(sysFlag=5, commitOffset=1)
    assert home.broker.offsets.get("readers", "orders", 0) == 1

    client.pulled(sysFlag=5, commitOffset=-1)
    assert home.broker.offsets.get("readers", "orders", 0) == 1


# ---------------------------------------------------------------------------- holding


def test_a_reset_wakes_and_is_told_once(client: Client, home: BrokerAtHand) -> None:
    for _ in range(3):
        client.send()
    opaque = client.pull(3, hold=15_000)

    client.call(222, {"topic": "orders", "group": "readers", "timestamp": 0, "isForce": True})

    answer = client.answer_to(opaque)
    assert answer is not None
    assert (answer.code, answer.remark) == (21, "OFFSET_RESET")
    assert (answer.ext_fields or {})["nextBeginOffset"] == "0"
    assert len(bodies(client.pulled(0))) == 3


def test_a_deleted_topic_wakes(client: Client) -> None:
    client.send()
    opaque = client.pull(1, hold=15_000)

    client.call(215, {"topic": "orders"})

    answer = client.answer_to(opaque)
    assert answer is not None
    assert answer.code == 17


def test_requests_are_answered_while_hundreds_of_pulls_wait(
    client: Client, home: BrokerAtHand
) -> None:
    home.broker.topics.put(new_topic("orders", 400), home.now)
    for queue in range(300):
        client.pull(queue=queue, hold=15_000)

    assert client.send(queue=399).code == 0
    assert len(home.broker.waits) == 300
