"""Argument types for numbers; both raise ``argparse.ArgumentTypeError`` if invalid."""

from __future__ import annotations

import argparse

_LONGEST = 18
"""Digits that fit into 64 bits, whatever they are."""


def number_in(text: str | None) -> int | None:
    """A number from 0 that a property of a message holds; None for any other text."""
    is_number = text is not None and text.isascii() and text.isdecimal()
    return int(text) if text is not None and is_number and len(text) <= _LONGEST else None


def positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a positive integer")
    return int(text)


def natural(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: must be 0 or a positive integer")
    return int(text)
