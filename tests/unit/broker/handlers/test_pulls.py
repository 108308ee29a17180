"""Pulling: checks, outcomes and holding (broker.md 5)."""

from __future__ import annotations

import pytest

from rocketwire_broker.state.schedule import MAX_ACTIONS
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, bodies


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return client


def test_an_expression_that_is_missing_is_refused(client: Client) -> None:
    assert client.pulled(tags="", expressionType="SQL92").code == 23


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


def test_a_pull_before_the_news_of_a_reset_commits_nothing(client: Client) -> None:
    for _ in range(3):
        client.send()
    client.pulled(0)
    client.call(222, {"topic": "orders", "group": "readers", "timestamp": 0, "isForce": True})

    client.pulled(3, sysFlag=5, commitOffset=3)

    fields = {"consumerGroup": "readers", "topic": "orders", "queueId": 0}
    assert client.call(14, fields).ext_fields == {"offset": "0"}


def test_a_deleted_topic_wakes(client: Client) -> None:
    client.send()
    opaque = client.pull(1, hold=15_000)

    client.call(215, {"topic": "orders"})

    answer = client.answer_to(opaque)
    assert answer is not None
    assert answer.code == 17


def test_many_pulls_are_woken_in_several_turns(client: Client, home: BrokerAtHand) -> None:
    opaques = [client.pull(0, hold=15_000) for _ in range(2 * MAX_ACTIONS + 1)]
    counts: list[int] = []

    client.send()
    for _ in range(3):
        counts.append(sum(client.answer_to(opaque) is not None for opaque in opaques))
        home.pass_time(1)

    assert counts == [MAX_ACTIONS, MAX_ACTIONS, 1]
