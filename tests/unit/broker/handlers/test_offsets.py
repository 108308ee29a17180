"""Offsets (broker.md 6)."""

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import decode_body
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.offsets import QueryCorrectionOffsetBody
from tests.support.broker import START, BrokerAtHand, Client, fields_of
from tests.support.values import require
from tests.unit.broker.groups import join_readers

QUEUE: dict[str, object] = {"topic": "orders", "queueId": 0}
OF_GROUP: dict[str, object] = {**QUEUE, "consumerGroup": "readers"}
RESET: dict[str, object] = {"topic": "orders", "group": "readers", "isForce": True}


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand(orders=4)
    home.broker.groups.find_or_create("readers", home.now)
    return home


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    for _ in range(3):
        client.send()
        home.pass_time(1000)
    return client


def test_reset_is_pushed_to_the_consumers(client: Client, home: BrokerAtHand) -> None:
    client.call(RequestCode.UPDATE_BROKER_CONFIG, {}, b"useServerSideResetOffset=false\n")
    fields = {**RESET, "timestamp": START, "queueId": 0}
    offline = client.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields)
    join_readers(client)
    unread = client.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields)
    client.call(RequestCode.UPDATE_CONSUMER_OFFSET, {**OF_GROUP, "commitOffset": 2})
    client.requests()

    pushed = client.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields)

    (request,) = client.requests()
    assert (offline.code, unread.code) == (
        ResponseCode.CONSUMER_NOT_ONLINE,
        ResponseCode.SYSTEM_ERROR,
    )
    assert pushed.code == 0
    assert (request.code, request.is_oneway) == (RequestCode.RESET_CONSUMER_CLIENT_OFFSET, True)
    assert request.body == pushed.body
    assert b":0}" in (request.body or b"")
    assert client.call(RequestCode.QUERY_CONSUMER_OFFSET, OF_GROUP).ext_fields == {"offset": "2"}


def test_correction_has_the_lowest_offset(client: Client, home: BrokerAtHand) -> None:
    for group, committed in (("a", 5), ("b", 3), ("left-out", 1), ("behind", 2)):
        home.broker.offsets.commit(group, "orders", 0, committed, home.now)

    def correct(group: str, left_out: str = "") -> dict[int, int]:
        fields = {"topic": "orders", "compareGroup": group, "filterGroups": left_out}
        answer = client.call(RequestCode.QUERY_CORRECTION_OFFSET, fields)
        body = require(decode_body(QueryCorrectionOffsetBody, answer.body))
        return dict(body.correction_offsets or {})

    assert correct("a", "left-out") == {0: 2}
    assert home.broker.offsets.get("left-out", "orders", 0) is None
    home.broker.offsets.commit("behind", "orders", 1, 0, home.now)
    home.broker.offsets.commit("a", "orders", 1, 2, home.now)
    assert correct("behind") == {0: 2, 1: 0}


@pytest.mark.parametrize(
    ("where", "offset"),
    [
        (ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, "0"),
        (ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, "1"),
    ],
)
def test_first_question_sets_the_end(client: Client, where: ConsumeFromWhere, offset: str) -> None:
    join_readers(client, where=where)
    answer = client.call(RequestCode.QUERY_CONSUMER_OFFSET, {**OF_GROUP, "queueId": 1})
    assert answer.code == ResponseCode.QUERY_NOT_FOUND

    client.send(queue=1)

    offsets = [
        fields_of(client.call(RequestCode.GET_MAX_OFFSET, {**QUEUE, "queueId": 1}))["offset"]
        for _ in range(2)
    ]
    assert offsets == [offset, "1"]
