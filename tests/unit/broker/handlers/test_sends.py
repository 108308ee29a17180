"""Sending: checks in Java's order, and answers with Java's fields (broker.md 4)."""

from __future__ import annotations

from typing import Any

import pytest

from rocketwire.messages import message_const
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from tests.support.broker import BrokerAtHand, Client, messages


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(listen_port=23010)


@pytest.mark.parametrize(
    ("topic", "changes", "code", "remark"),
    [
        ("", {}, 29, "The specified topic is blank."),
        ("a b", {}, 29, "contains illegal characters"),
        ("t" * 128, {}, 29, "is longer than topic max length: 127"),
        (
            "SCHEDULE_TOPIC_XXXX",
            {},
            16,
            "Sending message to topic[SCHEDULE_TOPIC_XXXX] is forbidden.",
        ),
        ("SELF_TEST_TOPIC", {}, 16, "is forbidden."),
        ("orders", {"c": "missing"}, 17, "topic[orders] not exist, apply first please!\nSee "),
        ("orders", {"e": 4}, 29, "request queueId[4] is illegal, TopicConfig [topicName=orders"),
        ("%RETRY%" + "g" * 121, {}, 26, "subscription group not exist, g"),
    ],
)
def test_refusals(
    client: Client, topic: str, changes: dict[str, Any], code: int, remark: str
) -> None:
    answer = client.send(topic, **changes)

    assert answer.code == code
    assert remark in (answer.remark or "")
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}


@pytest.mark.parametrize("missing", ["b", "e", "f", "d"])
def test_a_missing_field_is_an_error_without_fields(client: Client, missing: str) -> None:
    fields: dict[str, object] = {
        name: value
        for name, value in zip("bcdefghi", ("t", "TBW102", 4, 0, 0, 0, 0, ""), strict=True)
        if name != missing
    }

    answer = client.call(310, fields, b"x")

    assert (answer.code, answer.ext_fields) == (1, None)
    assert missing in (answer.remark or "")


def batch(*bodies: bytes) -> bytes:
    return encode_batch(
        BatchMessage(body=body, flag=3, properties={message_const.UNIQ_KEY: f"U{body.decode()}"})
        for body in bodies
    )


def test_a_one_way_send_is_stored_and_not_answered(client: Client, home: BrokerAtHand) -> None:
    fields: dict[str, object] = dict(
        zip("bcdefghi", ("orders", "TBW102", 4, 0, 0, 0, 0, ""), strict=True)
    )
    opaque = client.ask(310, fields, b"x", flag=2)
    refused = client.ask(310, {**fields, "b": "a b"}, b"x", flag=2)

    assert (client.answer_to(opaque), client.answer_to(refused)) == (None, None)
    assert home.broker.store.max_offset("orders", 0) == 1


def test_a_message_of_a_lite_topic_names_its_light_queue_and_there_are_not_too_many() -> None:
    home = BrokerAtHand(max_light_queues=2)
    client = home.connect()
    answers = [
        client.send(body=b"x", properties={"__LITE_TOPIC": name}) for name in ("a", "b", "a", "c")
    ]

    remark = "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]lmq consume queue num exceeded."
    assert [answer.code for answer in answers] == [0, 0, 0, 2017]
    assert answers[3].remark == remark
    stored = messages(client.pulled(2))[0]
    properties = stored.properties or {}
    assert properties["INNER_MULTI_DISPATCH"] == "%LMQ%$orders$a"
    assert properties["INNER_MULTI_QUEUE_OFFSET"] == "1"
