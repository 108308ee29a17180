"""Bodies of messages as text for people: bytes of any kind, bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import RocketWireError
from rocketwire.wire.message.body_compression import compression_type, decompress_body

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage

MAX_BODY: Final = 1 << 20
"""Bytes of a decompressed body; a larger one is not shown."""
MAX_HEX: Final = 256
"""Bytes of a body that is no text."""

_COMPRESSED: Final = 1
_SPACES: Final = {"\n", "\r", "\t"}


class Preview(NamedTuple):
    """The beginning of a body.

    Attributes:
        kind: ``text``, ``bytes`` (then the text has hexadecimal digits) or ``unreadable`` (then it
            has the reason).
        text: the beginning.
        is_whole: whether this is everything.
        size: bytes of the body as stored.
    """

    kind: str
    text: str
    is_whole: bool
    size: int


def preview(message: StoredMessage, length: int) -> Preview:
    """Return the beginning of a body, decompressed if it was compressed.

    Args:
        message: with its body as stored.
        length: characters of the text.
    """
    body = message.body or b""
    size = len(body)
    if int(message.sys_flag) & _COMPRESSED:
        try:
            kind = compression_type(int(message.sys_flag))
            body = decompress_body(body, kind, max_size=MAX_BODY)
        except RocketWireError as error:
            return Preview("unreadable", str(error), is_whole=False, size=size)
    # a character has up to four bytes; the last one may be cut
    head = body[: 4 * length]
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if len(head) == len(body) or error.start < len(head) - 3:
            return _hexadecimal(body, length, size)
        text = head[: error.start].decode()
    if not all(letter.isprintable() or letter in _SPACES for letter in text[:length]):
        return _hexadecimal(body, length, size)
    is_whole = len(text) <= length and len(head) == len(body)
    return Preview("text", text[:length], is_whole, size)


def _hexadecimal(body: bytes, length: int, size: int) -> Preview:
    head = body[: min(MAX_HEX, length // 3)]
    return Preview("bytes", head.hex(" "), len(head) == len(body), size)
