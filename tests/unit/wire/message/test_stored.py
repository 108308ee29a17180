"""Stored messages, compared with those of Java, and their damage."""

import tracemalloc
import zlib
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.body_compression import CompressionType, compress_body
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import (
    StoredLimits,
    StoredMessage,
    encode_stored_message,
    unwrap_inner_batch,
)

V6_FLAGS = MessageSysFlag.BORNHOST_V6 | MessageSysFlag.STOREHOSTADDRESS_V6

# All of these were made by MessageDecoder.encode of 5.5.0 and of 5.3.3, which agree.
HELLO_HEX = (
    "0000007b daa320a7 77d18982 00000002 00000000 0000000000000005 0000000000001234 00000000"
    "0000018bcfe56800 0a000002 0000c350 0000018bcfe56864 0a000001 00002a9f 00000000"
    "0000000000000000 00000005 48656c6c6f 09 546f70696354657374"
    "0012 54414753 01 54616741 02 4b455953 01 6b31 02"
)
HELLO = StoredMessage(
    topic="TopicTest",
    body=b"Hello",
    properties={"TAGS": "TagA", "KEYS": "k1"},
    queue_id=2,
    queue_offset=5,
    commit_log_offset=0x1234,
    store_size=123,
    body_crc=2010220930,
    born_timestamp=1_700_000_000_000,
    born_host=Host.parse("10.0.0.2:50000"),
    store_timestamp=1_700_000_000_100,
    store_host=Host.parse("10.0.0.1:10911"),
)
IPV6 = replace(
    HELLO,
    store_size=147,
    sys_flag=int(V6_FLAGS),
    born_host=Host.parse("[2001:db8::1]:50000"),
    store_host=Host.parse("[2001:db8::1]:10911"),
)
EXTREMES_HEX = (
    "0000005b daa320a7 ffffffff 7fffffff 80000000 8000000000000000 7fffffffffffffff 0000000c"
    "0000018bcfe56800 00000000 00000000 0000018bcfe56864 ffffffff 0000ffff 00000010"
    "ffffffffffffffff 00000000 00 0000"
)
EXTREMES = StoredMessage(
    topic="",
    flag=-(2**31),
    queue_id=2**31 - 1,
    queue_offset=-(2**63),
    commit_log_offset=2**63 - 1,
    store_size=91,
    sys_flag=int(MessageSysFlag.TRANSACTION_ROLLBACK),
    body_crc=-1,
    born_timestamp=1_700_000_000_000,
    born_host=Host(bytes(4), 0),
    store_timestamp=1_700_000_000_100,
    store_host=Host(b"\xff" * 4, 65535),
    reconsume_times=16,
    prepared_transaction_offset=-1,
)
NASTY_HEX = (
    "0000007c daa320a7 77d18982 00000002 00000000 0000000000000005 0000000000001234 00000000"
    "0000018bcfe56800 0a000002 0000c350 0000018bcfe56864 0a000001 00002a9f 00000000"
    "0000000000000000 00000002 00ff 0a 636166c3a920f09f9a80"
    "0015 61 01 620163 02 e4b8ad 01 e69687 02 656d707479 01 02"
)
NASTY = replace(
    HELLO,
    topic="caf\u00e9 \U0001f680",
    body=b"\x00\xff",
    store_size=124,
    properties={"a": "b\x01c", "\u4e2d": "\u6587"},
)
COMPRESSED_HEX = {
    CompressionType.ZLIB: (
        "00000070 daa320a7 00000000 00000002 00000000 0000000000000005 0000000000001234 00000301"
        "0000018bcfe56800 0a000002 0000c350 0000018bcfe56864 0a000001 00002a9f 00000000"
        "0000000000000000 0000000c 785e4b4ca40c0000148d1841 09 546f70696354657374 0000"
    ),
    CompressionType.LZ4: (
        "0000007e daa320a7 00000000 00000002 00000000 0000000000000005 0000000000001234 00000101"
        "0000018bcfe56800 0a000002 0000c350 0000018bcfe56864 0a000001 00002a9f 00000000"
        "0000000000000000 0000001a 04224d186070730b0000001f6101002750616161616100000000"
        "09 546f70696354657374 0000"
    ),
    CompressionType.ZSTD: (
        "00000078 daa320a7 00000000 00000002 00000000 0000000000000005 0000000000001234 00000201"
        "0000018bcfe56800 0a000002 0000c350 0000018bcfe56864 0a000001 00002a9f 00000000"
        "0000000000000000 00000014 28b52ffd00584400001061610100930016010000"
        "09 546f70696354657374 0000"
    ),
}
# the first message with an IPv4 address in the form of IPv6; Java reads it but does not write it
MAPPED_HEX = (
    "00000070 daa320a7 77d18982 00000002 00000000 0000000000000005 0000000000001234 00000020"
    "0000018bcfe56800 0a000002 0000c350"
    "0000018bcfe56864 00000000000000000000ffff0a000001 00002a9f 00000000"
    "0000000000000000 00000000 09 546f70696354657374 0000"
)

