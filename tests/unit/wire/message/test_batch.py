"""Batch bodies, against one that Java made."""

import pytest

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError
from rocketwire.wire.message.batch import BatchMessage, decode_batch, encode_batch

# MessageDecoder.encodeMessages of 5.5.0 and 5.3.3
TWO = bytes.fromhex(
    # size, magic, checksum, flag, body "Hello", properties
    "0000002f 00000000 00000000 00000000 00000005 48656c6c6f"
    "0014 57414954017472756502 544147530154616741 02"
    "00000022 00000000 00000000 00000001 00000002 4869"
    "000a 57414954017472756502"
)
MESSAGES = (
    BatchMessage(body=b"Hello", properties={"WAIT": "true", "TAGS": "TagA"}),
    BatchMessage(body=b"Hi", flag=1, properties={"WAIT": "true"}),
)


def test_no_messages_are_no_bytes() -> None:
    assert encode_batch([]) == b""
    assert decode_batch(b"") == ()


def test_magic_number_and_checksum_are_not_looked_at() -> None:
    data = TWO[:4] + b"\xff" * 8 + TWO[12:]
    assert decode_batch(data) == MESSAGES


@pytest.mark.parametrize("length", [n for n in range(1, len(TWO)) if n != 47])
def test_a_batch_cut_short_is_refused(length: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_batch(TWO[:length])
    assert caught.value.path is not None
    assert caught.value.path.startswith(f"messages[{int(length > 47)}]")
    assert caught.value.offset is not None


@pytest.mark.parametrize(
    ("offset", "wrong"),
    [
        (0, "00000000"),  # of nothing
        (0, "00000003"),  # not even of itself
        (0, "00000030"),  # one byte into the second message
        (0, "0000002e"),  # one byte less than its fields
        (0, "ffffffff"),
        (0, "7fffffff"),
        (16, "ffffffff"),  # body
        (16, "7fffffff"),
        (25, "ffff"),  # properties
        (25, "7fff"),
    ],
)
def test_a_size_that_contradicts_the_message_is_refused(offset: int, wrong: str) -> None:
    data = bytearray(TWO)
    data[offset : offset + len(wrong) // 2] = bytes.fromhex(wrong)
    with pytest.raises(DecodeError, match=r"^messages\[0\]"):
        decode_batch(bytes(data))


def test_a_message_longer_than_the_data_is_truncated() -> None:
    with pytest.raises(TruncatedError):
        decode_batch(TWO[:30])


def test_more_messages_than_allowed_are_refused() -> None:
    data = encode_batch([BatchMessage(body=b"")] * 3)
    assert len(decode_batch(data, max_messages=3)) == 3
    with pytest.raises(LimitExceededError, match="more than 2 messages") as caught:
        decode_batch(data, max_messages=2)
    assert (caught.value.limit, caught.value.offset) == (2, 44)


def test_more_properties_than_allowed_are_refused() -> None:
    assert len(decode_batch(TWO, max_properties=3)) == 2
    with pytest.raises(LimitExceededError, match="more than 2 properties"):
        decode_batch(TWO, max_properties=2)


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (BatchMessage(body=b"", flag=2**31), "messages[1].flag"),
        (BatchMessage(body=b"", properties={"a": "b" * 32_765}), "messages[1].properties"),
    ],
)
def test_values_without_a_form_are_not_written(message: BatchMessage, path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_batch([BatchMessage(body=b""), message])
    assert caught.value.path == path


def test_properties_of_32767_bytes_are_written() -> None:
    message = BatchMessage(body=b"", properties={"a": "b" * 32_764})
    assert decode_batch(encode_batch([message])) == (message,)
