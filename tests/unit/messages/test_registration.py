"""The body of a registration in its forms.

Origin of ``PACKED``: ``RegisterBrokerBody.encode`` of Java 5.5.0; two topics, one of them with attributes, and one static mapping.
``test_vectors`` reads and writes more of Java's registrations.
"""

import dataclasses
import struct
import zlib

import pytest

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError
from rocketwire.messages.registration import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
    decode_register_broker_body,
    encode_register_broker_body,
)
from rocketwire.messages.route import TopicQueueMappingInfo

PACKED = bytes.fromhex(
    "78da558fcb4ec33010450d9fc12aba6b17521ea5f2ae48b48ac443a8151b842cc71d4a441247b6b32851fe9d"
    "893715331a2fae74c6678410cb01d6f56d240f752311a289f44e3e54ae85ca2562d510874d0735bfcf4f350a"
    "21ce79ae76aeabec4376cbbdc8b6c5cbe6e951ef569b6c0083c11ce8321e3b82c2ba58bf62c22e12b2ca96dc"
    "ff91b4f4e393df339edf01656b9a892dbdfb213f3390b0bdf7c5fed9b0d090b3e15cdd8d12fbcac723d497a9"
    "034950e7ec370be77c40b02e7daff5a176a5a9b5e6257132e030996c53104dfdd6534f01ea7afc0382d85039"
)

TOPICS = {
    "TopicB": TopicConfig(
        topic_name="TopicB",
        read_queue_nums=4,
        write_queue_nums=4,
        order=True,
        topic_sys_flag=1,
        attributes={"message.type": "FIFO"},
    ),
    "TopicA": TopicConfig(topic_name="TopicA", read_queue_nums=8, write_queue_nums=8),
}
MAPPING = TopicQueueMappingInfo(
    bname="broker-a", curr_id_map={0: 0, 1: 5}, epoch=100, topic="TopicS", total_queues=2
)
BODY = RegisterBrokerBody(
    topic_config_serialize_wrapper=TopicConfigAndMappingSerializeWrapper(
        data_version=DataVersion(counter=3, timestamp=1700000000000),
        mapping_data_version=DataVersion(timestamp=1700000000001),
        topic_config_table=TOPICS,
        topic_queue_mapping_info_map={"TopicS": MAPPING},
    )
)


def form_after_packing(body: RegisterBrokerBody, *, mappings: bool = True) -> RegisterBrokerBody:
    """The part of a registration that its packed form keeps."""
    wrapper = body.topic_config_serialize_wrapper
    assert wrapper is not None
    assert wrapper.topic_config_table is not None
    topics = {
        name: dataclasses.replace(topic, order=False, topic_sys_flag=0)
        for name, topic in wrapper.topic_config_table.items()
    }
    readable = dataclasses.replace(
        wrapper, mapping_data_version=DataVersion(), topic_config_table=topics
    )
    if not mappings:
        readable = dataclasses.replace(readable, topic_queue_mapping_info_map={})
    return dataclasses.replace(body, topic_config_serialize_wrapper=readable)


def item(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def pack_topics(
    *topics: bytes,
    version: bytes = b"{}",
    filter_servers: bytes = b"[]",
    mappings: tuple[bytes, ...] = (),
) -> bytes:
    parts = (
        item(version),
        struct.pack(">i", len(topics)),
        *map(item, topics),
        item(filter_servers),
        struct.pack(">i", len(mappings)),
        *map(item, mappings),
    )
    return zlib.compress(b"".join(parts))


def read(body: bytes | None, *, version: int = 513, compressed: bool = False) -> RegisterBrokerBody:
    decoded = decode_register_broker_body(body, compressed=compressed, version=version)
    assert decoded is not None
    return decoded


@pytest.mark.parametrize("label", [True, False])
def test_the_packed_form_is_recognised_whatever_its_label(label: bool) -> None:
    assert read(PACKED, compressed=label) == form_after_packing(BODY)


@pytest.mark.parametrize(("version", "mappings"), [(413, True), (412, False), (37, False)])
def test_mappings_are_read_from_version_413_on(version: int, mappings: bool) -> None:
    assert read(PACKED, version=version) == form_after_packing(BODY, mappings=mappings)


def test_mappings_are_written_from_version_413_on() -> None:
    old = encode_register_broker_body(BODY, compressed=True, version=412)
    first = encode_register_broker_body(BODY, compressed=True, version=413)
    assert read(first, version=413) == form_after_packing(BODY)
    assert read(old, version=412) == form_after_packing(BODY, mappings=False)
    with pytest.raises(TruncatedError):
        read(old, version=413)


def test_bytes_after_the_stream_and_after_the_last_part_are_ignored() -> None:
    assert read(PACKED + b"x") == form_after_packing(BODY)
    assert read(zlib.compress(zlib.decompress(PACKED) + b"x")) == form_after_packing(BODY)


@pytest.mark.parametrize("body", [None, b""])
def test_without_a_body_the_table_is_empty_and_its_version_zero(body: bytes | None) -> None:
    none = DataVersion(counter=0, state_version=0, timestamp=0)
    wrapper = TopicConfigAndMappingSerializeWrapper(data_version=none)
    assert read(body) == RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)
    assert read(body, version=36) == RegisterBrokerBody(
        filter_server_list=None, topic_config_serialize_wrapper=wrapper
    )


