"""What a generated builder calls: the errors that it raises, and the one part that is a loop."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, cast

from rocketwire.errors import EncodeError
from rocketwire.wire.java_utf8 import encode_utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Letters = tuple[tuple[str, str], ...]
"""Path and format letter of each field of a run."""

LETTER_24: Final = "I"  # no layout has an unsigned field of four bytes; the message says 24


def _fits(letter: str, value: object) -> bool:
    try:
        struct.pack(f">{letter}", value)
    except struct.error:
        return False
    return letter != LETTER_24 or cast("int", value) < 1 << 24


def unfit(letters: Letters, *values: object) -> EncodeError:
    """The first value that does not fit its field."""
    fields = zip(letters, values, strict=True)
    path, letter, value = next((p, le, v) for (p, le), v in fields if not _fits(le, v))
    bits = 24 if letter == LETTER_24 else 8 * struct.calcsize(f">{letter}")
    kind = "a signed" if letter.islower() else "an unsigned"
    return EncodeError(f"{value!r} does not fit {kind} field of {bits} bits", path=path or None)


def wrong_size(path: str, size: int, wanted: int) -> EncodeError:
    """Bytes of another length than the layout wants."""
    return EncodeError(f"{size} bytes where {wanted} are wanted", path=path)


def impossible(path: str) -> EncodeError:
    """Values that the layout does not allow."""
    return EncodeError("a value that cannot be", path=path)


def build_entries(
    fields: Mapping[str, str | None] | None,
    pack_key: Callable[[int], bytes],
    pack_value: Callable[[int], bytes],
    path: str,
) -> bytes:
    """Keys and values with their lengths; a value of None is left out, as in Java."""
    pieces: list[bytes] = []
    for key, value in (fields or {}).items():
        if value is None:
            continue
        left, right = encode_utf8(key), encode_utf8(value)
        try:
            pieces += (pack_key(len(left)), left, pack_value(len(right)), right)
        except struct.error as error:
            message = f"a key of {len(left)} and a value of {len(right)} bytes: too long"
            raise EncodeError(message, path=path) from error
    return b"".join(pieces)
