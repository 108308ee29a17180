"""Acknowledging popped messages and changing the time they are hidden (broker.md 13.2, 13.3, 13.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages.pop import BatchAckMessageRequestBody
from rocketwire.policy.pop_handle import batch_acks, handle_of
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker_pops import GROUP, Popper

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client

ACK, CHANGE, BATCH = 200051, 200053, 200151


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    home.broker.topics.put(new_topic("orders", 4), home.now)
    client = home.connect()
    for number in range(3):
        client.send(body=b"%d" % number)
    return client


def test_an_acknowledged_message_does_not_come_again(home: BrokerAtHand, popper: Popper) -> None:
    for message in popper.pop():
        assert popper.settle(ACK, message).code == 0

    home.pass_time(60_000)

    assert popper.pop(queue=-1) == []
    assert len(home.broker.pops) == 0


def test_repeated_and_late_acknowledgements_are_no_errors(
    home: BrokerAtHand, popper: Popper
) -> None:
    message = popper.pop(count=1)[0]

    codes = [popper.settle(ACK, message).code for _ in range(2)]
    home.pass_time(60_000)
    codes.append(popper.settle(ACK, message).code)

    assert codes == [0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"topic": "nothing"}, 17, "topic[nothing] not exist"),
        ({"queueId": 4}, 13, "queueId[4] is illegal"),
        (
            {"offset": 4},
            208,
            "offset is illegal, key:orders@0, commit:4, store:0~3",
        ),
        ({"extraInfo": "1 2 3"}, 1, ""),
    ],
)
def test_refused_acknowledgements(
    popper: Popper, changes: dict[str, object], code: int, remark: str
) -> None:
    message = popper.pop()[0]

    answer = popper.settle(ACK, message, **changes)

    assert answer.code == code
    assert (answer.remark or "").startswith(remark)


def test_a_batch_acknowledges_messages_of_several_pops(home: BrokerAtHand, popper: Popper) -> None:
    handles = [handle_of(message) for message in (*popper.pop(count=2), *popper.pop())]
    acks = batch_acks(handles, topic="orders", group=GROUP)["broker-a"]

    answer = popper.client.call(
        BATCH, {}, BatchAckMessageRequestBody(acks=acks, broker_name="broker-a")
    )
    home.pass_time(60_000)

    assert answer.code == 0
    assert popper.pop(queue=-1) == []


@pytest.mark.parametrize("body", [None, b'{"acks":[]}'])
def test_an_empty_batch_is_refused(client: Client, body: bytes | None) -> None:
    assert client.call(BATCH, {}, body).code == 208


def test_a_changed_time_counts_from_the_change_and_the_old_handle_is_void(
    home: BrokerAtHand, popper: Popper
) -> None:
    message = popper.pop(count=1)[0]
    home.pass_time(5_000)

    answer = popper.settle(CHANGE, message, invisibleTime=15_000)

    fields = answer.ext_fields or {}
    assert (fields["popTime"], fields["invisibleTime"]) == (str(home.now), "15000")
    popper.settle(ACK, message)  # the old handle
    popper.pop(invisible=60_000)
    home.pass_time(14_999)
    assert popper.pop(queue=-1) == []
    home.pass_time(1)
    assert [again.body for again in popper.pop(queue=-1, count=1)] == [b"0"]


def test_the_time_of_an_offset_that_does_not_exist_is_not_changed(popper: Popper) -> None:
    message = popper.pop()[0]

    answer = popper.settle(CHANGE, message, offset=3, invisibleTime=1)

    assert answer.code == 208
    assert answer.ext_fields == {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
    assert popper.settle(CHANGE, message, queueId=9, invisibleTime=1).code == 13


# ---------------------------------------------------------------------------- in order


def committed(client: Client) -> str:
    answer = client.call(14, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0})
    return (answer.ext_fields or {})["offset"]


def test_in_order_the_offset_advances_over_the_acknowledged_beginning(
    client: Client, popper: Popper
) -> None:
    messages = popper.pop(order=True)

    offsets: list[object] = []
    for number in (1, 0, 2):
        popper.settle(ACK, messages[number])
        offsets.append(committed(client))

    assert offsets == ["0", "2", "3"]


def test_in_order_a_handle_of_an_earlier_pop_does_nothing(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    old = popper.pop(order=True)[0]
    home.pass_time(10_000)
    popper.pop(order=True)

    answer = popper.settle(ACK, old)

    assert answer.code == 0
    assert committed(client) == "0"


def test_in_order_a_changed_time_blocks_the_queue_until_then(
    home: BrokerAtHand, popper: Popper
) -> None:
    message = popper.pop(order=True, count=1)[0]

    answer = popper.settle(CHANGE, message, invisibleTime=30_000)

    assert (answer.ext_fields or {})["reviveQid"] == "999"
    home.pass_time(29_999)
    assert popper.pop(order=True) == []
    home.pass_time(1)
    assert [again.body for again in popper.pop(order=True, count=1)] == [b"0"]
