"""Texts of others on a terminal, and in CSV."""

from __future__ import annotations

import logging
import re
import sys
from typing import Final

from rocketwire.controls import escape_controls


def printable(text: object) -> str:
    """A text without characters that would change a terminal, or that no terminal can show."""
    return "" if text is None else escape_controls(str(text))


def printable_lines(text: object) -> str:
    """A text of several lines as ``printable``; only line breaks stay."""
    return "\n".join(map(printable, str(text).split("\n")))


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


def log_to_stderr(program: str, *, is_verbose: bool) -> None:
    """Log to standard error, warnings or all; texts of others cannot change a terminal."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(f"{program}: %(message)s"))
    logging.basicConfig(level=logging.INFO if is_verbose else logging.WARNING, handlers=[handler])


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
