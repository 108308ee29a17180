"""Java's hash code of many texts at once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.policy.java_strings import string_hash, to_int32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.store.engine.columns import Int64s

    Uint32s = np.ndarray[tuple[int], np.dtype[np.uint32]]

_FACTOR: Final = 31
_INVERSE: Final = pow(_FACTOR, -1, 1 << 32)
_FEWEST_POWERS: Final = 1 << 16


_FIRST_WIDE: Final = 0x80


@lru_cache(maxsize=4)
def _powers(factor: int, count: int) -> Uint32s:
    powers = np.full(count, factor, np.uint32)
    powers[0] = 1
    return np.multiply.accumulate(powers, dtype=np.uint32)


def powers_of(factor: int, count: int) -> Uint32s:
    """The first ``count`` powers of a number, modulo 2^32."""
    return _powers(factor, max(_FEWEST_POWERS, 1 << count.bit_length()))[:count]


def string_hashes(texts: Sequence[str]) -> Int64s:
    """``String.hashCode`` of each text: int32 over UTF-16 code units."""
    if not texts:
        return np.empty(0, np.int64)
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
    hashes = sums[ends] - sums[ends - lengths]
    numbers: Int64s = hashes.view(np.int32).astype(np.int64)
    return numbers


def index_hashes(texts: Sequence[str]) -> Int64s:
    """Hash of each text ``topic#key`` (Java: ``IndexFile.indexKeyHashMethod``)."""
    return positive_hashes(string_hashes(texts))


def positive_hashes(hashes: Int64s) -> Int64s:
    """Hash codes as an index has them: without sign, and 0 for the smallest one."""
    result: Int64s = np.abs(hashes)
    result[result == 1 << 31] = 0
    return result


class PartHashes:
    """``String.hashCode`` of any parts of one text.

    A hash code is a sum of units, each with a power of 31.  With the inverse powers (31 has an
    inverse modulo 2^32) one running sum over the text gives the sum of each part.

    Args:
        data: valid UTF-8.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        units = np.frombuffer(data, np.uint8)
        self._wide = None if data.isascii() else np.flatnonzero(units >= _FIRST_WIDE)
        self._sums = np.zeros(len(data) + 1, np.uint32)
        inverse = powers_of(_INVERSE, len(data))
        np.cumsum(units * inverse, dtype=np.uint32, out=self._sums[1:])

    def of(self, starts: Int64s, ends: Int64s, begins: Int64s | None = None) -> Int64s:
        """The hash code of each part.

        Args:
            starts: first byte of each.
            ends: the byte after its last one.
            begins: hash code of a text that stands before each; of none by default.
        """
        sums, powers = self._sums, powers_of(_FACTOR, len(self._data) + 1)
        hashes = (sums[ends] - sums[starts]) * powers[ends] * np.uint32(_INVERSE)
        before = np.zeros(len(starts), np.uint32) if begins is None else begins.astype(np.uint32)
        hashes += before * powers[ends - starts]
        numbers: Int64s = hashes.view(np.int32).astype(np.int64)
        if self._wide is not None:
            is_wide = np.searchsorted(self._wide, starts) < np.searchsorted(self._wide, ends)
            for part in np.flatnonzero(is_wide).tolist():
                text = self._data[starts[part] : ends[part]].decode()
                units = len(text.encode("utf-16-le")) >> 1
                begin = int(before[part]) * pow(_FACTOR, units, 1 << 32)
                numbers[part] = to_int32(begin + string_hash(text))
        return numbers
