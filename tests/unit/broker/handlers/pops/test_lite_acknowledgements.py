"""Acknowledging messages of lite topics, and hiding them for another time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, Reader, light, put_group, put_parent, send


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home)
    put_group(home)
    return home


def test_an_acknowledgement_of_another_pop_or_a_repeated_one_does_nothing(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()

    assert reader.ack("a", 0, pop_time=1).code == 0
    assert home.broker.offsets.get(GROUP, light("a"), 0) == 0
    assert reader.ack("a", 0).code == 0
    assert reader.ack("a", 0).code == 0
    assert home.broker.offsets.get(GROUP, light("a"), 0) == 1


@pytest.mark.parametrize(
    ("offset", "changes", "code", "remark"),
    [
        (9, {}, 208, "ack offset illegal."),
        (1, {}, 13, "ack offset illegal."),
        (0, {"queueId": 1}, 29, "ack queue illegal."),
        (0, {"extraInfo": "0 1 1 3 0 broker-a 0 0"}, 29, "ack queue illegal."),
        (0, {"consumerGroup": "other"}, 29, "group type or bind topic not match."),
        (0, {"consumerGroup": "a b"}, 29, "group type or bind topic not match."),
    ],
)
def test_an_acknowledgement_is_refused(
    client: Client, reader: Reader, offset: int, changes: dict[str, Any], code: int, remark: str
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop(count=1)

    answer = reader.ack("a", offset, **changes)

    assert (answer.code, answer.remark) == (code, remark)


def test_an_acknowledgement_does_not_undo_a_reset(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()
    home.broker.offsets.reset(GROUP, light("a"), 0, 0, home.now)
    reader.ack("a", 0)

    home.pass_time(10_000)
    assert reader.pop() == [b"1", b"2"]


def test_messages_are_hidden_for_another_time(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop(invisible=60_000)

    answer = reader.hide("a", 0, 1_000)
    reader.hide("a", 1, 1_000)

    assert answer.remark == "not set any response code"
    assert answer.ext_fields == {
        "popTime": str(home.now),
        "invisibleTime": "1000",
        "reviveQid": "999",
    }
    home.pass_time(1_000)
    assert reader.pop() == [b"1", b"2"]


def test_a_suspension_hides_all_messages_of_a_pop(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()

    reader.hide("a", 0, 1_000, suspend=True)
    home.pass_time(1_000)
    answer = reader.answer()

    assert (answer.ext_fields or {})["orderCountInfo"] == "0 qo0%0 1;0 qo0%1 1"


def test_a_message_that_is_not_there_or_acknowledged_is_not_hidden(
    client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()
    reader.ack("a", 0)

    assert [reader.hide("a", offset, 1_000).code for offset in (9, 0)] == [208, 0]
    zeros = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
    assert reader.hide("a", 0, 1_000).ext_fields == zeros
