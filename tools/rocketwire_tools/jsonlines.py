"""JSON lines without characters that some readers treat as line ends."""

from __future__ import annotations

from typing import Final

_BREAKS: Final = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "\x85\u2028\u2029"
)


def unbroken(text: bytes) -> bytes:
    """Escape the characters other than line feed at which ``str.splitlines`` splits.

    Args:
        text: JSON in UTF-8; these characters occur in its strings only.
    """
    for character, escaped in _BREAKS:
        text = text.replace(character, escaped)
    return text
