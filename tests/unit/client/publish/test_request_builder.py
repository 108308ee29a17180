"""From messages to requests: compression, properties, long names, keys."""

import time
from typing import Any

import pytest

from rocketwire.client.config import ClientConfig
from rocketwire.client.message import Message
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.client.publish.request_builder import (
    V1_NAMES,
    Target,
    build_outgoing_message,
    decode_send_result,
)
from rocketwire.client.publish.unique_keys import UniqueKeys, month_bounds, unique_keys
from rocketwire.errors import DecodeError, IllegalMessageError
from rocketwire.messages import encode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import QueueData, TopicRouteData
from rocketwire.messages.send import SendMessageRequestHeader, SendMessageRequestHeaderV2
from rocketwire.policy.routing import publish_info
from rocketwire.wire.command import RemotingCommand, encode_as
from rocketwire.wire.message.body_compression import CompressionType, decompress_body
from rocketwire.wire.message.ids import decode_unique_key
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.request_template import PreparedRequest

CONFIG = ProducerConfig()
HEADER: dict[str, Any] = {
    "producer_group": "g", "topic": "T", "default_topic": "D", "default_topic_queue_nums": 4,
    "queue_id": 1, "sys_flag": 0, "born_timestamp": 1, "flag": 0, "properties": "p",
    "reconsume_times": 0, "unit_mode": False, "batch": False, "max_reconsume_times": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("compression", "flag"),
    [(CompressionType.ZLIB, 0x301), (CompressionType.LZ4, 0x101), (CompressionType.ZSTD, 0x201)],
)
def test_a_body_is_compressed_from_a_threshold(compression: CompressionType, flag: int) -> None:
    config = ProducerConfig(compress_type=compression)
    small = build_outgoing_message(Message("T", bytes(4095)), "K", 5, config)
    compressed = build_outgoing_message(Message("T", bytes(4096)), "K", 5, config)
    assert (small.body, small.fields["f"]) == (bytes(4095), "0")
    assert compressed.fields["f"] == str(flag)
    assert decompress_body(compressed.body, compression, max_size=5000) == bytes(4096)


def test_the_long_names_are_those_of_the_header_s_other_spelling() -> None:
    command = build_outgoing_message(Message("T", b"x"), "K", 5, CONFIG).build_command(
        {"a": "g", "b": "T", "e": "1", "n": "broker"},
        ClientConfig(),
        ProducerConfig(send_smart_msg=False),
    )

    assert command.code == 10
    names = set(command.ext_fields or {})
    assert {"producerGroup", "topic", "queueId", "bname", "properties", "sysFlag"} <= names
    letters = encode_header(SendMessageRequestHeaderV2(**HEADER))
    long = encode_header(SendMessageRequestHeader(**HEADER))
    assert {V1_NAMES[letter] for letter in letters} == set(long)


FEW: dict[str, Any] = {"tags": "t%", "keys": ("a", 'b"'), "flag": -1, "wait_store_msg_ok": False}


@pytest.mark.parametrize(
    ("message", "prepared"),
    [
        (Message("T", b"x"), True),
        (Message("T", b"x", **FEW), True),
        (Message("T", bytes(5000)), True),
        (Message("T", b"x", **FEW, properties={"p": "\u6f22"}, delay_level=3), True),
        (Message("T", b"x", delay_millis=3, system={"TRAN_MSG": "true"}), True),
        (Message("%RETRY%g", b"x", tags="t"), True),
        (Message("T", b"x", tags="\ud800"), False),
        (Message("T", b"x", system={"MSG_TYPE": "reply"}), False),
        (Message("%RETRY%g", b"x", system={"MAX_RECONSUME_TIMES": "3"}), False),
    ],
)
@pytest.mark.parametrize("namespace", ["", "ns"])
def test_a_prepared_request_is_a_command(message: Message, prepared: bool, namespace: str) -> None:
    client = ClientConfig(namesrv_addr="a:1")
    queue = MessageQueue(topic="T", broker_name="b", queue_id=3)
    route = TopicRouteData(queue_datas=(QueueData(broker_name="b", perm=6, write_queue_nums=4),))
    template = Target("T", publish_info("T", route), start=0).get_template(
        queue, "g", CONFIG, client
    )
    ready = build_outgoing_message(message, "K", 5, CONFIG, namespace)
    request = ready.build_request(template, client, CONFIG)
    command = ready.build_command(template.fields, client, CONFIG)

    assert isinstance(request, PreparedRequest) is prepared
    if isinstance(request, PreparedRequest):
        assert request.frame(9) == encode_as(command, 9, 0)
    else:
        assert request == command


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        ({"delay_level": 3}, {"DELAY": "3"}),
        ({"delay_seconds": 1}, {"TIMER_DELAY_SEC": "1"}),
        ({"delay_millis": 0}, {"TIMER_DELAY_MS": "0"}),
        ({"deliver_millis": 3}, {"TIMER_DELIVER_MS": "3"}),
    ],
)
def test_every_kind_of_delay_is_a_property(delay: dict[str, Any], expected: dict[str, str]) -> None:
    message = Message("T", b"x", sharding_key="s", **delay)
    properties = message.wire_properties()
    assert properties == {"WAIT": "true", **expected, "__SHARDINGKEY": "s"}
    assert message.is_delayed
    assert not Message("T", b"x").is_delayed


