"""UTF-8 as Java reads and writes it: damaged text is replaced, never refused.

Rules of this file: valid text is the same in both languages.  For damaged bytes Java (``new
String(bytes, UTF_8)``) and Python's ``replace`` agree except for one family: the three-byte form of
a lone surrogate (``ED A0..BF xx``), cut short or not, is one U+FFFD in Java and one for each byte
in Python.
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
    # Python loads a codec when it is first used: now, not when a peer has sent what needs it
    "".encode(_codec)


def decode_utf8(data: bytes) -> str:
    """Text of ``data``; each damaged place becomes U+FFFD as often as in Java."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return decode_damaged(data)


def decode_damaged(data: bytes) -> str:
    """The same of what is known to be damaged."""
    return re.sub(_SURROGATE, _REPLACEMENT, data).decode("utf-8", "replace")


def decode_slice(data: Buffer) -> str:
    """Text of any buffer.

    Raises:
        UnicodeDecodeError: damaged.
    """
    return str(data, "utf-8")


def encode_utf8(text: str) -> bytes:
    """Bytes of ``text``; a lone surrogate becomes ``?`` (Java: ``String.getBytes(UTF_8)``)."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return re.sub(_PAIR, _joined, text).encode("utf-8", "replace")


def _joined(match: re.Match[str]) -> str:
    """The one character that two halves stand for; JSON escapes can bring the halves singly."""
    return match[0].encode("utf-16-be", "surrogatepass").decode("utf-16-be")
