"""The layouts are Java's; what is announced is held against what is there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError
from rocketwire.wire.layouts import functions as layouts
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.nodes import Record
from rocketwire.wire.layouts.functions import (
    MAGIC_V1,
    MAGIC_V2,
    PREFIX_STRUCT,
    RegisterParts,
    StoredFields,
    build_batch,
    build_envelope,
    build_register_body,
    build_stored,
    parse_batch,
    parse_envelope,
    parse_prefix,
    parse_register_body,
    parse_stored,
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

# MessageDecoder.encode of release 5.5.0: "Hello" to TopicTest, both hosts IPv4
STORED = bytes.fromhex(
    "0000007bdaa320a777d1898200000002000000000000000000000005000000000000123400000000"
    "0000018bcfe568000a0000020000c3500000018bcfe568640a00000100002a9f0000000000000000"
    "000000000000000548656c6c6f09546f706963546573740012544147530154616741024b45595301"
    "6b3102"
)

# the same release: two messages, the first with a tag
BATCH = bytes.fromhex(
    "0000002f0000000000000000000000000000000548656c6c6f001457414954017472756502544147"
    "5301546167410200000022000000000000000000000001000000024869000a574149540174727565"
    "02"
)


DATA_VERSION = b'{"counter":3,"stateVersion":0,"timestamp":1700000000000}'
TOPICS = [
    b'TopicB 4 4 6 SINGLE_TAG {"message.type":"FIFO"}',
    b"TopicA 8 8 6 SINGLE_TAG {}",
]
MAPPINGS = [
    b'{"bname":"broker-a","currIdMap":{0:0,1:5},"dirty":false,"epoch":100,'
    b'"scope":"__global__","topic":"TopicS","totalQueues":2}'
]
PLAIN = inflate(COMPRESSED_REGISTRATION, max_size=1000)

STORED_FIELDS: StoredFields = (
    *(MAGIC_V1, 2010220930, 2, 0, 5, 0x1234, 0, 1_700_000_000_000),
    *(bytes([10, 0, 0, 2]), 50000, 1_700_000_000_100),
    *(bytes([10, 0, 0, 1]), 10911, 0, 0),
    *(b"Hello", "TopicTest", "TAGS\x01TagA\x02KEYS\x01k1\x02"),
)


def changed(**changes: object) -> StoredFields:
    layout = lower(layouts.STORED_MESSAGE.subcon)
    assert isinstance(layout, Record)
    values = dict(zip(layout.value_names, STORED_FIELDS, strict=True)) | changes
    return tuple(values.values())  # type: ignore[return-value]  # the names are the fields


def test_a_frame_is_built_and_taken_apart() -> None:
    frame = build_envelope(1, b"header", b"body")
    assert frame.hex() == "0000000e01000006" + b"headerbody".hex()
    assert parse_envelope(frame, 0, len(frame)) == ((1, b"header", b"body"), len(frame))


def test_a_header_of_sixteen_mebibytes_does_not_spill_into_the_type_byte() -> None:
    with pytest.raises(EncodeError) as refusal:
        build_envelope(0, bytes(2**24), b"")
    assert refusal.value.path == "header_length"


def test_a_registration_of_java_is_taken_apart() -> None:
    parts = parse_register_body(PLAIN, with_mappings=True)
    assert parts == RegisterParts(DATA_VERSION, TOPICS, b"[]", MAPPINGS)
    assert build_register_body(parts) == PLAIN


def test_an_old_registration_ends_before_the_mappings() -> None:
    parts = parse_register_body(PLAIN, with_mappings=False)
    assert parts == RegisterParts(DATA_VERSION, TOPICS, b"[]", None)
    assert build_register_body(parts) == PLAIN[: -(8 + len(MAPPINGS[0]))]


def test_bytes_after_the_last_part_are_ignored() -> None:
    parts = parse_register_body(PLAIN + b"junk", with_mappings=True)
    assert parts.mappings == MAPPINGS


def test_a_registration_cut_anywhere_is_truncated() -> None:
    for end in range(len(PLAIN)):
        with pytest.raises((TruncatedError, LimitExceededError)):
            parse_register_body(PLAIN[:end], with_mappings=True)


def test_mappings_are_mandatory_where_they_belong() -> None:
    with pytest.raises(TruncatedError) as refusal:
        parse_register_body(PLAIN[: -(8 + len(MAPPINGS[0]))], with_mappings=True)
    assert refusal.value.path == "mappings"


def test_announced_topics_are_held_against_the_bytes_that_are_there() -> None:
    bomb = b"\x00\x00\x00\x00" + b"\x7f\xff\xff\xff" + bytes(400)
    with pytest.raises(LimitExceededError) as refusal:
        parse_register_body(bomb, with_mappings=False)
    assert (refusal.value.path, refusal.value.declared) == ("topics", 2**31 - 1)
    assert refusal.value.limit == 100


def test_a_negative_count_is_none_as_in_java() -> None:
    plain = b"\x00\x00\x00\x00" + b"\xff\xff\xff\xff" + b"\x00\x00\x00\x02[]"
    assert parse_register_body(plain, with_mappings=False).topics == []


@pytest.mark.parametrize("length", ["ffffffff", "80000000"])
def test_a_negative_length_is_refused(length: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        parse_register_body(bytes.fromhex(length) + PLAIN, with_mappings=True)
    assert type(refusal.value) is DecodeError
    assert refusal.value.path == "data_version"


def test_a_stored_message_of_java_is_read_and_written() -> None:
    assert parse_stored(STORED) == (STORED_FIELDS, len(STORED))
    assert build_stored(STORED_FIELDS) == STORED


def test_stored_messages_follow_each_other() -> None:
    first, end = parse_stored(STORED + STORED)
    second, end = parse_stored(STORED + STORED, end)
    assert (first, second, end) == (STORED_FIELDS, STORED_FIELDS, 2 * len(STORED))


@pytest.mark.parametrize(("sys_flag", "size"), [(0x10, 135), (0x20, 135), (0x30, 147)])
def test_the_flags_tell_the_sizes_of_the_addresses(sys_flag: int, size: int) -> None:
    ipv6 = bytes.fromhex("20010db8000000000000000000000001")
    fields = changed(
        sys_flag=sys_flag,
        born_address=ipv6 if sys_flag & 0x10 else bytes(4),
        store_address=ipv6 if sys_flag & 0x20 else bytes(4),
    )
    message = build_stored(fields)
    assert len(message) == size
    assert parse_stored(message) == (fields, size)


@pytest.mark.parametrize("field", ["born_address", "store_address"])
def test_an_address_of_another_size_is_refused(field: str) -> None:
    with pytest.raises(EncodeError) as refusal:
        build_stored(changed(**{field: bytes(16)}))
    assert refusal.value.path == field


def test_the_second_version_has_room_for_long_topics() -> None:
    fields = changed(magic=MAGIC_V2, topic="T" * 128, body=b"x", properties=None)
    message = build_stored(fields)
    assert len(message) == 221
    assert message[84:91].hex() == "00000001780080"
    assert parse_stored(message) == (fields, 221)
    with pytest.raises(EncodeError) as refusal:
        build_stored(changed(topic="T" * 128))
    assert refusal.value.path == "topic"


def test_an_empty_body_and_no_properties_are_none() -> None:
    fields = changed(body=None, properties=None)
    assert parse_stored(build_stored(fields))[0] == fields
    assert build_stored(changed(body=b"", properties="")) == build_stored(fields)


@pytest.mark.parametrize("magic", [0, 0xDAA320A8, 0xCBD43194])
def test_another_magic_number_is_refused_both_ways(magic: int) -> None:
    with pytest.raises(DecodeError):
        parse_stored(STORED[:4] + magic.to_bytes(4, "big") + STORED[8:])
    with pytest.raises(EncodeError):
        build_stored(changed(magic=magic))


def test_a_size_that_does_not_agree_with_the_fields_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"left over|end of stream"):
        parse_stored((len(STORED) + 1).to_bytes(4, "big") + STORED[4:] + b"x")
    with pytest.raises(TruncatedError):
        parse_stored((len(STORED) - 1).to_bytes(4, "big") + STORED[4:])
    with pytest.raises(DecodeError):
        parse_stored(b"\x00\x00\x00\x03" + STORED[4:])


def test_a_stored_message_cut_anywhere_is_truncated() -> None:
    for end in range(len(STORED)):
        with pytest.raises(TruncatedError):
            parse_stored(STORED[:end])


def test_a_batch_of_java_is_read_and_written() -> None:
    messages = [(0, b"Hello", "WAIT\x01true\x02TAGS\x01TagA\x02"), (1, b"Hi", "WAIT\x01true\x02")]
    assert parse_batch(BATCH) == (messages, len(BATCH))
    assert build_batch(messages) == BATCH


def test_a_batch_that_ends_inside_a_message_is_refused() -> None:
    for end in range(1, len(BATCH)):
        if end != 0x2F:
            with pytest.raises(TruncatedError):
                parse_batch(BATCH[:end])


@pytest.mark.process
@pytest.mark.parametrize(("value", "interpreted"), [("interpreted", True), ("", False)])
def test_the_environment_decides_who_runs_the_declarations(value: str, interpreted: bool) -> None:
    program = "from rocketwire.wire.layouts import functions as grammar; print(grammar.INTERPRETED)"
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "ROCKETWIRE_CONSTRUCT": value, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == str(interpreted)


def test_this_run_knows_which_way_it_is() -> None:
    assert layouts.INTERPRETED is (os.environ.get("ROCKETWIRE_CONSTRUCT") == "interpreted")


def test_the_struct_of_the_prefix_reads_what_its_parser_reads() -> None:
    data = bytes.fromhex("fffffffe 01 020304")
    length, header_type, high, low = PREFIX_STRUCT.unpack(data)

    assert ((length, header_type, high << 16 | low), 8) == parse_prefix(data)