def test_the_header_for_a_retry_topic_has_the_attempts() -> None:
    system = {"RECONSUME_TIME": "3", "MAX_RECONSUME_TIMES": "16", "RETRY_TOPIC": "T"}
    ready = build_outgoing_message(Message("%RETRY%g", b"x", system=system), "K", 5, CONFIG)
    assert (ready.fields["j"], ready.fields["l"]) == ("3", "16")
    assert decode_properties(ready.fields["i"]).items() >= system.items()


@pytest.mark.parametrize(
    "message",
    [
        Message("T", b"x", keys=("a b",)),
        Message("T", b"x", tags="a\x01"),
        Message("T", b"x", properties={"KEYS": "a"}),
        Message("T", b"x", properties={"a": "x" * 32_768}),
        Message("T", b"x", properties={"a": "\u4e2d" * 11_000}),
    ],
)
def test_properties_that_would_mean_something_else_are_refused(message: Message) -> None:
    with pytest.raises(IllegalMessageError):
        build_outgoing_message(message, "K", 5, CONFIG)


def test_keys_may_be_one_text() -> None:
    assert Message("T", b"x", keys="a b").joined_keys == "a b"
    assert Message("T", b"x", wait_store_msg_ok=False).wire_properties()["WAIT"] == "false"


@pytest.mark.parametrize("missing", ["queueId", "queueOffset", "msgId"])
def test_an_answer_without_a_place_is_none(missing: str) -> None:
    fields = {"queueId": "1", "queueOffset": "2", "msgId": "M"}
    queue = MessageQueue(topic="T", broker_name="b", queue_id=1)
    result = decode_send_result(RemotingCommand(code=0, ext_fields=fields), "K", queue)
    assert result is not None
    assert result.message_queue is queue
    del fields[missing]
    with pytest.raises(DecodeError):
        decode_send_result(RemotingCommand(code=0, ext_fields=fields), "K", queue)


def test_a_broker_may_choose_another_queue_and_name_a_batch_itself() -> None:
    fields = {"queueId": "3", "queueOffset": "2", "msgId": "M", "batchUniqId": "B"}
    queue = MessageQueue(topic="T", broker_name="b", queue_id=-1)
    result = decode_send_result(
        RemotingCommand(code=0, ext_fields={**fields, "TRACE_ON": "false"}), "K", queue
    )

    assert result is not None
    assert result.message_queue == MessageQueue(topic="T", broker_name="b", queue_id=3)
    assert result.msg_id == "B"
    assert not result.trace_on


def test_unique_keys_hold_the_time_since_the_start_of_the_month() -> None:
    now = int(time.mktime((2026, 11, 21, 10, 0, 0, 0, 0, -1)) * 1000)
    start, end = month_bounds(now)
    keys = UniqueKeys(b"\x01\x02\x03\x04", 77, 5)

    first, second, third = (decode_unique_key(keys.next_key(ms)) for ms in (now, end - 1, end))
    assert start == int(time.mktime((2026, 11, 1, 0, 0, 0, 0, 0, -1)) * 1000)
    assert first.milliseconds == now - start
    assert second.milliseconds == end - 1 - start
    assert third.milliseconds == 0
    assert (first.counter, third.counter) == (0, 2)
    assert (first.ip, first.process_id, first.constant) == ("1.2.3.4", 77, 5)


def test_the_keys_of_this_process_need_no_real_address() -> None:
    assert decode_unique_key(unique_keys("10.1.2.3").next_key()).ip == "10.1.2.3"
    assert len(unique_keys("a name").next_key()) in (32, 56)
