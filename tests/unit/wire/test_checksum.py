"""The checksum is Java's; zlib computes it only because crcmod agrees."""

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.wire.checksum import choose_crc, crc32, defined_crc


def test_no_body_has_the_checksum_zero() -> None:
    assert crc32(None) == 0


@given(st.binary(max_size=300))
def test_the_definition_and_the_fast_way_agree(data: bytes) -> None:
    assert crc32(data) == defined_crc(data, 0) & 0x7FFF_FFFF == crc32(memoryview(data))


def test_zlib_is_chosen_because_it_agrees_with_crcmod() -> None:
    assert choose_crc(defined_crc, zlib.crc32) is zlib.crc32


@pytest.mark.parametrize("function", [zlib.adler32, lambda data, value: zlib.crc32(data)])
def test_a_function_that_disagrees_is_not_chosen(function: Any) -> None:
    assert choose_crc(defined_crc, function) is defined_crc
