"""Offsets (broker.md 6)."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.offsets import QueryCorrectionOffsetBody
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import START, BrokerAtHand, Client

QUEUE: dict[str, object] = {"topic": "orders", "queueId": 0}
OF_GROUP: dict[str, object] = {**QUEUE, "consumerGroup": "readers"}
RESET: dict[str, object] = {"topic": "orders", "group": "readers", "isForce": True}


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    """A client of a broker with three messages, stored a second apart."""
    client = home.connect()
    home.broker.topics.put(new_topic("orders", 4), home.now)
    home.broker.groups.find_or_create("readers", home.now)
    for _ in range(3):
        client.send()
        home.pass_time(1000)
    return client


def offset(client: Client, code: int, **fields: object) -> str | None:
    return (client.call(code, {**QUEUE, **fields}).ext_fields or {}).get("offset")


def test_a_reset_may_be_pushed_to_the_consumers(client: Client, home: BrokerAtHand) -> None:
    client.call(25, {}, b"useServerSideResetOffset=false\n")
    fields = {**RESET, "timestamp": START, "queueId": 0}
    offline = client.call(222, fields)
    data = ConsumerData(group_name="readers", subscription_data_set=())
    client.call(34, {}, HeartbeatData(client_id="c", consumer_data_set=(data,)))
    unread = client.call(222, fields)
    client.call(15, {**OF_GROUP, "commitOffset": 2})
    client.requests()

    pushed = client.call(222, fields)

    (request,) = client.requests()
    assert (offline.code, unread.code, pushed.code) == (206, 1, 0)
    assert (request.code, request.is_oneway, request.body) == (220, True, pushed.body)
    assert b":0}" in (request.body or b"")
    assert client.call(14, OF_GROUP).ext_fields == {"offset": "2"}


def test_lowest_offset_of_all_groups_and_filtered_groups_lose_theirs(
    client: Client, home: BrokerAtHand
) -> None:
    for group, committed in (("a", 5), ("b", 3), ("left-out", 1), ("behind", 2)):
        home.broker.offsets.commit(group, "orders", 0, committed, home.now)

    def corrected(group: str, left_out: str = "") -> dict[int, int]:
        fields: dict[str, object] = {
            "topic": "orders",
            "compareGroup": group,
            "filterGroups": left_out,
        }
        body = decode_body(QueryCorrectionOffsetBody, client.call(308, fields).body or b"")
        assert body is not None
        return dict(body.correction_offsets or {})

    assert corrected("a", "left-out") == {0: 2}
    assert home.broker.offsets.get("left-out", "orders", 0) is None
    home.broker.offsets.commit("behind", "orders", 1, 0, home.now)
    home.broker.offsets.commit("a", "orders", 1, 2, home.now)
    assert corrected("behind") == {0: 2, 1: 0}


@pytest.mark.parametrize("where", ["CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET"])
def test_a_consumer_that_begins_at_the_end_misses_no_message_while_it_asks(
    client: Client, where: str
) -> None:
    consumer = ConsumerData(group_name="readers", consume_from_where=ConsumeFromWhere(where))
    client.call(34, {}, HeartbeatData(client_id="c", consumer_data_set=(consumer,)))
    assert client.call(14, {**OF_GROUP, "queueId": 1}).code == 22

    client.send(queue=1)

    asks_for_the_end = where == "CONSUME_FROM_LAST_OFFSET"
    assert offset(client, 30, queueId=1) == ("0" if asks_for_the_end else "1")
    assert offset(client, 30, queueId=1) == "1"
