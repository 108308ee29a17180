"""Offsets (broker.md 6)."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.messages.offsets import (
    ConsumerOffsetSerializeWrapper,
    QueryCorrectionOffsetBody,
)
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


def test_a_queue_has_a_first_and_a_next_offset(client: Client) -> None:
    assert (offset(client, 30), offset(client, 31)) == ("3", "0")
    assert (offset(client, 30, queueId=9), offset(client, 31, topic="missing")) == ("0", "0")
    assert client.call(31, QUEUE).remark == ""
    assert client.call(32, QUEUE).ext_fields == {"timestamp": str(START)}
    assert client.call(32, {**QUEUE, "queueId": 1}).ext_fields == {"timestamp": "-1"}


@pytest.mark.parametrize(
    ("after_start", "lower", "upper"),
    [(-1, "0", "0"), (0, "0", "0"), (500, "1", "0"), (1000, "1", "1"), (9000, "3", "2")],
)
def test_offsets_are_found_by_time(
    client: Client, after_start: int, lower: str, upper: str
) -> None:
    assert offset(client, 29, timestamp=START + after_start) == lower
    assert offset(client, 29, timestamp=START + after_start, boundaryType="LOWER") == lower
    assert offset(client, 29, timestamp=START + after_start, boundaryType="upper") == upper
    assert offset(client, 29, timestamp=START, queueId=1) == "0"


def test_an_offset_is_committed_whatever_its_value(client: Client) -> None:
    for value in (2, 1, 99):
        assert client.call(15, {**OF_GROUP, "commitOffset": value}).code == 0
        assert client.call(14, OF_GROUP).ext_fields == {"offset": str(value)}
    assert client.call(15, {**OF_GROUP, "queueId": 99, "commitOffset": 1}).code == 0


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"consumerGroup": "nobody"}, 26, "Group nobody not exist!"),
        ({"topic": "missing"}, 17, "Topic missing not exist!"),
        ({}, 29, "Offset is null, topic is orders"),
    ],
)
def test_commits_that_are_refused(
    client: Client, changes: dict[str, object], code: int, remark: str
) -> None:
    answer = client.call(15, {**OF_GROUP, **changes})

    assert (answer.code, answer.remark) == (code, remark)


def test_a_group_without_offset_begins_at_zero_if_the_first_message_is_there(
    client: Client,
) -> None:
    assert client.call(14, OF_GROUP).ext_fields == {"offset": "0"}
    unknown = client.call(14, {**OF_GROUP, "setZeroIfNotFound": False})
    assert (unknown.code, unknown.remark) == (
        22,
        "Not found, do not set to zero, maybe this group boot first",
    )
    empty = client.call(14, {**OF_GROUP, "queueId": 1})
    assert (empty.code, empty.remark) == (
        22,
        "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
    )


def test_a_reset_swallows_commits_until_it_is_seen(client: Client) -> None:
    answer = client.call(222, {**RESET, "timestamp": 0})

    assert (answer.body or b"").startswith(
        b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"orders"}:0'
    )
    commit = client.call(15, {**OF_GROUP, "commitOffset": 3})
    assert (commit.code, commit.remark) == (0, "Offset has been previously reset")
    assert client.call(14, OF_GROUP).ext_fields == {"offset": "0"}
    assert client.pulled(3).remark == "OFFSET_RESET"
    assert client.call(15, {**OF_GROUP, "commitOffset": 3}).remark is None


@pytest.mark.parametrize(
    ("changes", "target"),
    [
        ({"timestamp": -1}, "3"),
        ({"timestamp": START + 500}, "1"),
        ({"timestamp": 0, "queueId": 0, "offset": 2}, "2"),
    ],
)
def test_a_reset_goes_to_a_time_or_to_an_offset(
    client: Client, changes: dict[str, object], target: str
) -> None:
    client.call(222, {**RESET, **changes})

    assert client.call(14, OF_GROUP).ext_fields == {"offset": target}


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"queueId": 0, "offset": 99}, 1, "Target offset 99 not in consume queue range [0-3]"),
        ({"topic": "missing"}, 17, "Topic missing does not exist"),
        ({"group": "nobody"}, 26, "Group nobody does not exist"),
    ],
)
def test_resets_that_are_refused(
    client: Client, changes: dict[str, object], code: int, remark: str
) -> None:
    answer = client.call(222, {**RESET, "timestamp": 0, **changes})

    assert (answer.code, answer.remark) == (code, remark)


def test_offsets_are_copied_and_listed(client: Client) -> None:
    client.call(15, {**OF_GROUP, "commitOffset": 2})
    client.call(314, {"srcGroup": "readers", "destGroup": "copies", "topic": "orders"})

    wrapper = decode_body(ConsumerOffsetSerializeWrapper, client.call(43).body or b"")

    assert wrapper is not None
    assert wrapper.offset_table == {"orders@readers": {0: 2}, "orders@copies": {0: 2}}


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


def test_the_lowest_offset_of_all_groups_is_told_and_groups_left_out_lose_theirs(
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


def test_a_search_by_time_looks_at_a_lite_topic_and_offsets_of_light_queues_are_committed(
    client: Client,
) -> None:
    for name in ("a", "b", "a"):
        client.send(body=name.encode(), properties={"__LITE_TOPIC": name})

    search = {"topic": "orders", "queueId": 0, "liteTopic": "a"}
    assert offset(client, 29, **search, timestamp=0) == "0"
    assert offset(client, 29, **search, timestamp=START + 9_000) == "2"
    assert offset(client, 29, **search | {"liteTopic": "x"}, timestamp=0) == "0"
    place = {"consumerGroup": "readers", "topic": "%LMQ%$orders$a", "queueId": 0}
    client.call(352, {"group": "readers"})
    assert client.call(15, {**place, "commitOffset": 1}).code == 0
    assert offset(client, 14, **place) == "1"
