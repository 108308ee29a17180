"""The first unit that is invalid, or that points too far, among many."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, UNIT_SIZE, QueueUnit, encode_unit
from rocketwire.store.unit_search import first_from, first_invalid

COUNT = 2500


def units(offsets: list[int], unit_size: int = UNIT_SIZE) -> bytes:
    """Units with these offsets; what stands behind them says nothing."""
    return b"".join(pack(">q", offset) + b"\x7f" * (unit_size - 8) for offset in offsets)


@pytest.mark.parametrize("unit_size", [UNIT_SIZE, BATCH_UNIT_SIZE])
@pytest.mark.parametrize("place", [0, 1, 1023, 1024, 2047, 2048, COUNT - 1])
def test_the_first_unit_that_points_too_far_is_found(place: int, unit_size: int) -> None:
    offsets = list(range(0, 10 * COUNT, 10))
    offsets[place] = 1 << 40
    data = units(offsets, unit_size)

    assert first_from(data, unit_size, 1 << 40) == place * unit_size
    assert first_from(data, unit_size, (1 << 40) + 1) is None


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=60), st.integers(0, 1 << 40))
def test_the_first_of_any_units_is_found(offsets: list[int], offset: int) -> None:
    wanted = next((place for place, each in enumerate(offsets) if each >= offset), None)

    found = first_from(units(offsets), UNIT_SIZE, offset)

    assert found == (None if wanted is None else wanted * UNIT_SIZE)


def test_no_unit_of_none_points_too_far() -> None:
    assert first_from(b"", UNIT_SIZE, 0) is None


@pytest.mark.parametrize("unit", [(-1, 100), (0, 0), (0, -1), (-(1 << 63), 1)])
@pytest.mark.parametrize("place", [0, 7, COUNT - 1])
def test_the_first_unit_with_a_negative_offset_or_without_a_size_is_invalid(
    place: int, unit: tuple[int, int]
) -> None:
    valid = encode_unit(QueueUnit(5, 100, 0)) * COUNT
    data = bytearray(valid)
    data[place * UNIT_SIZE : (place + 1) * UNIT_SIZE] = encode_unit(QueueUnit(*unit, 0))

    assert first_invalid(bytes(data), UNIT_SIZE) == place * UNIT_SIZE
    assert first_invalid(valid, UNIT_SIZE) == len(valid)
