"""Texts of others on a terminal, and in CSV."""

from __future__ import annotations

import re
import sys
from typing import Final

from rocketwire.controls import escape_controls


def printable(text: object) -> str:
    """A text without characters that would change a terminal, or that no terminal can show."""
    return "" if text is None else escape_controls(str(text))


_FORMULA: Final = re.compile(r"[=+\-@](?![0-9.]+\Z)")
"""Begin of a text that a spreadsheet computes, but not a number with a sign."""

CSV_HELP: Final = (
    "In CSV, control characters are escaped, and ' stands before a text that a spreadsheet would"
    " read as a formula."
)


def csv_cell(text: str) -> str:
    """A text as a cell of CSV that neither changes a terminal nor is a formula."""
    text = printable(text)
    return f"'{text}" if _FORMULA.match(text) else text


def print_error(text: object) -> None:
    """Write a line to standard error; what others wrote in it cannot change a terminal."""
    print(printable(text), file=sys.stderr)
