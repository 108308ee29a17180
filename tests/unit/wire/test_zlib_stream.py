"""zlib streams come out whole or not at all, never larger than allowed; checksums."""

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, LimitExceededError, TruncatedError
from rocketwire.wire.checksum import choose_crc, crc32, defined_crc
from rocketwire.wire.zlib_stream import RATIO_COUNTS_FROM, STEP, deflate, inflate, looks_like_zlib

# Java: CompressorFactory ZLIB, level 5, of 64 times the letter a (release 5.5.0)
SIXTY_FOUR_A = bytes.fromhex("785e4b4ca40c0000148d1841")


def test_a_stream_of_java_is_inflated() -> None:
    assert inflate(SIXTY_FOUR_A, max_size=64) == b"a" * 64


@given(st.binary(max_size=200))
def test_deflated_bytes_are_inflated(data: bytes) -> None:
    assert inflate(deflate(data), max_size=len(data)) == data


def test_the_default_level_writes_the_first_two_bytes_of_java() -> None:
    assert deflate(b"x")[:2] == b"\x78\xda"


def test_bytes_after_the_stream_are_ignored() -> None:
    assert inflate(SIXTY_FOUR_A + b"junk", max_size=100) == b"a" * 64


def test_one_byte_over_the_limit_is_refused() -> None:
    with pytest.raises(LimitExceededError) as refusal:
        inflate(SIXTY_FOUR_A, max_size=63)
    assert (refusal.value.declared, refusal.value.limit) == (64, 63)


def test_a_bomb_is_refused_one_step_after_the_limit() -> None:
    bomb = deflate(bytes(10_000_000))
    with pytest.raises(LimitExceededError) as refusal:
        inflate(bomb, max_size=1000)
    assert refusal.value.declared <= 1000 + STEP


def test_a_ratio_is_judged_while_the_stream_is_read() -> None:
    bomb = deflate(bytes(100_000_000))
    with pytest.raises(LimitExceededError, match="200 times") as refusal:
        inflate(bomb, max_size=1_000_000_000, max_ratio=200)
    assert refusal.value.declared <= RATIO_COUNTS_FROM + STEP


def test_a_high_ratio_of_little_output_is_allowed() -> None:
    content = bytes(RATIO_COUNTS_FROM)
    assert inflate(deflate(content), max_size=len(content), max_ratio=2) == content


def test_a_long_stream_is_put_together_from_its_pieces() -> None:
    content = b"".join(b"%d" % number for number in range(500_000))
    assert inflate(deflate(content), max_size=len(content), max_ratio=100) == content


def test_a_stream_without_end_is_truncated() -> None:
    with pytest.raises(TruncatedError):
        inflate(SIXTY_FOUR_A[:-1], max_size=100)
    with pytest.raises(TruncatedError):
        inflate(b"", max_size=100)


@pytest.mark.parametrize(
    "data", [b"{}", b"xx", SIXTY_FOUR_A[:-1] + b"\x00"], ids=["JSON", "no stream", "damaged end"]
)
def test_invalid_streams_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError, match="not a zlib stream"):
        inflate(data, max_size=100)


@pytest.mark.parametrize("level", range(10))
def test_every_level_starts_like_zlib(level: int) -> None:
    assert looks_like_zlib(zlib.compress(b"{}", level))


@pytest.mark.parametrize("data", [b"", b"x", b"{}", b"null", b" {", b"\x08{", b"[]", b"x\x00"])
def test_nothing_else_looks_like_zlib(data: bytes) -> None:
    assert not looks_like_zlib(data)


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
