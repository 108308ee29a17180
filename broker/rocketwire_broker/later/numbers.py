"""Numbers in the properties of messages."""

from __future__ import annotations

from typing import Final

INT: Final = 1 << 31
LONG: Final = 1 << 63


def number(text: str | None, limit: int = LONG) -> int | None:
    """Return the number of a text; None if it is none (Java: ``Long.parseLong``).

    Args:
        text: a property.
        limit: the first number that is too large.
    """
    if text is None:
        return None
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return None
    value = int(text)
    return value if -limit <= value < limit else None
