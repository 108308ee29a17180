"""Text that is kept compressed; a client that does not read gzip gets it in parts.

The text of a collection is long and repeats itself: names of labels take most of it. Compressed it
has a twentieth of its size, and Prometheus asks for gzip.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

LEVEL: Final = 1
"""Fast: the text shrinks to a twentieth already."""
GZIP: Final = 16 + zlib.MAX_WBITS
"""zlib's number for the container of gzip, which HTTP calls by this name."""
PART: Final = 64 * 1024
"""Maximum number of bytes in memory of a text that is read in parts."""


class Compressed(NamedTuple):
    """A text.

    Attributes:
        data: one gzip member.
        size: length of the text in bytes.
    """

    data: bytes
    size: int

    def parts(self) -> Iterator[bytes]:
        """Yield the text in parts of at most ``PART`` bytes."""
        decompress = zlib.decompressobj(GZIP)
        waiting = self.data
        while not decompress.eof:
            yield decompress.decompress(waiting, PART)
            waiting = decompress.unconsumed_tail


class Beginning:
    """The beginning of texts, compressed once.

    Args:
        parts: parts of the beginning, of which none is kept.
    """

    def __init__(self, parts: Iterable[bytes] = ()) -> None:
        """Compress the beginning."""
        self._compress = zlib.compressobj(LEVEL, wbits=GZIP)
        self._size = 0
        data: list[bytes] = []
        for part in parts:
            self._size += len(part)
            data.append(self._compress.compress(part))
        self._data = b"".join(data)

    def followed_by(self, end: bytes) -> Compressed:
        """Return the text that has this end."""
        compress = self._compress.copy()
        data = b"".join((self._data, compress.compress(end), compress.flush()))
        return Compressed(data, self._size + len(end))
