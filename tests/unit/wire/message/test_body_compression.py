"""Compressed bodies of Java's three compressors are read within limits."""

import sys
import tracemalloc
import zlib
from random import Random
from typing import Any

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, MissingPackageError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.message.body_compression import (
    MAX_FRAMES,
    CompressionType,
    compress_body,
    compression_type,
    decompress_body,
)

TYPES = list(CompressionType)
ROOM = 1 << 20

# CompressorFactory.getCompressor(type).compress(64 x "a", 5) of 5.5.0 and 5.3.3
MADE_BY_JAVA = {
    CompressionType.LZ4: "04224d186070730b0000001f6101002750616161616100000000",
    CompressionType.ZSTD: "28b52ffd00584400001061610100930016010000",
    CompressionType.ZLIB: "785e4b4ca40c0000148d1841",
}


@pytest.mark.parametrize("compression", TYPES)
def test_bodies_compressed_by_java_are_inflated(compression: CompressionType) -> None:
    assert (
        decompress_body(bytes.fromhex(MADE_BY_JAVA[compression]), compression, max_size=64)
        == b"a" * 64
    )


def test_zlib_writes_the_bytes_of_java() -> None:
    assert (
        compress_body(b"a" * 64, CompressionType.ZLIB).hex() == MADE_BY_JAVA[CompressionType.ZLIB]
    )


def test_lz4_writes_independent_blocks_because_java_reads_no_others() -> None:
    for size in (0, 64, 1 << 23):
        assert compress_body(bytes(size), CompressionType.LZ4).hex().startswith("04224d1860")


@pytest.mark.parametrize(
    ("sys_flag", "compression"),
    [
        (0x001, CompressionType.ZLIB),
        (0x101, CompressionType.LZ4),
        (0x201, CompressionType.ZSTD),
        (0x301, CompressionType.ZLIB),
        (-1 & ~0x700 | 0x100, CompressionType.LZ4),
    ],
)
def test_three_bits_hold_the_type(sys_flag: int, compression: CompressionType) -> None:
    assert compression_type(sys_flag) is compression


@pytest.mark.parametrize("number", [4, 5, 6, 7])
def test_a_type_without_a_meaning_is_refused(number: int) -> None:
    with pytest.raises(DecodeError, match=f"unknown compression type {number}"):
        compression_type(number << 8)


def test_each_type_has_its_bits() -> None:
    assert {compression: compression.sys_flag for compression in TYPES} == {
        CompressionType.LZ4: MessageSysFlag.COMPRESSION_LZ4,
        CompressionType.ZSTD: MessageSysFlag.COMPRESSION_ZSTD,
        CompressionType.ZLIB: MessageSysFlag.COMPRESSION_ZLIB,
    }


@pytest.mark.parametrize("compression", TYPES)
@given(body=st.binary(max_size=5000), repeat=st.integers(1, 200))
def test_bodies_are_inflated_again(compression: CompressionType, body: bytes, repeat: int) -> None:
    content = body * repeat
    assert (
        decompress_body(compress_body(content, compression), compression, max_size=ROOM) == content
    )


@pytest.mark.parametrize("compression", TYPES)
def test_a_body_inflates_to_its_limit_and_no_further(compression: CompressionType) -> None:
    data = compress_body(b"x" * 10_000, compression)
    assert len(decompress_body(data, compression, max_size=10_000)) == 10_000
    with pytest.raises(LimitExceededError) as caught:
        decompress_body(data, compression, max_size=9_999)
    assert caught.value.limit == 9_999


def bomb(compression: CompressionType) -> bytes:
    """256 MiB of nothing, compressed."""
    if compression is CompressionType.ZLIB:
        stream = zlib.compressobj(9)
        return b"".join(stream.compress(bytes(1 << 22)) for _ in range(64)) + stream.flush()
    return compress_body(bytes(1 << 22), compression) * 64


@pytest.mark.parametrize("compression", TYPES)
def test_a_bomb_is_refused_in_little_memory(compression: CompressionType) -> None:
    data = bomb(compression)

    tracemalloc.start()
    try:
        with pytest.raises(LimitExceededError):
            decompress_body(data, compression, max_size=ROOM)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 16 * ROOM


@pytest.mark.parametrize("compression", TYPES)
def test_a_body_cut_short_is_refused_at_every_length(compression: CompressionType) -> None:
    data = compress_body(b"The quick brown fox. " * 20, compression)
    for length in range(1, len(data)):
        with pytest.raises(DecodeError):
            decompress_body(data[:length], compression, max_size=ROOM)


@pytest.mark.parametrize("compression", TYPES)
def test_uncompressed_bodies_are_refused(compression: CompressionType) -> None:
    with pytest.raises(DecodeError):
        decompress_body(b"plain text, as somebody sent it", compression, max_size=ROOM)


@pytest.mark.parametrize("compression", TYPES)
@given(data=st.binary(max_size=200))
def test_any_bytes_give_a_body_or_a_decode_error(compression: CompressionType, data: bytes) -> None:
    try:
        body = decompress_body(data, compression, max_size=ROOM)
    except DecodeError:
        return
    assert len(body) <= ROOM


