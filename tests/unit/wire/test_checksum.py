"""The checksum is Java's; zlib computes it only because crcmod agrees."""

from __future__ import annotations

import zlib

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


def test_a_checksum_that_disagrees_is_not_chosen() -> None:
    def other(data: bytes | memoryview, value: int) -> int:
        return zlib.adler32(data, value)

    assert choose_crc(defined_crc, other) is defined_crc


def test_a_checksum_that_cannot_be_continued_is_not_chosen() -> None:
    def forgetful(data: bytes | memoryview, value: int) -> int:
        return zlib.crc32(data)

    assert choose_crc(defined_crc, forgetful) is defined_crc
