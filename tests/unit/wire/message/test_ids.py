"""Message ids of both kinds, against ids that Java made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import (
    UniqueKey,
    UniqueKeySequence,
    create_offset_message_id,
    decode_offset_message_id,
    decode_unique_key,
    encode_unique_key,
)

ADDRESSES = st.binary(min_size=4, max_size=4) | st.binary(min_size=16, max_size=16)


def test_a_wrapped_ipv4_address_in_an_offset_id_is_an_ipv4_address() -> None:
    text = "00000000000000000000FFFF0A00000100002A9F0000000000000001"
    assert decode_offset_message_id(text).store_host == Host(bytes([10, 0, 0, 1]), 10911)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0A",
        "0A00000100002A9F000000000000123",
        "0A00000100002A9F000000000000123G",
        "0" * 33,
        "\u0663" * 32,
    ],
)
def test_a_text_that_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match="32 or 56 hex digits"):
        decode_offset_message_id(text)
    with pytest.raises(DecodeError, match="32 or 56 hex digits"):
        decode_unique_key(text)


@pytest.mark.parametrize(
    ("text", "offset"),
    [("0A000001000100000000000000001234", 8), ("20010DB8" + "0" * 24 + "FFFFFFFF" + "0" * 16, 32)],
)
def test_a_port_beyond_65535_is_refused(text: str, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_offset_message_id(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("host", "offset"),
    [
        *((Host(bytes(5), 1), 0), (Host(bytes(4), -1), 0), (Host(bytes(4), 65536), 0)),
        *((Host(bytes(4), 1), 2**63), (Host(bytes(4), 1), -(2**63) - 1)),
    ],
)
def test_an_offset_id_of_invalid_values_is_refused(host: Host, offset: int) -> None:
    with pytest.raises(EncodeError):
        create_offset_message_id(host, offset)


@given(ADDRESSES, st.integers(), st.integers(), st.integers(), st.integers())
def test_a_unique_key_keeps_the_lower_bits_of_wide_numbers(
    address: bytes, process_id: int, constant: int, milliseconds: int, counter: int
) -> None:
    text = encode_unique_key(UniqueKey(address, process_id, constant, milliseconds, counter))
    assert decode_unique_key(text) == UniqueKey(
        address, process_id % 2**16, constant % 2**32, milliseconds % 2**32, counter % 2**16
    )


def test_no_unique_key_is_made_of_an_address_of_other_length() -> None:
    with pytest.raises(EncodeError, match="an address of 5 bytes"):
        encode_unique_key(UniqueKey(bytes(5), 0, 0, 0, 0))


def sequence(counter: int = 0) -> UniqueKeySequence:
    return UniqueKeySequence(
        address=bytes([10, 0, 0, 2]),
        process_id=0x51234,
        constant=0x5B2133B1,
        month_start=1_700_000_000_000,
        counter=counter,
    )


def test_the_keys_of_a_sequence_differ_in_time_and_counter() -> None:
    keys = sequence()
    first, second = keys.next_key(1_700_000_000_001), keys.next_key(1_700_010_597_059)
    assert first == "0A00000212345B2133B1000000010000"
    assert second == "0A00000212345B2133B100A1B2C30001"


def test_the_counter_of_a_sequence_starts_again_after_65535() -> None:
    keys = sequence(counter=65_535)
    assert [keys.next_key(1_700_000_000_000)[-4:] for _ in range(2)] == ["FFFF", "0000"]


def test_a_clock_shortly_before_the_month_counts_as_its_start() -> None:
    keys = sequence()
    assert decode_unique_key(keys.next_key(1_699_999_999_999)).milliseconds == 0
    assert decode_unique_key(keys.next_key(1_699_999_000_001)).milliseconds == 0
    assert decode_unique_key(keys.next_key(1_699_999_000_000)).milliseconds == 2**32 - 1_000_000
