"""Each reader of a format inflates the same pieces."""

import gzip
import importlib
import io
import random
import sys
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import zstandard

from rocketwire_tools.pcap.files.decompress import (
    COMPRESSIONS,
    GzipMembers,
    InflatingReader,
    gzip_reader,
)

PLAIN = random.Random(7).randbytes(300_000) + bytes(2_000_000)
READERS: dict[str, Callable[[io.RawIOBase], InflatingReader]] = {
    "isal's reader": gzip_reader,
    "isal's objects": lambda file: GzipMembers(
        file, partial(importlib.import_module("isal.isal_zlib").decompressobj, wbits=31)
    ),
    "zlib's objects": lambda file: GzipMembers(file, partial(zlib.decompressobj, wbits=31)),
}


class Trickling(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes | bytearray, limit: int = 1 << 20) -> None:
        self._data = io.BytesIO(data)
        self._limit = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._data.readinto(memoryview(buffer)[: self._limit])


def inflate(reader: InflatingReader, size: int = 1 << 16) -> tuple[bytes, Exception | None]:
    """All bytes up to the end or an error, and this error."""
    room = memoryview(bytearray(size))
    inflated = bytearray()
    try:
        while count := reader.readinto1(room):
            inflated += room[:count]
    except Exception as error:  # noqa: BLE001 - tests compare it
        return bytes(inflated), error
    return bytes(inflated), None


gzip_readers = pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))


@gzip_readers
def test_members_and_zeros_between_them_are_inflated_as_one_stream(reader: Any) -> None:
    packed = gzip.compress(b"one") + bytes(700) + gzip.compress(b"") + gzip.compress(PLAIN)
    assert (b"one" + PLAIN, None) == inflate(reader(Trickling(packed + bytes(512))))


@gzip_readers
@pytest.mark.parametrize("limit", [1, 7, 4096])
def test_pipe_that_trickles_is_inflated(reader: Any, limit: int) -> None:
    packed = gzip.compress(PLAIN[299_000:310_000]) + gzip.compress(b"another")
    assert (PLAIN[299_000:310_000] + b"another", None) == inflate(reader(Trickling(packed, limit)))


@gzip_readers
def test_bytes_before_a_cut_are_inflated(reader: Any) -> None:
    packed = gzip.compress(PLAIN, 1)
    for kept in (*range(1, 60), 1000, 200_000, *range(len(packed) - 9, len(packed))):
        inflated, error = inflate(reader(Trickling(packed[:kept])))
        assert isinstance(error, EOFError)
        assert zlib.decompressobj(31).decompress(packed[:kept]) == inflated


@gzip_readers
def test_members_before_damage_are_inflated(reader: Any) -> None:
    for damage in (b"no member of it", b"\x1f\x8b\x08\x00" + bytes(6) + b"\xff" * 64):
        inflated, error = inflate(reader(Trickling(gzip.compress(PLAIN) + damage)))
        assert PLAIN == inflated
        assert error is not None
        assert not isinstance(error, EOFError)


@gzip_readers
def test_wrong_checksum_is_damage(reader: Any) -> None:
    packed = bytearray(gzip.compress(PLAIN))
    packed[-5] ^= 1
    inflated, error = inflate(reader(Trickling(packed)))
    assert PLAIN.startswith(inflated)
    assert error is not None
    assert not isinstance(error, EOFError)


def test_a_gzip_header_longer_than_what_is_read_at_a_time_is_refused() -> None:
    named = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (1 << 20) + b"\0" + gzip.compress(b"")[10:]
    inflated, error = inflate(gzip_reader(Trickling(named)))
    assert not inflated
    assert isinstance(error, OverflowError)


def test_gzip_is_inflated_without_isal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    reader = gzip_reader(Trickling(gzip.compress(PLAIN)))
    assert isinstance(reader, GzipMembers)
    assert (PLAIN, None) == inflate(reader)


@pytest.mark.parametrize("package", ["zstandard", "lz4"])
def test_other_formats_lose_at_most_a_piece_before_a_cut(package: str) -> None:
    form = next(form for form in COMPRESSIONS if form.package == package)
    compress: Any = (
        zstandard.compress
        if package == "zstandard"
        else importlib.import_module("lz4.frame").compress
    )
    packed: bytes = compress(PLAIN)
    assert packed.startswith(form.magic)
    assert (PLAIN, None) == inflate(form.reader(Trickling(packed)), form.piece)

    inflated, _ = inflate(form.reader(Trickling(packed[:-8])), form.piece)
    assert PLAIN.startswith(inflated)
    assert len(inflated) > 300_000 - form.piece
