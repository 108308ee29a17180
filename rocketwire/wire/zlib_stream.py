"""zlib streams, read with a ceiling: what comes out is bounded before it is made.

Compressed registrations and message bodies are RFC 1950 streams.  Java inflates without any limit;
here a limit is an argument that cannot be left out.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError, LimitExceededError, TruncatedError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

BEST_LEVEL: Final = 9
"""Level of Java's compressed registrations (``RegisterBrokerBody.encode``)."""

STEP: Final = 1 << 18
"""Most bytes that come out before the limits are looked at again."""
INPUT_STEP: Final = 1 << 14
"""Bytes that go in at a time: what a step leaves of them is copied."""
RATIO_COUNTS_FROM: Final = 1 << 20
"""Up to so many bytes of output a high ratio is nobody's harm."""

_METHOD_MASK: Final = 0x8F  # method, and the top bit of the window size, which is never set
_DEFLATE_METHOD: Final = 8


def inflate(data: bytes | memoryview, *, max_size: int, max_ratio: int | None = None) -> bytes:
    """Returns what one zlib stream holds; bytes after the stream are ignored, as Java ignores them.

    Args:
        data: the stream.
        max_size: most bytes that may come out.
        max_ratio: most bytes that may come out for each byte that went in so far, once
            ``RATIO_COUNTS_FROM`` bytes have come out; None for no such limit.

    Raises:
        LimitExceededError: more would come out; never more than ``STEP`` bytes over a limit are
            held.
        TruncatedError: the stream has no end.
        DecodeError: not a zlib stream, or a damaged one.
    """
    steps = inflating(data, max_size=max_size, max_ratio=max_ratio)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            plain: bytes = end.value
            return plain


def inflating(
    data: bytes | memoryview, *, max_size: int, max_ratio: int | None = None
) -> Generator[None, None, bytes]:
    """The same as ``inflate`` in steps, for those who have something else to do meanwhile."""
    pieces: list[bytes] = []
    size = 0
    for piece, used in _pieces(data):
        size += len(piece)
        if size > max_size:
            message = f"inflates to more than {max_size} bytes"
            raise LimitExceededError(message, declared=size, limit=max_size)
        if max_ratio is not None and size > max(RATIO_COUNTS_FROM, used * max_ratio):
            message = f"inflates to more than {max_ratio} times its size"
            raise LimitExceededError(message, declared=size, limit=used * max_ratio)
        pieces.append(piece)
        yield
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _pieces(data: bytes | memoryview) -> Iterator[tuple[bytes, int]]:
    """What comes out, at most ``STEP`` bytes at a time, and how many bytes went in by then."""
    stream = zlib.decompressobj()
    view = memoryview(data)
    used = 0
    waiting = b""
    try:
        while not stream.eof:
            if not waiting and used < len(view):
                waiting = bytes(view[used : used + INPUT_STEP])
                used += len(waiting)
            piece = stream.decompress(waiting, STEP)
            waiting = stream.unconsumed_tail
            if not piece and not waiting and used == len(view) and not stream.eof:
                raise TruncatedError("the zlib stream has no end", offset=len(data))
            yield piece, used - len(waiting)
    except zlib.error as error:
        raise DecodeError(f"not a zlib stream: {error}", excerpt=bytes(data[:16])) from error


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
