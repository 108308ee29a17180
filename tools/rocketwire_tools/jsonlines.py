"""JSON lines without characters that some readers treat as line ends, or that change a terminal."""

from __future__ import annotations

import re
from typing import Final

_ESCAPED: Final = re.compile(
    b"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
)
"""In UTF-8: DEL and C1 controls, line separators, marks that turn the direction of writing."""

_FIRST_BYTES: Final = (b"\x7f", b"\xc2", b"\xe2")


def escape_line_breaks(text: bytes) -> bytes:
    """Escape characters at which ``str.splitlines`` splits, and those that change a terminal.

    Args:
        text: JSON in UTF-8; these characters occur in its strings only.
    """
    if not any(byte in text for byte in _FIRST_BYTES):
        return text
    return _ESCAPED.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), text)
