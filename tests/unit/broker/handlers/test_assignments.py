"""Queues assigned by the broker (broker.md 14)."""

from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import (
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
    SetMessageRequestModeRequestBody,
)
from rocketwire.messages.enums import MessageModel, MessageRequestMode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.command import RemotingCommand
from tests.support.broker import BrokerAtHand, Client
from tests.support.values import require
from tests.unit.broker.groups import join_readers


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(orders=4)


@pytest.fixture
def clients(home: BrokerAtHand) -> list[Client]:
    clients = [home.connect() for _ in range(3)]
    for number, client in enumerate(clients):
        join_readers(client, "orders", client_id=f"c{number}")
    return clients


def question(client_id: str, **changes: Any) -> QueryAssignmentRequestBody:
    values: dict[str, Any] = {
        "topic": "orders",
        "consumer_group": "readers",
        "client_id": client_id,
        "strategy_name": "AVG",
        "message_model": MessageModel.CLUSTERING,
    }
    return QueryAssignmentRequestBody(**{**values, **changes})


def read_queues(answer: RemotingCommand) -> list[tuple[str, int]] | None:
    assert answer.code == 0
    body = require(decode_body(QueryAssignmentResponseBody, answer.body))
    if body.message_queue_assignments is None:
        return None
    queues = [item.message_queue for item in body.message_queue_assignments]
    return sorted((str(queue.broker_name), queue.queue_id) for queue in queues if queue)


@pytest.mark.parametrize(
    "changes",
    [{"topic": "nothing"}, {"consumer_group": "nobody"}, {"strategy_name": "MACHINE_ROOM"}],
)
def test_unknown_assignment_has_no_list(clients: list[Client], changes: dict[str, object]) -> None:
    answer = clients[0].call(Code.QUERY_ASSIGNMENT, {}, question("c0", **changes))
    assert read_queues(answer) is None


def set_pop_mode(client: Client, share: int = 0) -> None:
    mode = MessageRequestMode.POP
    body = SetMessageRequestModeRequestBody(
        topic="orders", consumer_group="readers", mode=mode, pop_share_queue_num=share
    )
    assert client.call(Code.SET_MESSAGE_REQUEST_MODE, {}, body).code == 0


def test_assignment_for_pops_shares_queues_with_few_neighbours(clients: list[Client]) -> None:
    set_pop_mode(clients[0], share=1)

    answers = [
        client.call(Code.QUERY_ASSIGNMENT, {}, question(f"c{n}"))
        for n, client in enumerate(clients)
    ]

    queues = [[number for _, number in read_queues(answer) or ()] for answer in answers]
    assert queues == [[0, 1, 2], [2, 3], [0, 1, 3]]


def test_assignment_for_pops_has_all_brokers(home: BrokerAtHand, clients: list[Client]) -> None:
    set_pop_mode(clients[0])
    routes = home.broker.routes
    routes.on_asked = lambda: None

    number = clients[0].ask(Code.QUERY_ASSIGNMENT, {}, question("c0"))
    assert clients[0].answer_to(number) is None
    assert routes.pending() == ["orders"]
    queue = MessageQueue(topic="orders", broker_name="broker-b", queue_id=0)
    routes.put("orders", [queue], home.now)
    home.settle()

    queues = read_queues(clients[0].take_answer(number)) or []
    assert [name for name, _ in queues] == ["broker-a", "broker-b"]