@pytest.mark.parametrize("compression", TYPES)
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_damage_gives_a_body_or_an_error(
    compression: CompressionType, place: int, byte: int
) -> None:
    data = bytearray(compress_body(b"The quick brown fox. " * 20, compression))
    data[place % len(data)] = byte

    try:
        body = decompress_body(bytes(data), compression, max_size=ROOM)
    except DecodeError:
        return
    assert len(body) <= ROOM


@pytest.mark.parametrize("compression", [CompressionType.LZ4, CompressionType.ZSTD])
def test_frames_one_after_the_other_are_one_body(compression: CompressionType) -> None:
    data = compress_body(b"one ", compression) + compress_body(b"two", compression)
    assert decompress_body(data, compression, max_size=ROOM) == b"one two"


def test_bytes_after_a_zlib_stream_are_ignored_as_in_java() -> None:
    data = compress_body(b"body", CompressionType.ZLIB) + b"rest"
    assert decompress_body(data, CompressionType.ZLIB, max_size=ROOM) == b"body"


def test_a_zstd_frame_that_wants_too_much_history_is_refused() -> None:
    # magic, no flags, window descriptor for 256 MiB, one empty last block
    data = bytes.fromhex("28b52ffd0090010000")
    with pytest.raises(DecodeError, match="not ZSTD"):
        decompress_body(data, CompressionType.ZSTD, max_size=ROOM)


@pytest.mark.parametrize("level", [1, 5, 19, 20, 21, 22])
def test_zstd_bodies_of_every_level_are_read(level: int) -> None:
    body = bytes(range(256)) * 4
    # as a stream, whose length is unknown, like Java's ``ZstdOutputStream``: the frame asks for the
    # whole window of its level
    stream = zstandard.ZstdCompressor(level=level, write_content_size=False).compressobj()
    data = stream.compress(body) + stream.flush()

    assert decompress_body(data, CompressionType.ZSTD, max_size=len(body)) == body
    with pytest.raises(LimitExceededError):
        decompress_body(data, CompressionType.ZSTD, max_size=len(body) - 1)


@pytest.mark.parametrize(
    ("compression", "module", "package"),
    [(CompressionType.LZ4, "lz4.frame", "lz4"), (CompressionType.ZSTD, "zstandard", "zstandard")],
)
def test_a_missing_package_is_named(
    compression: CompressionType, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EncodeError, match=f"needs the package {package}"):
        compress_body(b"body", compression)
    with pytest.raises(MissingPackageError, match=f"needs the package {package}"):
        decompress_body(bytes.fromhex(MADE_BY_JAVA[compression]), compression, max_size=64)


def test_an_lz4_frame_may_come_out_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = lz4.frame.LZ4FrameDecompressor
    hand_out = engine.decompress

    def sparing(frame: object, data: bytes, max_length: int) -> bytes:
        """Three bytes at most, as the package may when there is more room."""
        piece: bytes = hand_out(frame, data, min(max_length, 3))
        return piece

    monkeypatch.setattr(engine, "decompress", sparing)
    data = compress_body(b"The quick brown fox", CompressionType.LZ4)

    assert decompress_body(data, CompressionType.LZ4, max_size=ROOM) == b"The quick brown fox"


def test_nothing_is_no_lz4_frame() -> None:
    with pytest.raises(DecodeError, match="truncated"):
        decompress_body(b"", CompressionType.LZ4, max_size=ROOM)


@pytest.mark.parametrize("cut", [*range(20), 20])
def test_only_the_first_zstd_frame_has_to_be_whole(cut: int) -> None:
    # found by trying all of them on ZstdCompressor.decompress of 5.5.0
    first = bytes.fromhex(MADE_BY_JAVA[CompressionType.ZSTD])
    body = decompress_body(first + first[:cut], CompressionType.ZSTD, max_size=ROOM)
    assert len(body) == (128 if cut > 16 else 64)


def test_four_bytes_of_anything_may_follow_a_zstd_frame_but_not_five() -> None:
    first = bytes.fromhex(MADE_BY_JAVA[CompressionType.ZSTD])
    assert decompress_body(first + b"\xff" * 4, CompressionType.ZSTD, max_size=64) == b"a" * 64
    with pytest.raises(DecodeError, match="not ZSTD"):
        decompress_body(first + b"\xff" * 5, CompressionType.ZSTD, max_size=64)


@pytest.mark.parametrize("compression", [CompressionType.LZ4, CompressionType.ZSTD])
def test_a_body_has_no_more_than_a_thousand_frames(compression: CompressionType) -> None:
    empty = compress_body(b"", compression)
    assert decompress_body(empty * MAX_FRAMES, compression, max_size=1) == b""
    with pytest.raises(LimitExceededError, match="frames"):
        decompress_body(empty * (MAX_FRAMES + 1), compression, max_size=1)


@pytest.mark.parametrize("compression", [CompressionType.LZ4, CompressionType.ZSTD])
def test_large_frames_are_one_body(compression: CompressionType) -> None:
    body = Random(1).randbytes(200_000)
    frames = compress_body(body, compression) + compress_body(b"more", compression)
    assert decompress_body(frames, compression, max_size=300_000) == body + b"more"