RAW = bytes.fromhex(HELLO_HEX)


def decode_one(data: bytes) -> StoredMessage:
    (message,) = decode_stored_messages(data)
    return message


# ---------------------------------------------------------------------------- as Java has it


def test_a_property_with_an_empty_value_is_written_but_not_read() -> None:
    with_empty = replace(NASTY, properties={**(NASTY.properties or {}), "empty": "", "null": None})
    assert encode_stored_message(with_empty) == bytes.fromhex(NASTY_HEX)
    assert decode_one(bytes.fromhex(NASTY_HEX)) == NASTY


@pytest.mark.parametrize("compression", CompressionType)
def test_a_body_is_compressed_by_its_flags(compression: CompressionType) -> None:
    message = replace(
        HELLO, body=b"a" * 64, sys_flag=int(MessageSysFlag.COMPRESSED | compression.sys_flag)
    )

    (packed,) = decode_stored_messages(
        encode_stored_message(message, compress=True), decompress=False
    )

    assert packed.body == compress_body(b"a" * 64, compression)


def test_zlib_is_compressed_to_the_bytes_of_java() -> None:
    data = bytes.fromhex(COMPRESSED_HEX[CompressionType.ZLIB])
    message = replace(decode_one(data), sys_flag=0x301)
    assert encode_stored_message(message, compress=True) == data


def test_a_body_without_the_flag_is_not_compressed() -> None:
    assert encode_stored_message(HELLO, compress=True) == RAW


def test_an_empty_body_can_be_compressed_too() -> None:
    data = encode_stored_message(replace(EXTREMES, sys_flag=0x301), compress=True)
    assert len(data) == 91 + len(bytes.fromhex("785e030000000001"))
    assert decode_one(data).body == b""


@pytest.mark.parametrize(("length", "magic"), [(127, "daa320a7"), (128, "daa320ab")])
def test_topics_of_more_than_127_bytes_need_the_second_layout(length: int, magic: str) -> None:
    # bytes 84 onwards of the longer one are the worked example that Java reads
    message = replace(HELLO, topic="T" * length, body=b"x", properties=None)

    data = encode_stored_message(message)

    assert data[4:8].hex() == magic
    assert data[84:] == bytes.fromhex("00000001 78") + (
        bytes([length]) if length < 128 else bytes([0, length])
    ) + b"T" * length + bytes(2)
    assert decode_one(data) == replace(message, store_size=len(data))


def test_a_body_without_bytes_is_none() -> None:
    message = decode_one(bytes.fromhex(EXTREMES_HEX))
    assert message == EXTREMES
    assert message.body is None


@pytest.mark.parametrize("length", ["ffffffff", "80000000"])
def test_a_body_of_negative_length_is_refused(length: str) -> None:
    data = bytes.fromhex(EXTREMES_HEX)
    with pytest.raises(DecodeError, match=r"\.body: .*-"):
        decode_one(data[:84] + bytes.fromhex(length) + data[88:])


