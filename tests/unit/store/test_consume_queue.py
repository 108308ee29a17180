"""Units of queues that real brokers wrote."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.store import consume_queue as cq

if TYPE_CHECKING:
    from tests.support.stores import BrokerStore


def test_the_units_of_a_queue_are_what_the_broker_answers(plain: BrokerStore) -> None:
    for queue in plain.truth.queues:
        folder = plain.root / "consumequeue" / queue.topic / str(queue.queue_id)
        data = b"".join(path.read_bytes() for path in sorted(folder.glob("*")))
        units = [unit for unit in cq.decode_units(data) if unit.points_to_message]
        assert [(unit.physical_offset, unit.size) for unit in units] == [
            (message.physical_offset, message.size) for message in queue.messages
        ]
        assert [unit.tags_code for unit in units] == [
            cq.tags_code(message.properties.get("TAGS")) for message in queue.messages
        ]


def test_a_unit_is_written_as_it_was_read(plain: BrokerStore) -> None:
    data = next((plain.root / "consumequeue").glob("*/0/*")).read_bytes()

    assert b"".join(map(cq.encode_unit, cq.decode_units(data))) == data


def test_bytes_of_a_cut_unit_are_ignored() -> None:
    unit = cq.QueueUnit(100, 200, -3)

    assert list(cq.decode_units(cq.encode_unit(unit) + b"1234567")) == [unit]


def test_unwritten_units_and_pre_blanks_point_to_no_message() -> None:
    pre_blank = cq.QueueUnit(0, cq.PRE_BLANK_SIZE, 0)

    assert cq.QueueUnit(0, 91, 0).points_to_message
    assert not cq.QueueUnit(0, 0, 0).points_to_message
    assert not cq.QueueUnit(-1, 91, 0).points_to_message
    assert pre_blank.is_pre_blank
    assert not pre_blank.points_to_message
    assert cq.QueueUnit(5, cq.PRE_BLANK_SIZE, 0).points_to_message


def test_a_unit_of_a_batch_names_its_offsets() -> None:
    unit = cq.BatchUnit(1000, 300, 7, 1_700_000_000_000, 40, 3, -1, 0)

    data = cq.encode_batch_unit(unit)

    assert len(data) == cq.BATCH_UNIT_SIZE
    assert list(cq.decode_batch_units(data + b"rest")) == [unit]
    assert unit.points_to_message
    assert not unit._replace(message_count=0).points_to_message
    assert not unit._replace(base_offset=-1).points_to_message
    assert not unit._replace(size=0).points_to_message
    assert not unit._replace(physical_offset=-1).points_to_message


def test_a_small_tags_code_is_the_address_of_an_extension() -> None:
    assert cq.extension_offset(-(1 << 63) + 48) == 48
    assert cq.extension_offset(cq.MAX_EXTENSION_ADDRESS) is not None
    assert cq.extension_offset(-2147483648) is None
    assert cq.extension_offset(2314) is None


def test_an_extension_has_a_bit_map() -> None:
    data = bytes.fromhex("0018 0000000000000007 0000018bcfe56800 0004 01020304")

    assert cq.decode_extension(data, 0) == cq.QueueExtension(7, 1_700_000_000_000, b"\1\2\3\4")


def test_no_extension_stands_at_the_end_of_the_data_or_in_damage() -> None:
    data = bytes.fromhex("0018 0000000000000007 0000018bcfe56800 0004 01020304")

    assert cq.decode_extension(data, -1) is None
    assert cq.decode_extension(data, 5) is None
    assert cq.decode_extension(bytes(40), 0) is None
    assert cq.decode_extension(data[:-1], 0) is None
    assert cq.decode_extension(data[:18] + b"\xff\xff" + data[20:], 0) is None


def test_tags_have_javas_hash() -> None:
    assert cq.tags_code("Aa") == cq.tags_code("BB") == 2112
    assert cq.tags_code(None) == cq.tags_code("") == 0


COUNT = 2500


def units_to(offsets: list[int], unit_size: int = cq.UNIT_SIZE) -> bytes:
    """Units with these offsets; what stands behind them says nothing."""
    return b"".join(pack(">q", offset) + b"\x7f" * (unit_size - 8) for offset in offsets)


@pytest.mark.parametrize("unit_size", [cq.UNIT_SIZE, cq.BATCH_UNIT_SIZE])
@pytest.mark.parametrize("place", [0, 1, 1023, 1024, 2047, 2048, COUNT - 1])
def test_the_first_unit_that_points_too_far_is_found(place: int, unit_size: int) -> None:
    offsets = list(range(0, 10 * COUNT, 10))
    offsets[place] = 1 << 40
    data = units_to(offsets, unit_size)

    assert cq.first_from(data, unit_size, 1 << 40) == place * unit_size
    assert cq.first_from(data, unit_size, (1 << 40) + 1) is None


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=60), st.integers(0, 1 << 40))
def test_the_first_of_any_units_is_found(offsets: list[int], offset: int) -> None:
    wanted = next((place for place, each in enumerate(offsets) if each >= offset), None)

    found = cq.first_from(units_to(offsets), cq.UNIT_SIZE, offset)

    assert found == (None if wanted is None else wanted * cq.UNIT_SIZE)


def test_no_unit_of_none_points_too_far() -> None:
    assert cq.first_from(b"", cq.UNIT_SIZE, 0) is None


@pytest.mark.parametrize("unit", [(-1, 100), (0, 0), (0, -1), (-(1 << 63), 1)])
@pytest.mark.parametrize("place", [0, 7, COUNT - 1])
def test_the_first_unit_with_a_negative_offset_or_without_a_size_is_invalid(
    place: int, unit: tuple[int, int]
) -> None:
    valid = cq.encode_unit(cq.QueueUnit(5, 100, 0)) * COUNT
    data = bytearray(valid)
    data[place * cq.UNIT_SIZE : (place + 1) * cq.UNIT_SIZE] = cq.encode_unit(cq.QueueUnit(*unit, 0))

    assert cq.first_invalid(bytes(data), cq.UNIT_SIZE) == place * cq.UNIT_SIZE
    assert cq.first_invalid(valid, cq.UNIT_SIZE) == len(valid)
