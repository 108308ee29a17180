"""Queues assigned by the broker (broker.md 14)."""

from __future__ import annotations

from typing import Any

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.allocation import (
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
    SetMessageRequestModeRequestBody,
)
from rocketwire.messages.enums import (
    ConsumeFromWhere,
    ConsumeType,
    MessageModel,
    MessageRequestMode,
)
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home


@pytest.fixture
def clients(home: BrokerAtHand) -> list[Client]:
    """Members ``c0`` to ``c2`` of ``readers``."""
    return [joined(home, f"c{number}") for number in range(3)]


def joined(home: BrokerAtHand, client_id: str) -> Client:
    consumer = ConsumerData(
        group_name="readers",
        message_model=MessageModel.CLUSTERING,
        consume_type=ConsumeType.CONSUME_PASSIVELY,
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
        subscription_data_set=(subscription_data("orders", version=1),),
    )
    client = home.connect()
    client.call(34, {}, HeartbeatData(client_id=client_id, consumer_data_set=(consumer,)))
    return client


def ask_assignment(client: Client, client_id: str, **changes: Any) -> list[tuple[int, str]] | None:
    """Queue and mode of each assignment; None without a list."""
    values: dict[str, Any] = {
        "topic": "orders",
        "consumer_group": "readers",
        "client_id": client_id,
        "strategy_name": "AVG",
        "message_model": MessageModel.CLUSTERING,
    }
    question = QueryAssignmentRequestBody(**{**values, **changes})
    answer = client.call(400, {}, question)
    assert answer.code == 0
    body = decode_body(QueryAssignmentResponseBody, answer.body)
    assert body is not None
    if body.message_queue_assignments is None:
        return None
    return sorted(
        (item.message_queue.queue_id, str(item.mode))
        for item in body.message_queue_assignments
        if item.message_queue is not None
    )


@pytest.mark.parametrize(
    "changes",
    [{"topic": "nothing"}, {"consumer_group": "nobody"}, {"strategy_name": "MACHINE_ROOM"}],
)
def test_an_unknown_topic_group_or_strategy_has_no_list(
    clients: list[Client], changes: dict[str, object]
) -> None:
    assert ask_assignment(clients[0], "c0", **changes) is None


def set_mode(client: Client, share: int = 0, **changes: Any) -> int:
    values: dict[str, Any] = {
        "topic": "orders",
        "consumer_group": "readers",
        "mode": MessageRequestMode.POP,
        "pop_share_queue_num": share,
    }
    body = SetMessageRequestModeRequestBody(**{**values, **changes})
    return client.call(401, {}, body).code


def test_a_group_that_pops_may_share_the_queues_of_few_neighbours(clients: list[Client]) -> None:
    set_mode(clients[0], share=1)

    shares = [ask_assignment(client, f"c{number}") for number, client in enumerate(clients)]

    queues = [[queue for queue, _ in share or ()] for share in shares]
    assert queues == [[0, 1, 2], [2, 3], [0, 1, 3]]


def test_queues_of_other_brokers_are_asked_for_and_shared_as_well(
    home: BrokerAtHand, clients: list[Client]
) -> None:
    set_mode(clients[0])
    routes = home.broker.routes
    routes.on_asked = lambda: None
    question = QueryAssignmentRequestBody(
        topic="orders",
        consumer_group="readers",
        client_id="c0",
        strategy_name="AVG",
        message_model=MessageModel.CLUSTERING,
    )

    number = clients[0].ask(400, {}, question)
    assert clients[0].answer_to(number) is None
    assert routes.pending() == ["orders"]
    other = MessageQueue(topic="orders", broker_name="broker-b", queue_id=0)
    routes.put("orders", [other], home.now)
    home.settle()

    answer = clients[0].answer_to(number)
    assert answer is not None
    body = decode_body(QueryAssignmentResponseBody, answer.body)
    assert body is not None
    names = [
        item.message_queue.broker_name
        for item in body.message_queue_assignments or ()
        if item.message_queue is not None
    ]
    assert names == ["broker-a", "broker-b"]