def test_properties_of_a_negative_length_are_refused() -> None:
    with pytest.raises(DecodeError, match=r"\.properties: .*-1"):
        decode_one(bytes.fromhex(EXTREMES_HEX)[:-2] + b"\xff\xff")


def test_damaged_text_is_replaced() -> None:
    data = RAW.replace(b"TopicTest", b"Topi\xff\xc3st!").replace(b"TagA", b"\xed\xa0\x80A")
    message = decode_one(data)
    assert message.topic == "Topi\ufffd\ufffdst!"
    assert (message.properties or {})["TAGS"] == "\ufffdA"


# ---------------------------------------------------------------------------- ids and hosts


def test_the_offset_id_has_the_place_of_the_message() -> None:
    assert HELLO.offset_msg_id == "0A00000100002A9F0000000000001234"
    assert IPV6.offset_msg_id == "20010DB800000000000000000000000100002A9F0000000000001234"


def test_the_id_of_the_sender_comes_first() -> None:
    assert HELLO.msg_id == HELLO.offset_msg_id
    assert replace(HELLO, properties=None).msg_id == HELLO.offset_msg_id
    assert replace(HELLO, properties={"UNIQ_KEY": "MINE"}).msg_id == "MINE"


def test_an_ipv4_address_in_the_form_of_ipv6_is_ipv4_with_a_padded_id() -> None:
    data = bytes.fromhex(MAPPED_HEX)
    message = decode_one(data)
    # as MessageDecoder of 5.5.0 and 5.3.3 reads it
    assert str(message.store_host) == "10.0.0.1:10911"
    assert message.offset_msg_id == "0A00000100002A9F0000000000001234000000000000000000000000"
    assert encode_stored_message(message) == data


