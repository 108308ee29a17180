"""zlib streams (RFC 1950) of compressed registrations and message bodies.

Java inflates without any limit; here the limit is a mandatory argument, checked before memory is
allocated.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError, LimitExceededError, TruncatedError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

BEST_LEVEL: Final = 9  # compression level of Java's registrations (``RegisterBrokerBody.encode``)
STEP: Final = 1 << 18  # maximum bytes of output between two checks of the limits
# Bytes of input at a time; zlib copies the input that a step does not use
INPUT_STEP: Final = 1 << 14
RATIO_COUNTS_FROM: Final = 1 << 20  # least bytes of output for which the ratio is limited

_METHOD_MASK: Final = 0x8F  # the method and the top bit of the window size, which is never set
_DEFLATE_METHOD: Final = 8


def inflate(data: bytes | memoryview, *, max_size: int, max_ratio: int | None = None) -> bytes:
    """Decompress one zlib stream; ignore bytes after its end, as Java does.

    Args:
        data: the stream.
        max_size: most bytes of output.
        max_ratio: most bytes of output for each byte of input read so far, once the output has
            ``RATIO_COUNTS_FROM`` bytes; None for no such limit.

    Raises:
        LimitExceededError: the output exceeds a limit; memory exceeds it by at most ``STEP`` bytes.
        TruncatedError: the stream has no end.
        DecodeError: not a valid zlib stream.
    """
    steps = inflating(data, max_size=max_size, max_ratio=max_ratio)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            output: bytes = end.value
            return output


def inflating(
    data: bytes | memoryview, *, max_size: int, max_ratio: int | None = None
) -> Generator[None, None, bytes]:
    """Decompress as ``inflate`` does, in steps, so that the caller can interleave other work."""
    chunks: list[bytes] = []
    size = 0
    for chunk, used in _decompress(data):
        size += len(chunk)
        if size > max_size:
            message = f"inflates to more than {max_size} bytes"
            raise LimitExceededError(message, declared=size, limit=max_size)
        if max_ratio is not None and size > max(RATIO_COUNTS_FROM, used * max_ratio):
            message = f"inflates to more than {max_ratio} times its size"
            raise LimitExceededError(message, declared=size, limit=used * max_ratio)
        chunks.append(chunk)
        yield
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _decompress(data: bytes | memoryview) -> Iterator[tuple[bytes, int]]:
    # Chunks of at most ``STEP`` bytes, each with the number of input bytes used so far.
    stream = zlib.decompressobj()
    view = memoryview(data)
    read = 0
    tail = b""
    try:
        while not stream.eof:
            if not tail and read < len(view):
                tail = bytes(view[read : read + INPUT_STEP])
                read += len(tail)
            chunk = stream.decompress(tail, STEP)
            tail = stream.unconsumed_tail
            if not chunk and not tail and read == len(view) and not stream.eof:
                raise TruncatedError("the zlib stream has no end", offset=len(data))
            yield chunk, read - len(tail)
    except zlib.error as error:
        raise DecodeError(f"not a zlib stream: {error}", excerpt=bytes(data[:16])) from error


def deflate(data: bytes | memoryview, level: int = BEST_LEVEL) -> bytes:
    return zlib.compress(data, level)


def looks_like_zlib(data: bytes | memoryview) -> bool:
    """Return whether the first two bytes can start a zlib stream; those of JSON cannot.

    Needed because brokers label their compressed registrations ``compressed=false`` (Java:
    ``BrokerOuterAPI.registerBroker``).
    """
    if len(data) < 2 or data[0] & _METHOD_MASK != _DEFLATE_METHOD:
        return False
    return (data[0] << 8 | data[1]) % 31 == 0
