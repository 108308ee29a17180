"""Java's hash code of many texts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.store.engine.columns import Int64s

_MAX_POWERS: Final = 1 << 16


def _powers(count: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    powers = np.full(count, 31, np.uint32)
    powers[0] = 1
    return np.multiply.accumulate(powers, dtype=np.uint32)


_POWERS: Final = _powers(_MAX_POWERS)


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
    powers = _POWERS if longest <= _MAX_POWERS else _powers(longest)
    exponents = np.repeat(ends, lengths) - np.arange(len(units)) - 1
    sums = np.zeros(len(units) + 1, np.uint32)
    np.cumsum(units.astype(np.uint32) * powers[exponents], dtype=np.uint32, out=sums[1:])
    hashes = sums[ends] - sums[ends - lengths]
    numbers: Int64s = hashes.view(np.int32).astype(np.int64)
    return numbers


def index_hashes(texts: Sequence[str]) -> Int64s:
    """Hash of each text ``topic#key`` (Java: ``IndexFile.indexKeyHashMethod``)."""
    hashes: Int64s = np.abs(string_hashes(texts))
    hashes[hashes == 1 << 31] = 0
    return hashes