@pytest.mark.parametrize(("offset", "path"), [(52, "born_host"), (68, "store_host")])
@pytest.mark.parametrize("port", ["00010000", "ffffffff"])
def test_an_invalid_port_is_refused(offset: int, path: str, port: str) -> None:
    data = RAW[:offset] + bytes.fromhex(port) + RAW[offset + 4 :]
    with pytest.raises(DecodeError, match="is not between 0 and 65535") as caught:
        decode_stored_messages(data)
    assert caught.value.path == f"messages[0].{path}"


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (replace(HELLO, born_host=IPV6.born_host), "born_host"),
        (replace(HELLO, store_host=IPV6.store_host), "store_host"),
        (replace(IPV6, store_host=Host(bytes(5), 1)), "store_host"),
        (replace(HELLO, born_host=Host(bytes(4), 65536)), "born_host"),
        (replace(HELLO, flag=2**31), "flag"),
        (replace(HELLO, queue_offset=2**63), "queue_offset"),
        (replace(HELLO, topic="T" * 32768), "topic"),
        (replace(HELLO, properties={"a": "b" * 32765}), "properties"),
    ],
)
def test_values_without_a_form_are_not_written(message: StoredMessage, path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_stored_message(message)
    assert caught.value.path == path


def test_an_unknown_compression_is_neither_read_nor_written() -> None:
    message = replace(HELLO, sys_flag=0x701)
    with pytest.raises(EncodeError, match="unknown compression type 7"):
        encode_stored_message(message, compress=True)
    with pytest.raises(DecodeError, match="unknown compression type 7"):
        decode_stored_messages(encode_stored_message(message))


def test_a_message_that_was_read_cannot_be_changed() -> None:
    message = decode_one(RAW)
    with pytest.raises(FrozenInstanceError):
        message.topic = "other"  # type: ignore[misc]  # that is the point
    assert type(message) is StoredMessage
    assert repr(message) == repr(HELLO)


# ---------------------------------------------------------------------------- damage


def test_a_damaged_message_is_refused_with_its_number_and_place() -> None:
    data = RAW + RAW[:4] + bytes(4) + RAW[8:] + RAW

    with pytest.raises(DecodeError) as caught:
        decode_stored_messages(data)

    assert caught.value.path is not None
    assert caught.value.path.startswith("messages[1]")
    assert caught.value.offset is not None
    assert len(RAW) <= caught.value.offset < 2 * len(RAW)


def test_messages_before_damage_are_kept_without_strictness() -> None:
    data = RAW + RAW[:4] + bytes(4) + RAW[8:] + RAW
    assert decode_stored_messages(data, strict=False) == (HELLO,)
    assert decode_stored_messages(data[123:], strict=False) == ()


def test_the_filler_at_the_end_of_a_commit_log_file_is_no_message() -> None:
    with pytest.raises(DecodeError):
        decode_stored_messages(bytes.fromhex("00000100 cbd43194") + bytes(248))


@pytest.mark.parametrize(
    ("offset", "wrong"),
    [
        (0, "0000007a"),  # size of the message
        (0, "0000007c"),
        (0, "00000000"),
        (0, "ffffffff"),
        (0, "7fffffff"),
        (84, "7fffffff"),  # body
        (84, "00000006"),
        (93, "ff"),  # topic
        (93, "7f"),
        (103, "7fff"),  # properties
        (103, "0011"),
    ],
)
def test_lengths_that_contradict_each_other_are_refused(offset: int, wrong: str) -> None:
    data = RAW[:offset] + bytes.fromhex(wrong) + RAW[offset + len(wrong) // 2 :]
    with pytest.raises(DecodeError, match=r"^messages\[0\]"):
        decode_stored_messages(data)


def test_the_checksum_is_verified_on_request() -> None:
    damaged = RAW.replace(b"Hello", b"Hallo")
    assert decode_stored_messages(RAW, check_crc=True) == (HELLO,)
    assert decode_one(damaged).body == b"Hallo"
    with pytest.raises(DecodeError, match="instead of 2010220930") as caught:
        decode_stored_messages(damaged, check_crc=True)
    assert (caught.value.path, caught.value.offset) == ("messages[0].body", 0)


def test_the_checksum_is_that_of_the_compressed_body() -> None:
    body = compress_body(b"a" * 64, CompressionType.ZLIB)
    message = replace(HELLO, body=body, body_crc=crc32(body), sys_flag=0x301)
    (read,) = decode_stored_messages(encode_stored_message(message), check_crc=True)
    assert read.body == b"a" * 64


def test_a_message_without_a_body_needs_no_checksum() -> None:
    assert decode_stored_messages(bytes.fromhex(EXTREMES_HEX), check_crc=True) == (EXTREMES,)


def test_a_damaged_compressed_body_is_refused_with_its_message_place() -> None:
    data = RAW + encode_stored_message(replace(HELLO, body=b"not zlib", sys_flag=1))
    with pytest.raises(DecodeError, match="not a zlib stream") as caught:
        decode_stored_messages(data)
    assert (caught.value.path, caught.value.offset) == ("messages[1].body", len(RAW))


# ---------------------------------------------------------------------------- limits


def pack_zeros(size: int) -> bytes:
    message = replace(HELLO, body=bytes(size), sys_flag=0x301)
    return encode_stored_message(message, compress=True)


@pytest.mark.parametrize(
    ("limits", "allowed", "excess", "path", "text"),
    [
        (StoredLimits(max_messages=2), RAW * 2, RAW, None, "more than 2 messages"),
        (StoredLimits(max_properties=4), RAW * 2, RAW, "messages[2]", "more than 4 properties"),
        (
            StoredLimits(max_body=1000),
            RAW + pack_zeros(1000),
            pack_zeros(1001),
            "messages[2].body",
            "more than 1000 bytes",
        ),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_each_limit_is_allowed_and_no_more(
    limits: StoredLimits,
    allowed: bytes,
    excess: bytes,
    path: str | None,
    text: str,
    *,
    strict: bool,
) -> None:
    assert len(decode_stored_messages(allowed, limits=limits, strict=strict)) == 2
    with pytest.raises(LimitExceededError, match=text) as caught:
        decode_stored_messages(allowed + excess, limits=limits, strict=strict)
    assert (caught.value.path, caught.value.offset) == (path, len(allowed))


def test_all_bodies_together_inflate_to_their_limit_at_most() -> None:
    limits = StoredLimits(max_inflated=2500)
    assert len(decode_stored_messages(pack_zeros(1000) * 2, limits=limits)) == 2
    with pytest.raises(LimitExceededError) as caught:
        decode_stored_messages(pack_zeros(1000) * 3, limits=limits)
    assert caught.value.path == "messages[2].body"


def test_a_bomb_costs_little_memory() -> None:
    stream = zlib.compressobj(9)
    body = b"".join(stream.compress(bytes(1 << 22)) for _ in range(64)) + stream.flush()
    data = encode_stored_message(replace(HELLO, body=body, sys_flag=0x301))

    tracemalloc.start()
    try:
        with pytest.raises(LimitExceededError):
            decode_stored_messages(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 32 << 20


# ---------------------------------------------------------------------------- inner batches


def test_offsets_of_an_inner_batch_wrap_like_a_long_of_java() -> None:
    batch = encode_batch([BatchMessage(body=b"x"), BatchMessage(body=b"y")])
    message = replace(HELLO, body=batch, sys_flag=0xC0, queue_offset=2**63 - 1)
    assert [message.queue_offset for message in unwrap_inner_batch(message)] == [
        2**63 - 1,
        -(2**63),
    ]


@pytest.mark.parametrize(
    ("outer", "inner"),
    [(None, "true"), ("true", "true"), ("TRUE", "true"), ("false", "false"), ("yes", "false")],
)
def test_unwrapped_messages_have_the_wait_property(outer: str | None, inner: str) -> None:
    batch = encode_batch([BatchMessage(body=b"x")])
    message = replace(HELLO, body=batch, sys_flag=0xC0, properties={"WAIT": outer})
    (unwrapped,) = unwrap_inner_batch(message)
    assert unwrapped.properties == {"WAIT": inner}


@pytest.mark.parametrize("sys_flag", [0, 0x40, 0x80])
def test_a_message_that_is_no_inner_batch_is_its_own_content(sys_flag: int) -> None:
    message = replace(HELLO, sys_flag=sys_flag)
    assert unwrap_inner_batch(message) == (message,)


@pytest.mark.parametrize("body", [None, b"no batch"])
def test_an_invalid_inner_batch_is_refused(body: bytes | None) -> None:
    with pytest.raises(DecodeError):
        unwrap_inner_batch(replace(HELLO, sys_flag=0xC0, body=body))


# ---------------------------------------------------------------------------- anything at all

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1)
HOSTS = st.builds(Host, st.binary(min_size=4, max_size=4), st.integers(0, 65535))
MESSAGES = st.builds(
    StoredMessage,
    topic=st.text(st.characters(exclude_categories=["Cs"])),
    body=st.none() | st.binary(min_size=1),
    flag=INT32,
    properties=st.none() | st.dictionaries(TEXT, TEXT, min_size=1, max_size=5),
    queue_id=INT32,
    queue_offset=INT64,
    commit_log_offset=INT64,
    sys_flag=st.sampled_from([0, 2, 4, 8, 12, 0x40, 0x80, 0x300]),
    body_crc=INT32,
    born_timestamp=INT64,
    born_host=HOSTS,
    store_timestamp=INT64,
    store_host=HOSTS,
    reconsume_times=INT32,
    prepared_transaction_offset=INT64,
)


@given(st.lists(MESSAGES, max_size=3))
def test_every_message_is_read_again(messages: list[StoredMessage]) -> None:
    parts = [encode_stored_message(message) for message in messages]
    assert decode_stored_messages(b"".join(parts)) == tuple(
        replace(message, store_size=len(part))
        for message, part in zip(messages, parts, strict=True)
    )
