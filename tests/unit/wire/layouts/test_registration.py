"""The layouts of Java; announced sizes are compared with the real ones."""

import pytest

from rocketwire.errors import LimitExceededError
from rocketwire.wire.layouts.fused import (
    build_register_body_with_mappings,
    parse_register_body,
    parse_register_body_with_mappings,
)
from rocketwire.wire.zlib_stream import inflate

# RegisterBrokerBody.encode(true) of release 5.5.0: two topics, one queue mapping
COMPRESSED_REGISTRATION = bytes.fromhex(
    "78da558fcb4ec33010450d9fc12aba6b17521ea5f2ae48b48ac443a8151b842cc71d4a441247b6b3"
    "2851fe9d893715331a2fae74c6678410cb01d6f56d240f752311a289f44e3e54ae85ca2562d51087"
    "4d0735bfcf4f350a21ce79ae76aeabec4376cbbdc8b6c5cbe6e951ef569b6c0083c11ce8321e3b82"
    "c2ba58bf62c22e12b2ca96dcff91b4f4e393df339edf01656b9a892dbdfb213f3390b0bdf7c5fed9"
    "b0d090b3e15cdd8d12fbcac723d497a9034950e7ec370be77c40b02e7daff5a176a5a9b5e6257132"
    "e030996c53104dfdd6534f01ea7afc0382d85039"
)


DATA_VERSION = b'{"counter":3,"stateVersion":0,"timestamp":1700000000000}'
TOPICS = [b'TopicB 4 4 6 SINGLE_TAG {"message.type":"FIFO"}', b"TopicA 8 8 6 SINGLE_TAG {}"]
MAPPINGS = [
    b'{"bname":"broker-a","currIdMap":{0:0,1:5},"dirty":false,"epoch":100,'
    b'"scope":"__global__","topic":"TopicS","totalQueues":2}'
]
PLAIN = inflate(COMPRESSED_REGISTRATION, max_size=1000)


def test_a_registration_of_java_is_taken_apart() -> None:
    parts = (DATA_VERSION, TOPICS, b"[]", MAPPINGS)
    assert parse_register_body_with_mappings(PLAIN) == (parts, len(PLAIN))
    assert build_register_body_with_mappings(*parts) == PLAIN


def test_announced_topics_are_held_against_the_bytes_that_are_there() -> None:
    bomb = b"\x00\x00\x00\x00" + b"\x7f\xff\xff\xff" + bytes(400)
    with pytest.raises(LimitExceededError) as refusal:
        parse_register_body(bomb)
    assert (refusal.value.path, refusal.value.declared) == ("topics", 2**31 - 1)
    assert refusal.value.limit == 100


def test_a_negative_count_is_none_as_in_java() -> None:
    data = b"\x00\x00\x00\x00" + b"\xff\xff\xff\xff" + b"\x00\x00\x00\x02[]"
    assert parse_register_body(data)[0][1] == []
