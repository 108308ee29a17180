"""The text map of a binary header, written by hand because each request has one.

Tests compare both functions with ``JavaEntries``, which describes how Java reads the map.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import EncodeError
from rocketwire.wire.java_utf8 import decode_slice, decode_utf8, encode_utf8
from rocketwire.wire.layouts.errors import bad_length, too_many_entries, too_short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.errors import DecodeError
    from rocketwire.wire.buffer import Buffer

KEY: Final = struct.Struct(">h")
VALUE: Final = struct.Struct(">l")
"""Lengths before each key and each value."""

_KEY_SIZE: Final = KEY.size
_VALUE_SIZE: Final = VALUE.size


def decode_buffer(data: Buffer) -> str:
    return decode_utf8(bytes(data))


def parse_entries(
    buf: Buffer, start: int, stop: int, end: int, limit: int, path: str
) -> tuple[dict[str, str], int]:
    """Read entries, and return them with the position after the last one.

    The last entry begins before ``stop``; as in Java, it may end after it, but not beyond ``end``.
    """
    entries: dict[str, str] = {}
    # bytes.decode takes half the time of str(), which reads any buffer
    decode: Any = bytes.decode if isinstance(buf, bytes) else decode_slice
    key_length, value_length = KEY.unpack_from, VALUE.unpack_from
    total, room, pos = stop - start, limit, start
    while pos < stop:
        if not room:
            raise too_many_entries(limit, path, pos)
        room -= 1
        key_begin = pos + _KEY_SIZE
        if key_begin > end:
            raise too_short(buf, pos, end, "h", f"{path}.key")
        (size,) = key_length(buf, pos)
        key_end = key_begin + size
        begin = key_end + _VALUE_SIZE
        if size < 0 or size > total or begin > end:
            raise _key_error(buf, key_begin, end, size, total, path)
        (size,) = value_length(buf, key_end)
        pos = begin + size
        if size < 0 or size > total or pos > end:
            raise bad_length(buf, begin, end, size, f"{path}.value")
        try:
            key, value = decode(buf[key_begin:key_end]), decode(buf[begin:pos])
        except UnicodeDecodeError:
            key, value = decode_buffer(buf[key_begin:key_end]), decode_buffer(buf[begin:pos])
        if key and value:
            entries[key] = value
        else:
            entries.pop(key, None)
    return entries, pos


def _key_error(buf: Buffer, begin: int, end: int, size: int, total: int, path: str) -> DecodeError:
    if 0 <= size <= total and begin + size <= end:
        return too_short(buf, begin + size, end, "l", f"{path}.value")
    return bad_length(buf, begin, end, size, f"{path}.key")


def build_entries(fields: Mapping[str, str | None], path: str) -> bytes:
    # a value of None is left out, as in Java
    pieces: list[bytes] = []
    for name, text in fields.items():
        if text is None:
            continue
        key, value = encode_utf8(name), encode_utf8(text)
        try:
            pieces += (KEY.pack(len(key)), key, VALUE.pack(len(value)), value)
        except struct.error as error:
            message = f"a key of {len(key)} and a value of {len(value)} bytes: too long"
            raise EncodeError(message, path=path) from error
    return b"".join(pieces)
