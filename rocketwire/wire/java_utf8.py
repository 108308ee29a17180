"""UTF-8 as Java reads and writes it: invalid bytes are replaced, never rejected.

Java (``new String(bytes, UTF_8)``) and Python's ``replace`` agree, with one exception: the
three-byte form of a lone surrogate (``ED A0..BF xx``), complete or truncated, is one U+FFFD in Java
and one for each byte in Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer

_SURROGATE = rb"\xed[\xa0-\xbf][\x80-\xbf]?"
_REPLACEMENT = "\ufffd".encode()
_PAIR = "[\ud800-\udbff][\udc00-\udfff]"

for _codec in ("utf-16-be", "utf-16-le"):
    # load the codec now: Python would load it at its first use, while a peer waits
    "".encode(_codec)


def decode_utf8(data: bytes) -> str:
    """Decode text; invalid bytes become U+FFFD as often as in Java."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return decode_damaged(data)


def decode_damaged(data: bytes) -> str:
    return re.sub(_SURROGATE, _REPLACEMENT, data).decode("utf-8", "replace")


def decode_slice(data: Buffer) -> str:
    return str(data, "utf-8")


def encode_utf8(text: str) -> bytes:
    """Encode text; a lone surrogate becomes ``?`` (Java: ``String.getBytes(UTF_8)``)."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return re.sub(_PAIR, _join_surrogates, text).encode("utf-8", "replace")


def _join_surrogates(match: re.Match[str]) -> str:
    # The halves of a pair can come separately from JSON escapes.
    return match[0].encode("utf-16-be", "surrogatepass").decode("utf-16-be")
