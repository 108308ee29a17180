"""Argument types for numbers; both raise ``argparse.ArgumentTypeError`` if invalid."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Read a positive integer."""
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a positive integer")
    return int(text)


def natural(text: str) -> int:
    """Read an integer from 0."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: must be 0 or a positive integer")
    return int(text)
