"""Sending: checks in Java's order, and answers with Java's fields (broker.md 4)."""

from __future__ import annotations

from typing import Any

import pytest

from rocketwire.messages import message_const
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from tests.support.broker import BrokerAtHand, Client, bodies, messages


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(listen_port=23010)


def test_messages_of_a_queue_have_offsets_from_zero_on(client: Client) -> None:
    answers = [client.send(body=b"%d" % index) for index in range(3)]

    assert [(answer.code, (answer.ext_fields or {})["queueOffset"]) for answer in answers] == [
        (0, "0"),
        (0, "1"),
        (0, "2"),
    ]
    assert bodies(client.pulled()) == [b"0", b"1", b"2"]


def test_an_answer_has_javas_fields(client: Client) -> None:
    answer = client.send(queue=2, properties={"UNIQ_KEY": "ABC"})

    assert answer.ext_fields == {
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "msgId": "7F000001000059E20000000000000000",
        "queueId": "2",
        "queueOffset": "0",
        "transactionId": "ABC",
    }
    assert answer.body is None


def test_a_stored_message_has_the_brokers_properties(client: Client) -> None:
    client.send(properties={"TAGS": "new", "POP_CK": "gone"})

    (message,) = messages(client.pulled())
    properties = dict(message.properties or {})
    unique = properties.pop("UNIQ_KEY")

    assert properties == {
        "TAGS": "new",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "CLUSTER": "DefaultCluster",
    }
    assert unique
    assert str(message.born_host.ip) == "127.0.0.1"
    assert message.store_host.port == 23010


def test_the_long_names_of_code_10_mean_the_same(client: Client) -> None:
    fields: dict[str, object] = {
        "producerGroup": "p",
        "topic": "orders",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 1,
        "sysFlag": 0,
        "bornTimestamp": 5,
        "flag": 9,
        "properties": "a\x01b",
        "reconsumeTimes": 2,
        "unitMode": False,
    }

    assert client.call(10, fields, b"old").code == 0
    (message,) = messages(client.pulled(queue=1))
    assert (message.flag, message.born_timestamp, message.reconsume_times) == (9, 5, 2)
    assert (message.properties or {})["a"] == "b"


def test_a_topic_is_created_from_its_template(client: Client, home: BrokerAtHand) -> None:
    client.send(d=16)

    topic = home.broker.topics.get("orders")
    assert topic is not None
    assert (topic.read_queue_nums, topic.write_queue_nums, topic.perm) == (8, 8, 6)
    assert "orders" in home.broker.topics.changed


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


def test_a_message_without_body_is_an_error(client: Client) -> None:
    assert client.send(body=b"").code == 1


def test_a_negative_queue_is_any_queue(client: Client) -> None:
    queues = {(client.send(queue=-1).ext_fields or {})["queueId"] for _ in range(8)}

    assert queues == {"0", "1", "2", "3"}


def test_a_body_may_be_as_large_as_the_limit_and_not_larger(home: BrokerAtHand) -> None:
    small = BrokerAtHand(max_message_size=100).connect()

    assert small.send(body=b"x" * 100).code == 0
    refused = small.send(body=b"x" * 101)
    assert refused.code == 13
    assert "msg body length limit 100B, msg properties length limit 32KB." in (refused.remark or "")


def test_properties_have_a_limit_with_those_of_the_broker(client: Client) -> None:
    assert client.send(properties={"a": "x" * 32_500}).code == 0
    assert client.send(properties={"a": "x" * 32_760}).code == 13


def test_a_retry_beyond_its_number_is_a_dead_letter(client: Client, home: BrokerAtHand) -> None:
    kept = client.send("%RETRY%readers", j=16)
    dead = client.send("%RETRY%readers", j=17, queue=0)
    dead_too = client.send("%RETRY%readers", j=3, l=2)

    assert (kept.code, dead.code, dead_too.code) == (0, 0, 0)
    assert home.broker.store.max_offset("%RETRY%readers", 0) == 1
    assert home.broker.store.max_offset("%DLQ%readers", 0) == 2
    assert (dead.ext_fields or {})["queueId"] == "0"


def test_a_retry_of_a_group_with_a_lock_is_a_dead_letter(
    client: Client, home: BrokerAtHand
) -> None:
    body = b'{"clientId":"a","consumerGroup":"readers","mqSet":[{"brokerName":"b","queueId":0,"topic":"t"}]}'
    client.call(41, {}, body)
    client.send("%RETRY%readers")

    assert home.broker.store.max_offset("%DLQ%readers", 0) == 1


def batch(*bodies: bytes) -> bytes:
    return encode_batch(
        BatchMessage(body=body, flag=3, properties={message_const.UNIQ_KEY: f"U{body.decode()}"})
        for body in bodies
    )


def test_a_batch_is_stored_as_its_messages(client: Client) -> None:
    answer = client.send(body=batch(b"a", b"b", b"c"), code=320, m=True)
    fields = answer.ext_fields or {}
    found = messages(client.pulled())

    assert fields["queueOffset"] == "0"
    assert fields["msgId"].split(",") == [message.offset_msg_id for message in found]
    assert "transactionId" not in fields
    assert [(message.body, message.flag, message.queue_offset) for message in found] == [
        (b"a", 3, 0),
        (b"b", 3, 1),
        (b"c", 3, 2),
    ]
    assert found[1].properties == {"UNIQ_KEY": "Ub"}


def test_a_batch_without_its_mark_is_one_message(client: Client) -> None:
    client.send(body=batch(b"a", b"b"), code=320)

    assert bodies(client.pulled()) == [batch(b"a", b"b")]


def test_nothing_of_a_broken_batch_is_stored(client: Client, home: BrokerAtHand) -> None:
    answer = client.send(body=batch(b"a", b"b")[:-1], code=320, m=True)

    assert answer.code == 1
    assert home.broker.store.max_offset("orders", 0) == 0


def test_a_batch_is_neither_retried_nor_delayed(client: Client) -> None:
    assert client.send("%RETRY%readers", batch(b"a"), m=True).code == 13
    assert client.send(body=batch(b"a"), properties={"DELAY": "1"}, m=True).code == 13


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


def test_a_broker_without_light_queues_stores_messages_of_lite_topics_in_their_parent() -> None:
    home = BrokerAtHand(light_queues=False)
    client = home.connect()
    client.send(properties={"__LITE_TOPIC": "a"})

    properties = messages(client.pulled())[0].properties or {}
    assert properties["INNER_MULTI_DISPATCH"] == "%LMQ%$orders$a"
    assert "INNER_MULTI_QUEUE_OFFSET" not in properties
    assert home.broker.store.light_queues == {}
