"""The broker: requests that wait, notices to clients and requests to clients."""

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.state.response import RefusedError
from tests.support.broker import BrokerAtHand, Client, bodies


def ask_client(home: BrokerAtHand, client: Client) -> list[RemotingCommand | None]:
    answers: list[RemotingCommand | None] = []
    code = RequestCode.GET_CONSUMER_RUNNING_INFO
    home.broker.ask(
        client.peer, code, None, b"", lambda answer, _now: answers.append(answer), home.now
    )
    home.settle()
    return answers


def test_a_client_is_asked_and_its_answer_comes_once(home: BrokerAtHand, client: Client) -> None:
    answers = ask_client(home, client)
    (request,) = client.requests()
    client.respond(request, 5, b"body")
    client.respond(request, 6)

    assert [(answer and answer.code, answer and answer.body) for answer in answers] == [
        (5, b"body")
    ]


@pytest.mark.parametrize("closes", [False, True], ids=["silent", "closed"])
def test_silent_client_is_given_up(home: BrokerAtHand, client: Client, closes: bool) -> None:
    answers = ask_client(home, client)
    if closes:
        client.close()
    home.pass_time(home.broker.config.relay_timeout_ms)

    assert answers == [None]


def test_no_more_clients_are_asked_than_the_limit() -> None:
    home = BrokerAtHand(max_relayed_requests=1)
    client = home.connect()
    ask_client(home, client)

    with pytest.raises(RefusedError, match="too many"):
        ask_client(home, client)


def test_a_held_request_ends_with_its_connection(client: Client, home: BrokerAtHand) -> None:
    client.send()
    client.pull(1, hold=15_000)
    assert len(home.broker.waits) == 1

    client.close()
    home.pass_time(20_000)

    assert len(home.broker.waits) == 0
    assert client.received == []


def test_no_more_requests_wait_than_the_limit() -> None:
    home = BrokerAtHand(max_held_per_peer=1)
    client = home.connect()
    client.send()
    first = client.pull(1, hold=15_000)
    second = client.take_answer(client.pull(1, hold=15_000))

    assert client.answer_to(first) is None
    assert second.code == ResponseCode.SYSTEM_BUSY


def test_frames_to_an_ended_connection_are_dropped(client: Client, home: BrokerAtHand) -> None:
    client.close()

    home.broker.notify(client.peer, 40, {})
    home.settle()

    assert client.received == []


def test_silent_clients_are_closed_and_old_messages_dropped() -> None:
    home = BrokerAtHand(retain_hours=1)
    client = home.connect()
    client.send(body=b"old")
    client.ask(
        RequestCode.HEART_BEAT, None, b'{"clientID":"a","producerDataSet":[{"groupName":"p"}]}'
    )

    home.pass_time(131_000)
    assert home.broker.closing == {client.peer.number: "no heartbeat"}

    assert bodies(client.pull_now()) == [b"old"]
    home.pass_time(3_600_000)
    assert client.pull_now().remark == "OFFSET_TOO_SMALL"


def test_ids_of_messages_without_one_differ(home: BrokerAtHand) -> None:
    first, second = (home.broker.new_unique_key(home.now) for _ in range(2))

    assert first != second
    assert len(first) == 32
