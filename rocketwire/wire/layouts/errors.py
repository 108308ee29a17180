"""The errors of parsers and builders, which raise what a function here returns."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, cast

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer

LETTER_24: Final = "I"
"""Letter of an unsigned integer of three bytes, which ``struct`` lacks; no layout uses ``I``."""


def _excerpt(buf: Buffer, pos: int, end: int) -> bytes:
    return bytes(buf[pos : min(end, pos + 16)])


def _size(letter: str) -> int:
    return 3 if letter == LETTER_24 else struct.calcsize(f">{letter}")


def too_short(buf: Buffer, pos: int, end: int, letters: str, paths: str) -> TruncatedError:
    remaining, needed, path = max(end - pos, 0), 0, ""
    for letter, field in zip(letters, paths.split(" "), strict=True):
        if needed <= remaining:
            path = field
        needed += _size(letter)
    message = f"{needed} bytes needed, {remaining} left"
    return TruncatedError(message, path=path or None, offset=pos, excerpt=_excerpt(buf, pos, end))


def bad_length(buf: Buffer, pos: int, end: int, length: int, path: str) -> DecodeError:
    excerpt = _excerpt(buf, pos, end)
    if length < 0:
        return DecodeError(f"a length of {length}", path=path or None, offset=pos, excerpt=excerpt)
    message = f"a length of {length}, {end - pos} bytes left"
    return TruncatedError(message, path=path or None, offset=pos, excerpt=excerpt)


def bad_count(
    count: int, remaining: int, size: int, path: str, pos: int | None = None
) -> LimitExceededError:
    message = f"a count of {count} of at least {size} bytes each, {remaining} bytes left"
    return LimitExceededError(
        message, declared=count, limit=remaining // size, path=path or None, offset=pos
    )


def too_many_entries(limit: int, path: str, pos: int | None = None) -> LimitExceededError:
    message = f"more than {limit} entries"
    return LimitExceededError(
        message, declared=limit + 1, limit=limit, path=path or None, offset=pos
    )


def invalid(buf: Buffer, pos: int, end: int, path: str) -> DecodeError:
    return DecodeError("invalid value", path=path, offset=pos, excerpt=_excerpt(buf, pos, end))


def bytes_left(buf: Buffer, pos: int, end: int, path: str) -> DecodeError:
    message = f"{end - pos} bytes left over"
    return DecodeError(message, path=path or None, offset=pos, excerpt=_excerpt(buf, pos, end))


def out_of_range(letters: str, paths: str, *values: object) -> EncodeError:
    fields = zip(letters, paths.split(" "), values, strict=True)
    letter, path, value = next(field for field in fields if not _fits(field[0], field[2]))
    sign = "a signed" if letter.islower() else "an unsigned"
    message = f"{value!r} does not fit {sign} field of {8 * _size(letter)} bits"
    return EncodeError(message, path=path or None)


def _fits(letter: str, value: object) -> bool:
    try:
        struct.pack(f">{letter}", value)
    except struct.error:
        return False
    return letter != LETTER_24 or cast("int", value) < 1 << 24


def bad_size(path: str, size: int, expected: int) -> EncodeError:
    return EncodeError(f"expected {expected} bytes, got {size}", path=path)


def bad_value(path: str) -> EncodeError:
    return EncodeError("invalid value", path=path)
