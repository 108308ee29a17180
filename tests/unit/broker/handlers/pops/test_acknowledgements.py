"""Acknowledging popped messages and changing the time they are hidden (broker.md 13.2, 13.3, 13.5)."""

import pytest

from rocketwire.codes import RequestCode as Code
from tests.support.broker import BrokerAtHand, Client, fields_of
from tests.support.broker_pops import GROUP, Popper


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    for number in range(3):
        client.send(body=b"%d" % number)
    return client


def read_offset(client: Client) -> str:
    answer = client.call(
        Code.QUERY_CONSUMER_OFFSET, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0}
    )
    return fields_of(answer)["offset"]


def test_ack_of_old_handle_is_ignored(home: BrokerAtHand, client: Client, popper: Popper) -> None:
    old = popper.pop(order=True)[0]
    home.pass_time(10_000)
    popper.pop(order=True)

    answer = popper.settle(Code.ACK_MESSAGE, old)

    assert answer.code == 0
    assert read_offset(client) == "0"


def test_changed_time_in_order_blocks_the_queue(home: BrokerAtHand, popper: Popper) -> None:
    [first] = popper.pop(order=True, count=1)

    answer = popper.settle(Code.CHANGE_MESSAGE_INVISIBLETIME, first, invisibleTime=30_000)

    assert fields_of(answer)["reviveQid"] == "999"
    home.pass_time(29_999)
    assert popper.pop(order=True) == []
    home.pass_time(1)
    assert [message.body for message in popper.pop(order=True, count=1)] == [b"0"]
