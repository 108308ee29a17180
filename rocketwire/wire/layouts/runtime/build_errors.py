"""Errors of generated builders; the builder raises what a function here returns."""

from __future__ import annotations

import struct
from typing import Final, cast

from rocketwire.errors import EncodeError

LETTER_24: Final = "I"
"""Letter of an unsigned integer of three bytes, which ``struct`` lacks; no layout uses ``I``."""


def _fits(letter: str, value: object) -> bool:
    try:
        struct.pack(f">{letter}", value)
    except struct.error:
        return False
    return letter != LETTER_24 or cast("int", value) < 1 << 24


def unfit(fields: tuple[tuple[str, str], ...], *values: object) -> EncodeError:
    """The first value that does not fit its field; ``fields`` are paths and format letters."""
    pairs = zip(fields, values, strict=True)
    path, letter, value = next((p, le, v) for (p, le), v in pairs if not _fits(le, v))
    bits = 24 if letter == LETTER_24 else 8 * struct.calcsize(f">{letter}")
    sign = "a signed" if letter.islower() else "an unsigned"
    return EncodeError(f"{value!r} does not fit {sign} field of {bits} bits", path=path or None)


def wrong_size(path: str, size: int, expected: int) -> EncodeError:
    """Bytes of an invalid length."""
    return EncodeError(f"expected {expected} bytes, got {size}", path=path)


def invalid(path: str) -> EncodeError:
    """A value that the layout does not allow."""
    return EncodeError("invalid value", path=path)
