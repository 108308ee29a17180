"""Texts of others on a terminal."""

from __future__ import annotations

import sys

from rocketwire.controls import escape_controls


def printable(text: object) -> str:
    """A text without characters that would change a terminal, or that no terminal can show."""
    return "" if text is None else escape_controls(str(text))


def print_error(text: object) -> None:
    """Write a line to standard error; what others wrote in it cannot change a terminal."""
    print(printable(text), file=sys.stderr)