@pytest.mark.parametrize("version", [36, 37])
def test_the_text_null_is_no_registration(version: int) -> None:
    assert decode_register_broker_body(b"null", compressed=False, version=version) is None


def test_omitted_and_null_members_differ() -> None:
    absent = read(b'{"topicConfigSerializeWrapper":{}}')
    null = read(b'{"filterServerList":null,"topicConfigSerializeWrapper":{"dataVersion":null}}')

    assert absent.filter_server_list == ()
    assert absent.topic_config_serialize_wrapper is not None
    assert absent.topic_config_serialize_wrapper.data_version == DataVersion()
    assert null.filter_server_list is None
    assert null.topic_config_serialize_wrapper is not None
    assert null.topic_config_serialize_wrapper.data_version is None
    assert read(b"{}") == RegisterBrokerBody()


def test_of_topics_with_one_name_the_last_one_counts() -> None:
    body = read(pack_topics(b"T 1 1 6 SINGLE_TAG {}", b"T 2 2 6 SINGLE_TAG {}"))
    assert body.topic_config_serialize_wrapper is not None
    assert body.topic_config_serialize_wrapper.topic_config_table == {
        "T": TopicConfig(topic_name="T", read_queue_nums=2, write_queue_nums=2)
    }


def test_of_mappings_with_one_topic_the_last_one_counts() -> None:
    body = read(pack_topics(mappings=(b'{"topic":"T","epoch":1}', b'{"topic":"T","epoch":2}')))
    assert body.topic_config_serialize_wrapper is not None
    infos = body.topic_config_serialize_wrapper.topic_queue_mapping_info_map or {}
    assert {name: info.epoch for name, info in infos.items()} == {"T": 2}


def test_damaged_utf_8_in_a_topic_is_replaced_as_in_java() -> None:
    body = read(pack_topics(b"T\xff 1 1 6 SINGLE_TAG {}"))
    assert body.topic_config_serialize_wrapper is not None
    assert list(body.topic_config_serialize_wrapper.topic_config_table or ()) == ["T\ufffd"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((b"", None), (b"null", None), (b'["a",1]', ("a", "1")), (b'"a"', ("a",)), (b"x", ())),
        *((b'""', ()), (b'"null"', ("null",)), (b'{"a":1.5}', ('{"a":1.5}',))),
        *((b"[true,1.5]", ("true", "1.5")), (b"5", ()), (b"true", ()), (b"NaN", ()), (b'["a"', ())),
    ],
)
def test_unreadable_filter_servers_are_none(text: bytes, expected: tuple[str, ...] | None) -> None:
    assert read(pack_topics(filter_servers=text)).filter_server_list == expected


@pytest.mark.parametrize("text", [b"", b"null"])
def test_a_packed_version_may_be_null(text: bytes) -> None:
    wrapper = read(pack_topics(version=text)).topic_config_serialize_wrapper
    assert wrapper is not None
    assert wrapper.data_version is None


@pytest.mark.parametrize(
    "body",
    [
        *(pack_topics(b"T 1 1 6"), pack_topics(version=b"[]"), pack_topics(version=b"x")),
        *(pack_topics(mappings=(b"{}",)), pack_topics(mappings=(b"null",))),
        *(pack_topics(mappings=(b"x",)), PACKED[:40], b"{", b"[]"),
    ],
)
def test_a_damaged_registration_is_refused(body: bytes) -> None:
    with pytest.raises(DecodeError):
        read(body)


def test_a_stream_that_inflates_to_too_much_is_refused() -> None:
    with pytest.raises(LimitExceededError):
        decode_register_broker_body(PACKED, compressed=True, version=513, max_inflated=280)
    with pytest.raises(LimitExceededError, match="200 times"):
        read(zlib.compress(bytes(20_000_000)))


def test_none_prints_as_java_prints_it() -> None:
    body = RegisterBrokerBody(
        filter_server_list=None,
        topic_config_serialize_wrapper=TopicConfigAndMappingSerializeWrapper(
            data_version=None, topic_config_table=None, topic_queue_mapping_info_map=None
        ),
    )
    text = zlib.decompress(encode_register_broker_body(body, compressed=True))

    assert text == item(b"null") + bytes(4) + item(b"null") + bytes(4)


@pytest.mark.parametrize(("compressed", "version"), [(True, 513), (False, 36)])
def test_without_topics_there_is_nothing_to_pack(compressed: bool, version: int) -> None:
    body = RegisterBrokerBody(topic_config_serialize_wrapper=None)
    with pytest.raises(EncodeError):
        encode_register_broker_body(body, compressed=compressed, version=version)
