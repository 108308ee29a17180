"""Inflated pieces, for each reader that a format may have."""

from __future__ import annotations

import gzip
import importlib
import io
import random
import sys
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from rocketwire_tools.pcap.files.decompress import (
    COMPRESSIONS,
    GzipMembers,
    GzipReader,
    gzip_reader,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.files.decompress import InflatingReader

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

    def __init__(self, data: bytes | bytearray, most: int = 1 << 20) -> None:
        self._data = io.BytesIO(data)
        self._most = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._data.readinto(memoryview(buffer)[: self._most])


def inflate(reader: InflatingReader, size: int = 1 << 16) -> tuple[bytes, Exception | None]:
    """Everything that comes, and why no more does."""
    room = memoryview(bytearray(size))
    made = bytearray()
    try:
        while count := reader.readinto1(room):
            made += room[:count]
    except Exception as error:  # noqa: BLE001 - it is looked at
        return bytes(made), error
    return bytes(made), None


gzip_readers = pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))


@gzip_readers
def test_members_and_zeros_between_them_are_inflated_as_one_stream(reader: Any) -> None:
    packed = gzip.compress(b"one") + bytes(700) + gzip.compress(b"") + gzip.compress(PLAIN)
    assert (b"one" + PLAIN, None) == inflate(reader(Trickling(packed + bytes(512))))


@gzip_readers
@pytest.mark.parametrize("most", [1, 7, 4096])
def test_pipe_that_trickles_is_inflated(reader: Any, most: int) -> None:
    packed = gzip.compress(PLAIN[299_000:310_000]) + gzip.compress(b"another")
    assert (PLAIN[299_000:310_000] + b"another", None) == inflate(reader(Trickling(packed, most)))


@gzip_readers
def test_cut_loses_nothing_that_was_in_front_of_it(reader: Any) -> None:
    packed = gzip.compress(PLAIN, 1)
    for kept in (*range(1, 60), 1000, 200_000, *range(len(packed) - 9, len(packed))):
        made, error = inflate(reader(Trickling(packed[:kept])))
        assert isinstance(error, EOFError)
        assert zlib.decompressobj(31).decompress(packed[:kept]) == made


@gzip_readers
def test_whole_members_in_front_of_damage_are_inflated(reader: Any) -> None:
    for behind in (b"no member of it", b"\x1f\x8b\x08\x00" + bytes(6) + b"\xff" * 64):
        made, error = inflate(reader(Trickling(gzip.compress(PLAIN) + behind)))
        assert PLAIN == made
        assert error is not None
        assert not isinstance(error, EOFError)


@gzip_readers
def test_wrong_checksum_is_damage(reader: Any) -> None:
    packed = bytearray(gzip.compress(PLAIN))
    packed[-5] ^= 1
    made, error = inflate(reader(Trickling(packed)))
    assert PLAIN.startswith(made)
    assert error is not None
    assert not isinstance(error, EOFError)


def test_a_gzip_header_longer_than_what_is_read_at_a_time_is_refused() -> None:
    named = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (1 << 20) + b"\0" + gzip.compress(b"")[10:]
    made, error = inflate(gzip_reader(Trickling(named)))
    assert not made
    assert isinstance(error, OverflowError)


def test_buffer_is_filled_by_one_call_if_isal_has_its_reader() -> None:
    reader = gzip_reader(Trickling(gzip.compress(PLAIN), 4096))
    assert isinstance(reader, GzipReader)
    assert 1 << 20 == reader.readinto1(memoryview(bytearray(1 << 20)))


def test_gzip_is_inflated_without_isal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    reader = gzip_reader(Trickling(gzip.compress(PLAIN)))
    assert isinstance(reader, GzipMembers)
    assert (PLAIN, None) == inflate(reader)


@pytest.mark.parametrize("package", ["zstandard", "lz4"])
def test_other_formats_give_what_comes_before_a_cut_but_a_piece(package: str) -> None:
    kind = next(compression for compression in COMPRESSIONS if compression.package == package)
    compress: Any = (
        zstandard.compress
        if package == "zstandard"
        else importlib.import_module("lz4.frame").compress
    )
    packed: bytes = compress(PLAIN)
    assert packed.startswith(kind.magic)
    assert (PLAIN, None) == inflate(kind.reader(Trickling(packed)), kind.piece)

    made, _ = inflate(kind.reader(Trickling(packed[:-8])), kind.piece)
    assert PLAIN.startswith(made)
    assert len(made) > 300_000 - kind.piece
