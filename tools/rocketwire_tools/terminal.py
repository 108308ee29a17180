"""Texts of others on a terminal, in CSV and in JSON lines, and lines of progress."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Final, Self

from rocketwire.controls import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def printable(text: object) -> str:
    return "" if text is None else escape_controls(str(text))


_FORMULA: Final = re.compile(r"[=+\-@](?![0-9.]+\Z)")
"""Begin of a text that a spreadsheet computes, but not a number with a sign."""

CSV_HELP: Final = (
    "In CSV, control characters are escaped, and ' stands before a text that a spreadsheet would"
    " read as a formula."
)


def csv_cell(text: str) -> str:
    text = printable(text)
    return f"'{text}" if _FORMULA.match(text) else text


def text_width(text: str) -> int:
    """Columns that a text takes on a terminal; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def align(
    rows: Iterable[Sequence[str]], to_right: Sequence[bool], widths: Sequence[int]
) -> Iterator[str]:
    """Yield a line for each row, its cells two spaces apart, with these least widths."""
    for row in rows:
        line = ""
        for text, width, is_right in zip(row, widths, to_right, strict=True):
            blanks = " " * (width - text_width(text))
            line += f"{blanks}{text}  " if is_right else f"{text}{blanks}  "
        yield line.rstrip()


def print_error(text: object) -> None:
    """Write a line to standard error; what others wrote in it cannot change a terminal."""
    print(printable(text), file=sys.stderr)


INTERVAL: Final = 0.5
"""Seconds between two lines of progress."""


def is_watched() -> bool:
    return sys.stderr.isatty()


class ProgressLine:
    """Shows numbers in a line on standard error, by default if it is a terminal."""

    def __init__(self, text: str, *, is_shown: bool | None = None) -> None:
        self._text = text
        self._is_shown = is_watched() if is_shown is None else is_shown
        self._shown = time.monotonic()
        self._is_written = False

    def show(self, *numbers: float) -> None:
        now = time.monotonic()
        if self._is_shown and now - self._shown >= INTERVAL:
            self._shown, self._is_written = now, True
            sys.stderr.write(f"\r{self._text.format(*numbers)} \x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


_ESCAPED: Final = re.compile(
    b"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
)
"""In UTF-8: DEL and C1 controls, line separators, marks that turn the direction of writing."""

_FIRST_BYTES: Final = (b"\x7f", b"\xc2", b"\xe2")


def escape_line_breaks(text: bytes) -> bytes:
    """Escape characters of JSON that end a line for ``str.splitlines``, or change a terminal."""
    if not any(byte in text for byte in _FIRST_BYTES):
        return text
    return _ESCAPED.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), text)
