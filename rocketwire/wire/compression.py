"""zlib streams, read with a ceiling: what comes out is bounded before it is made.

Compressed registrations and message bodies are RFC 1950 streams.  Java inflates without any limit;
here a limit is an argument that cannot be left out.
"""

from __future__ import annotations

import zlib
from typing import Final

from rocketwire.errors import DecodeError, LimitExceededError, TruncatedError

BEST_LEVEL: Final = 9
"""Level of Java's compressed registrations (``RegisterBrokerBody.encode``)."""

_METHOD_MASK: Final = 0x8F  # method, and the top bit of the window size, which is never set
_DEFLATE_METHOD: Final = 8


def inflate(data: bytes | memoryview, *, max_size: int, max_ratio: int | None = None) -> bytes:
    """Returns what one zlib stream holds; bytes after the stream are ignored, as Java ignores them.

    Args:
        data: the stream.
        max_size: most bytes that may come out.
        max_ratio: most bytes that may come out for each byte that goes in; None for no such limit.

    Raises:
        LimitExceededError: more would come out; never more than the limit and one byte is held.
        TruncatedError: the stream has no end.
        DecodeError: not a zlib stream, or a damaged one.
    """
    limit = max_size if max_ratio is None else min(max_size, len(data) * max_ratio)
    stream = zlib.decompressobj()
    try:
        # one byte more than allowed tells "the limit" from "over it"; 0 would mean unlimited
        plain = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise DecodeError(f"not a zlib stream: {error}", excerpt=bytes(data[:16])) from error
    if len(plain) > limit:
        message = f"inflates to more than {limit} bytes"
        raise LimitExceededError(message, declared=len(plain), limit=limit)
    if not stream.eof:
        raise TruncatedError("the zlib stream has no end", offset=len(data))
    return plain


def deflate(data: bytes | memoryview, level: int = BEST_LEVEL) -> bytes:
    """Returns ``data`` as one zlib stream."""
    return zlib.compress(data, level)


def looks_like_zlib(data: bytes | memoryview) -> bool:
    """Whether the first two bytes can start a zlib stream; no JSON text can.

    A broker labels its compressed registration ``compressed=false`` (Java:
    ``BrokerOuterAPI.registerBroker``), so the bytes have to tell.
    """
    if len(data) < 2 or data[0] & _METHOD_MASK != _DEFLATE_METHOD:
        return False
    return (data[0] << 8 | data[1]) % 31 == 0
