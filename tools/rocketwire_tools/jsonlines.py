"""Lines of JSON that every reader splits at the same places."""

from __future__ import annotations

from typing import Final

_BREAKS: Final = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "\x85\u2028\u2029"
)


def unbroken(text: bytes) -> bytes:
    """The same JSON without the characters, beside the line feed, at which readers may end a line (``str.splitlines``).

    Args:
        text: JSON in UTF-8, in which these characters can stand in texts alone.
    """
    for character, escaped in _BREAKS:
        text = text.replace(character, escaped)
    return text
