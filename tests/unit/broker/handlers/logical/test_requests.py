"""Requests about logical queues, whose sections are at two brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.wire.message.batch import BatchMessage, encode_batch
from tests.support.broker_pair import BLOCK, TOPIC, Pair, detail, item

if TYPE_CHECKING:
    from tests.support.broker import Client

QUEUE: dict[str, object] = {"topic": TOPIC, "queueId": 0}
OF_GROUP: dict[str, object] = {**QUEUE, "consumerGroup": "readers"}


@pytest.fixture
def pair() -> Pair:
    pair = Pair()
    pair.create_at_first()
    pair.first.call(352, {"group": "readers"})
    pair.second.call(352, {"group": "readers"})
    return pair


def offset(client: Client, code: int, **fields: object) -> tuple[int, str | None, str | None]:
    answer = client.call(code, {**OF_GROUP, **fields})
    return answer.code, answer.remark, (answer.ext_fields or {}).get("offset")


def test_messages_have_logical_queues_and_offsets(pair: Pair) -> None:
    assert pair.send(pair.first, "0", "1") == [(0, 0), (0, 1)]
    pair.move_to_second()
    assert pair.send(pair.second, "2") == [(0, BLOCK)]
    assert pair.homes[1].broker.store.max_offset(TOPIC, 0) == 1

    body = encode_batch([BatchMessage(body=b"3", properties={})])
    answer = pair.second.send(TOPIC, body, queue=-1, code=320, m=True)
    assert (answer.ext_fields or {})["queueOffset"] == str(BLOCK + 1)
    fields = {
        **QUEUE,
        "producerGroup": "p",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "sysFlag": 0,
        "bornTimestamp": 1,
        "flag": 0,
        "properties": "",
    }
    answer = pair.second.call(10, fields, b"4")
    assert (answer.ext_fields or {})["queueOffset"] == str(BLOCK + 2)


def test_a_queue_that_is_not_led_refuses_and_so_does_one_that_there_is_not(pair: Pair) -> None:
    answer = pair.second.send(TOPIC)
    remark = f"{TOPIC}-0 does not exit in request process of current broker broker-b"
    assert (answer.code, answer.remark) == (501, remark)
    assert pair.first.send(TOPIC, queue=7).code == 501
    assert pair.second.send(TOPIC, queue=-1).code == 501
    assert pair.second.call(31, QUEUE).remark == (
        f"{TOPIC}-0 is not leader in broker broker-b, request code 31"
    )


def test_a_send_that_is_refused_is_answered_as_for_any_topic(pair: Pair) -> None:
    answer = pair.first.send(TOPIC, properties={"a": "x" * 40_000})

    assert answer.code == 13


def test_a_leader_without_offset_stores_messages_and_does_not_tell_where(pair: Pair) -> None:
    pair.move_to_second(start=-1)

    assert pair.send(pair.second, "0") == [(0, -1)]
    assert offset(pair.second, 30) == (0, None, "0")


def test_ends_of_a_queue_are_those_of_its_sections(pair: Pair) -> None:
    pair.send(pair.first, "0", "1", "2")
    assert offset(pair.first, 30) == (0, None, "3")
    pair.move_to_second()

    assert offset(pair.second, 30) == (0, None, str(BLOCK))
    pair.send(pair.second, "3")
    assert offset(pair.second, 30) == (0, None, str(BLOCK + 1))
    assert offset(pair.second, 31) == (0, "", "0")
    answer = pair.second.call(32, QUEUE)
    fields = {"timestamp": str(pair.homes[0].now)}
    assert (answer.remark, answer.ext_fields) == (None, fields)
    assert offset(pair.first, 30, lo="false") == (0, None, "3")


def test_a_time_is_looked_for_in_all_sections(pair: Pair) -> None:
    start = pair.homes[0].now
    for text in "01":
        pair.send(pair.first, text)
        pair.homes[0].pass_time(10)
    pair.move_to_second()

    assert offset(pair.second, 29, timestamp=start + 5) == (0, None, "1")
    pair.homes[1].pass_time(100)
    pair.send(pair.second, "2", "3")
    assert offset(pair.second, 29, timestamp=start + 5) == (0, None, "1")
    assert offset(pair.second, 29, timestamp=start + 500) == (0, None, str(BLOCK + 2))
    assert offset(pair.second, 29, timestamp=0) == (0, None, "0")


def test_offsets_of_groups_are_kept_with_their_sections(pair: Pair) -> None:
    pair.send(pair.first, "0", "1")
    assert offset(pair.first, 15, commitOffset=1) == (0, None, None)
    assert offset(pair.first, 14) == (0, None, "1")
    pair.move_to_second()

    assert offset(pair.second, 14) == (0, None, "1")
    assert offset(pair.second, 15, commitOffset=2) == (0, "", None)
    assert offset(pair.second, 14) == (0, None, "2")
    assert offset(pair.second, 15, commitOffset=BLOCK + 1)[0] == 0
    assert offset(pair.second, 14) == (0, None, str(BLOCK + 1))
    remark = "Not found, maybe this group consumer boot first"
    assert offset(pair.second, 14, consumerGroup="nobody") == (22, remark, None)


def test_a_broker_that_does_not_answer_is_an_error(pair: Pair) -> None:
    pair.move_to_second()
    pair.is_slow = True
    opaques = [
        pair.second.ask(code, {**OF_GROUP, "timestamp": 0, "commitOffset": 0})
        for code in (14, 15, 29, 31, 32)
    ]
    assert [pair.second.answer_to(opaque) for opaque in opaques[1:]] == [None] * 4
    pair.deliver(is_lost=True)

    answers = [pair.second.answer_to(opaque) for opaque in opaques[1:]]
    expected = (1, "the broker broker-a does not answer")
    assert [(one.code, one.remark) for one in answers if one is not None] == [expected] * 4
    pair.homes[1].broker.forwards.on_asked = None
    assert offset(pair.second, 31)[:2] == expected


def test_a_request_that_nobody_waits_for_goes_on_silently(pair: Pair) -> None:
    pair.move_to_second()
    pair.is_slow = True
    opaque = pair.second.ask(15, {**OF_GROUP, "commitOffset": 1}, flag=2)
    pair.deliver()

    assert pair.second.answer_to(opaque) is None
    assert offset(pair.first, 14, lo="false") == (0, None, "1")


def test_an_invalid_request_is_an_error(pair: Pair) -> None:
    assert offset(pair.first, 15, commitOffset="x")[0] == 1
    assert pair.first.call(30, {"topic": TOPIC}).code == 1
    pair.send(pair.first, "0")
    pair.create(pair.first, detail("broker-a", item("broker-a", start=-1), epoch=3))
    assert offset(pair.first, 30)[:2] == (1, "no section has an offset")


def test_other_topics_are_as_before(pair: Pair) -> None:
    pair.first.send("orders")

    answer = pair.first.call(30, {"topic": "orders", "queueId": 0})
    assert (answer.ext_fields or {})["offset"] == "1"
