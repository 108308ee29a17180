"""Java's hash code of many texts at once, and of parts of some bytes that lie far from each other.

A hash code is a sum of bytes, each with a power of 31.  Parts of about one size are copied as rows
of a matrix, and one product with the powers gives all sums.  Doubles hold them exactly: a sum of n
products of a byte and 32 bits is less than n * 2^40, and doubles have 53 bits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire_tools.store.engine.columns import records, size_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.store.engine.columns import Bytes, Int64s

    Uint32s = np.ndarray[tuple[int], np.dtype[np.uint32]]

_FEWEST_POWERS: Final = 1 << 16
_FACTOR: Final = 31
_INVERSE: Final = pow(_FACTOR, -1, 1 << 32)
_LONGEST: Final = 1 << 10
"""Bytes of a part that becomes a row of a matrix; 2^13 would still be exact."""

_CELLS: Final = 1 << 16  # cells of a matrix: larger ones leave the processor's cache
_FIRST_WIDE: Final = 0x80


def powers_of(factor: int, count: int) -> Uint32s:
    """The first ``count`` powers of a number, modulo 2^32."""
    return _powers(factor, max(_FEWEST_POWERS, 1 << count.bit_length()))[:count]


@lru_cache(maxsize=4)
def _powers(factor: int, count: int) -> Uint32s:
    return np.power(np.uint32(factor), np.arange(count, dtype=np.uint32))


def string_hashes(texts: Sequence[str]) -> Int64s:
    """``String.hashCode`` of each text: int32 over UTF-16 code units."""
    numbers: Int64s = _hashes_and_lengths(texts)[0].view(np.int32).astype(np.int64)
    return numbers


def _hashes_and_lengths(texts: Sequence[str]) -> tuple[Uint32s, Int64s]:
    if not texts:
        return np.empty(0, np.uint32), np.empty(0, np.int64)
    joined = "".join(texts)
    if joined.isascii():
        units = np.frombuffer(joined.encode(), np.uint8)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    else:
        parts = [text.encode("utf-16-le", "surrogatepass") for text in texts]
        units = np.frombuffer(b"".join(parts), "<u2")
        lengths = np.fromiter(map(len, parts), np.int64, len(parts)) >> 1
    ends = np.cumsum(lengths)
    longest = int(lengths.max())
    powers = powers_of(_FACTOR, longest)
    exponents = np.repeat(ends, lengths) - np.arange(len(units)) - 1
    sums = np.zeros(len(units) + 1, np.uint32)
    np.cumsum(units.astype(np.uint32) * powers[exponents], dtype=np.uint32, out=sums[1:])
    return sums[ends] - sums[ends - lengths], lengths


def index_hashes(texts: Sequence[str]) -> Int64s:
    """Hash of each text ``topic#key`` (Java: ``IndexFile.indexKeyHashMethod``)."""
    return positive_hashes(string_hashes(texts))


def positive_hashes(hashes: Int64s) -> Int64s:
    """Hash codes as an index has them: without sign, and 0 for the smallest one."""
    result: Int64s = np.abs(hashes)
    result[result == 1 << 31] = 0
    return result


def part_hashes(data: Bytes, starts: Int64s, sizes: Int64s, begins: Int64s | None = None) -> Int64s:
    """``String.hashCode`` of each part, none empty: int32 over UTF-16 code units.

    ``begins`` are hash codes of texts that stand before the parts.
    """
    sums = np.empty(len(starts), np.uint32)
    is_wide = np.zeros(len(starts), np.bool_)
    for rows, longest in size_classes(sizes):
        selection: Any = slice(None) if len(rows) == len(starts) else rows
        start, size = starts[selection], sizes[selection]
        sums[selection], is_wide[selection] = _class_hashes(data, start, size, longest)
    units = sizes
    wide = np.flatnonzero(is_wide)
    if len(wide):
        ends = starts + sizes
        spans = zip(starts[wide].tolist(), ends[wide].tolist(), strict=True)
        texts = [decode_utf8(data[start:end].tobytes()) for start, end in spans]
        units = sizes.copy()
        sums[wide], units[wide] = _hashes_and_lengths(texts)
    if begins is not None:
        sums += begins.astype(np.uint32) * powers_of(_FACTOR, int(units.max(initial=0)) + 1)[units]
    hashes: Int64s = sums.view(np.int32).astype(np.int64)
    return hashes


def _class_hashes(
    data: Bytes, starts: Int64s, sizes: Int64s, longest: int
) -> tuple[Uint32s, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Hash codes of parts as if each byte were a code unit, and which parts have others."""
    sums = np.empty(len(starts), np.uint32)
    is_wide = np.zeros(len(starts), np.bool_)
    if longest > _LONGEST or longest > len(data):
        for number, (start, size) in enumerate(zip(starts.tolist(), sizes.tolist(), strict=True)):
            part = data[start : start + size]
            sums[number] = part.astype(np.uint32) @ powers_of(_FACTOR, size)[::-1]
            is_wide[number] = part.max() >= _FIRST_WIDE
        return sums, is_wide
    # a part begins its row, or ends it if no more bytes follow
    powers = powers_of(_FACTOR, longest)[::-1].astype(np.float64)
    last = len(data) - longest
    is_uniform = int(sizes.min()) == longest
    step, kind = max(1, _CELLS // longest), np.dtype(f"V{longest}")
    first_columns = np.tri(longest + 1, longest, -1, np.uint8).view(kind)[:, 0]
    inverses = powers_of(_INVERSE, longest + 1)[::-1]
    for first in range(0, len(starts), step):
        rows = slice(first, first + step)
        windows = np.minimum(starts[rows], last)
        cells = records(data, windows, kind).view(np.uint8).reshape(-1, longest)
        ends = starts[rows] + sizes[rows] - windows
        if not is_uniform:
            cells *= first_columns[ends].view(np.uint8).reshape(-1, longest)
            skipped = starts[rows] - windows
            if skipped.any():
                cells *= 1 - first_columns[skipped].view(np.uint8).reshape(-1, longest)
        if cells.max() >= _FIRST_WIDE:
            is_wide[rows] = cells.max(axis=1) >= _FIRST_WIDE
        sums[rows] = (cells.astype(np.float64) @ powers).astype(np.uint64).astype(np.uint32)
        if not is_uniform:
            sums[rows] *= inverses[ends]
    return sums, is_wide
