"""What logs, terminals, tables and errors must not show as it is: controls and secrets."""

from __future__ import annotations

import re
from typing import Final

# Controls, line separators, marks that turn the direction of writing, halves of characters, which
# JSON can have, and bytes of file names that are no UTF-8 (``os.fsdecode`` makes such halves of
# them).
_ESCAPES: Final = (
    {code: f"\\x{code:02x}" for code in (*range(32), *range(0x7F, 0xA0))}
    | {
        code: f"\\u{code:04x}"
        for code in (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    }
    | {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}
    | {code: f"\\x{code - 0xDC00:02x}" for code in range(0xDC80, 0xDD00)}
)


def escape_controls(text: str) -> str:
    return text if text.isprintable() else text.translate(_ESCAPES)


def escape_lines(text: str) -> str:
    """Escape the controls of a text of several lines; only line breaks stay."""
    return "\n".join(map(escape_controls, text.split("\n")))


_SECRET: Final = re.compile("password|passwd|secret|access_?key|credential|token", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    return _SECRET.search(name) is not None


MAX_LENGTH: Final = 128  # maximum characters of a text in the log; an id of a client has at most 48


def log_text(text: str) -> str:
    if text.isprintable() and len(text) <= MAX_LENGTH:
        return text
    suffix = f"... ({len(text)} characters)" if len(text) > MAX_LENGTH else ""
    return escape_controls(text[:MAX_LENGTH]) + suffix
