"""Handles of popped messages; the interop tests C24 to C28 prove them against a broker."""

import dataclasses

import pytest

from rocketwire.errors import DecodeError
from rocketwire.messages import encode_body
from rocketwire.messages.message_const import FIRST_POP_TIME, POP_CK
from rocketwire.messages.pop import BatchAckMessageRequestBody, PopMessageResponseHeader
from rocketwire.policy import pop_handle
from rocketwire.wire.message.stored import StoredMessage

TEXT = "100 1700000000000 60000 3 0 broker-a 2 105"
HANDLE = pop_handle.PopHandle(
    start_offset=100,
    pop_time=1700000000000,
    invisible_time=60000,
    revive_queue_id=3,
    retry="0",
    broker_name="broker-a",
    queue_id=2,
    queue_offset=105,
)


def header(**values: str) -> PopMessageResponseHeader:
    return PopMessageResponseHeader(
        pop_time=1700000000000,
        invisible_time=60000,
        revive_qid=3,
        rest_num=0,
        start_offset_info=values.get("start"),
        msg_offset_info=values.get("offsets"),
        order_count_info=values.get("tries"),
    )


def message(queue_offset: int, topic: str = "T", **properties: str) -> StoredMessage:
    return StoredMessage(
        topic=topic, queue_id=2, queue_offset=queue_offset, properties=properties or None
    )


def test_a_handle_is_eight_words() -> None:
    assert pop_handle.parse_pop_handle(TEXT) == HANDLE
    assert str(HANDLE) == TEXT


@pytest.mark.parametrize("text", ["", TEXT.rpartition(" ")[0], "x 1 2 3 0 broker-a 2 105"])
def test_invalid_handles_are_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        pop_handle.parse_pop_handle(text)


def test_further_words_are_ignored_as_in_java() -> None:
    assert pop_handle.parse_pop_handle(TEXT + " 4711") == HANDLE


def test_a_message_that_was_not_popped_has_no_handle() -> None:
    with pytest.raises(DecodeError, match="not popped"):
        pop_handle.handle_of(message(1))


def test_the_handle_of_a_hidden_message_starts_at_its_offset() -> None:
    renewed = HANDLE.renew(1700000009999, 30000, 4)
    assert str(renewed) == "105 1700000009999 30000 4 0 broker-a 2 105"


@pytest.mark.parametrize(
    ("retry", "topic", "expected"),
    [
        ("0", "T", "T"),
        ("1", "T", "%RETRY%G_T"),
        ("2", "T", "%RETRY%G+T"),
        ("1", "%RETRY%G_T", "%RETRY%G_T"),
    ],
)
def test_a_retried_message_has_a_group_topic(retry: str, topic: str, expected: str) -> None:
    assert expected == dataclasses.replace(HANDLE, retry=retry).real_topic(topic, "G")


@pytest.mark.parametrize(
    ("topic", "expected"), [("T", "0"), ("%RETRY%G_T", "1"), ("%RETRY%G+T", "2")]
)
def test_the_kind_of_a_retry_topic_is_read_from_its_name(topic: str, expected: str) -> None:
    assert expected == pop_handle.retry_kind(topic)


def test_each_message_of_a_pop_has_its_handle() -> None:
    response = header(start="0 2 100", offsets="0 2 100,105")
    first, second = pop_handle.with_handles([message(100), message(105)], response, "broker-a")
    assert str(pop_handle.handle_of(first)) == "100 1700000000000 60000 3 0 broker-a 2 100"
    assert str(pop_handle.handle_of(second)) == TEXT
    assert (second.properties or {})[FIRST_POP_TIME] == "1700000000000"


def test_a_pop_without_offsets_starts_at_its_first_message() -> None:
    messages = pop_handle.with_handles([message(107), message(105)], header(), "broker-a")
    assert [pop_handle.handle_of(message).start_offset for message in messages] == [105, 105]
    assert [pop_handle.handle_of(message).queue_offset for message in messages] == [107, 105]


def test_offsets_without_messages_are_assigned_in_order() -> None:
    response = header(start="0 2 5", offsets="0 2 7,9")
    messages = pop_handle.with_handles([message(105), message(100)], response, "broker-a")
    assert [pop_handle.handle_of(message).queue_offset for message in messages] == [9, 7]


def test_a_message_that_has_a_handle_keeps_it() -> None:
    properties = {POP_CK: TEXT, FIRST_POP_TIME: "1"}
    popped = StoredMessage(topic="T", queue_id=0, queue_offset=9, properties=properties)
    (renewed,) = pop_handle.with_handles([popped], header(start="0 2 100"), "broker-a")
    assert renewed.properties == properties


def test_attempts_of_ordered_messages_are_read_by_offset_or_queue() -> None:
    response = header(start="0 2 100", offsets="0 2 100,101,102", tries="0 2 1;0 qo2%101 3")
    messages = [message(100), message(101), message(102)]
    for orderly, attempts in ((True, [1, 3, 1]), (False, [0, 0, 0])):
        popped = pop_handle.with_handles(messages, response, "broker-a", orderly=orderly)
        assert [message.reconsume_times for message in popped] == attempts


@pytest.mark.parametrize(
    "response",
    [
        header(start="0 1 100"),
        header(start="0 2 100", offsets="0 2 x"),
        header(start="0 2 x"),
        header(start="0 2"),
        header(start="0 2 100", offsets="0 2 100"),
    ],
)
def test_a_header_that_contradicts_messages_is_refused(response: PopMessageResponseHeader) -> None:
    with pytest.raises(DecodeError):
        pop_handle.with_handles([message(100), message(101)], response, "broker-a")


def test_acknowledgements_of_one_pop_are_bits_of_one_entry() -> None:
    handles = [
        pop_handle.parse_pop_handle(f"100 1700000000000 60000 3 0 broker-a 2 {offset}")
        for offset in (100, 103, 109)
    ]
    other_broker = pop_handle.parse_pop_handle("7 1700000000000 60000 3 1 broker-b 0 7")

    acks = pop_handle.batch_acks([*handles, other_broker], topic="T", group="G")

    assert {name: len(entries) for name, entries in acks.items()} == {"broker-a": 1, "broker-b": 1}
    body = encode_body(BatchAckMessageRequestBody(broker_name="broker-a", acks=acks["broker-a"]))
    assert b'"b":"CQI="' in body  # {0, 3, 9}


def test_the_retry_topic_of_a_retry_topic_is_itself() -> None:
    handle = pop_handle.parse_pop_handle(TEXT.replace(" 3 0 ", " 3 1 "))

    messages = {
        topic: [
            (ack.topic, ack.retry)
            for ack in pop_handle.batch_acks([handle], topic=topic, group="G")["broker-a"]
        ]
        for topic in ("T", "%RETRY%G_T")
    }

    assert messages == {"T": [("T", "1")], "%RETRY%G_T": [("%RETRY%G_T", "0")]}
