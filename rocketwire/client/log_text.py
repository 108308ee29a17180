"""Texts that anybody can send, as they stand in a log: one line, of a bounded length.

Rules of this file: a sender chooses the id, the tags and the keys of a message, with line breaks and terminal controls in
them; what a log shows of them goes through here.
"""

from __future__ import annotations

from typing import Final

LONGEST: Final = 128
"""Characters of a text that a log shows; an id that a client makes has at most 48."""

_CONTROLS: Final = {
    code: f"\\u{code:04x}"
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F))
}


def log_text(text: str) -> str:
    """The text with control characters as escapes, cut to ``LONGEST`` characters."""
    if text.isprintable() and len(text) <= LONGEST:
        return text
    more = f"... ({len(text)} characters)" if len(text) > LONGEST else ""
    return text[:LONGEST].translate(_CONTROLS) + more
