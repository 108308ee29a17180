"""Pulling: checks, outcomes and holding (broker.md 5)."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire_broker.state.schedule import MAX_ACTIONS
from tests.support.broker import BrokerAtHand, Client, bodies, fields_of


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(orders=4)


def test_pull_without_its_expression_is_refused(client: Client) -> None:
    answer = client.pull_now(tags="", expressionType="SQL92")
    assert answer.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED


def reset_offsets(client: Client) -> None:
    fields = {"topic": "orders", "group": "readers", "timestamp": 0, "isForce": True}
    assert client.call(Code.INVOKE_BROKER_TO_RESET_OFFSET, fields).code == 0


def test_held_pull_is_answered_once_after_a_reset(client: Client) -> None:
    for _ in range(3):
        client.send()
    opaque = client.pull(3, hold=15_000)

    reset_offsets(client)

    answer = client.take_answer(opaque)
    assert (answer.code, answer.remark) == (ResponseCode.PULL_OFFSET_MOVED, "OFFSET_RESET")
    assert fields_of(answer)["nextBeginOffset"] == "0"
    assert len(bodies(client.pull_now(0))) == 3


def test_pull_before_the_news_of_a_reset_commits_nothing(client: Client) -> None:
    for _ in range(3):
        client.send()
    client.pull_now(0)
    reset_offsets(client)

    client.pull_now(3, sysFlag=5, commitOffset=3)

    fields = {"consumerGroup": "readers", "topic": "orders", "queueId": 0}
    assert client.call(Code.QUERY_CONSUMER_OFFSET, fields).ext_fields == {"offset": "0"}


def test_held_pull_is_answered_if_its_topic_is_deleted(client: Client) -> None:
    client.send()
    opaque = client.pull(1, hold=15_000)

    client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": "orders"})

    assert client.take_answer(opaque).code == ResponseCode.TOPIC_NOT_EXIST


def test_held_pulls_are_answered_in_turns(client: Client, home: BrokerAtHand) -> None:
    opaques = [client.pull(0, hold=15_000) for _ in range(2 * MAX_ACTIONS + 1)]
    counts: list[int] = []

    client.send()
    for _ in range(3):
        counts.append(sum(client.answer_to(opaque) is not None for opaque in opaques))
        home.pass_time(1)

    assert counts == [MAX_ACTIONS, MAX_ACTIONS, 1]
