"""Formats the output of a command as a table, JSON or CSV.

A table is for people: times and sizes are readable, columns are aligned. JSON and CSV are for
programs: they contain the raw values. JSON is one array with one row (an object) per line.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from rocketwire.controls import escape_lines
from rocketwire_tools.cli.command import CellType, Column, Incomplete, Record, Table
from rocketwire_tools.terminal import (
    ProgressLine,
    align,
    csv_cell,
    escape_line_breaks,
    is_watched,
    printable,
    text_width,
)
from rocketwire_tools.values import utc

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rocketwire_tools.cli.command import Listing, Output, Value

_LOG: Final = logging.getLogger("rocketwire.admin")

FORMS: Final = ("table", "json", "csv")

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SEPARATORS: Final = (",", ":")
_MEASURED: Final = 100
"""Rows of a listing that set the widths of its columns."""
_WAIT_SECONDS: Final = 1.0
"""Longest time for which the rows of a listing wait for others to set the widths."""


def form_of(args: argparse.Namespace) -> str:
    return getattr(args, "output_form", FORMS[0])


def render(output: Output, form: str) -> str:
    """Format an output in one of ``FORMS``, as text with line ends; empty for None."""
    if isinstance(output, Incomplete):
        output = output.output
    if output is None:
        return ""
    if isinstance(output, str):
        text = as_json(output) if form == "json" else output.rstrip("\n")
        return f"{text}\n"
    if isinstance(output, Record):
        if form == "json":
            return as_json(dict(output.members)) + "\n"
        columns = (Column("name"), Column("value", CellType.VALUE))
        rows: list[Sequence[Value]] = [(name, value) for name, value in output.members.items()]
        return _pairs(rows) if form == "table" else _format(columns, rows, form)
    if form == "json" and output.document is not None:
        return as_json(output.document) + "\n"
    footer = f"{escape_lines(output.footer)}\n" if output.footer and form == "table" else ""
    return _format(output.typed, output.rows, form) + footer


async def print_rows(listing: Listing, form: str) -> Table | None:
    """Print rows as they arrive; returns a table without rows if there are none."""
    writer, count, has_more = RowWriter(listing.head.typed, form), 0, False
    end_of_wait = time.monotonic() + (_WAIT_SECONDS if form == "table" else 0)
    is_shown = is_watched() and not sys.stdout.isatty()
    try:
        with ProgressLine("{:,} messages", is_shown=is_shown) as progress:
            async with aclosing(listing.rows) as rows:
                async for row in rows:
                    has_more = count == listing.limit > 0
                    if has_more:
                        break
                    count += 1
                    writer.add(row)
                    progress.show(count)
                    if count >= _MEASURED or time.monotonic() > end_of_wait:
                        _print(writer.take())
    finally:
        if count:
            _print(writer.take())
    if not count:
        return listing.head
    _print(writer.end())
    if has_more and listing.more is not None:
        _LOG.warning("%s", await listing.more())
    return None


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _format(columns: Sequence[Column], rows: Sequence[Sequence[Value]], form: str) -> str:
    writer = RowWriter(columns, form)
    for row in rows:
        writer.add(row)
    return writer.take() + writer.end()


class RowWriter:
    """Formats rows in one of ``FORMS``; rows of a table set the widths until the first ``take``."""

    def __init__(self, columns: Sequence[Column], form: str) -> None:
        self._columns = columns
        self._form = form
        names = [column.name for column in columns]
        self._cells = [names] if form == "table" else []
        self._widths: list[int] = []
        self._pieces = [_csv_line(names)] if form == "csv" else []
        self._separator = "["

    def add(self, row: Sequence[Value]) -> None:
        if self._form == "json":
            names = (column.name for column in self._columns)
            self._pieces += self._separator, as_json(dict(zip(names, row, strict=True)))
            self._separator = ",\n "
        elif self._form == "csv":
            self._pieces.append(_csv_line([_plain(value) for value in row]))
        else:
            pairs = zip(row, self._columns, strict=True)
            self._cells.append([_format_cell(value, column.cell_type) for value, column in pairs])

    def take(self) -> str:
        self._widths = self._widths or [
            max(map(text_width, cells)) for cells in zip(*self._cells, strict=True)
        ]
        to_right = [
            column.cell_type in (CellType.NUMBER, CellType.BYTES) for column in self._columns
        ]
        lines = align(self._cells, to_right, self._widths)
        text = "".join([*self._pieces, *(f"{line}\n" for line in lines)])
        self._pieces, self._cells = [], []
        return text

    def end(self) -> str:
        if self._form != "json":
            return ""
        return "[]\n" if self._separator == "[" else "]\n"


def as_json(value: Value) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=_SEPARATORS)
    return escape_line_breaks(text.encode("utf-8", "surrogatepass")).decode(
        "utf-8", "surrogatepass"
    )


def _csv_line(cells: Sequence[str | int | float]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _plain(value: Value) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return csv_cell(value if isinstance(value, str) else as_json(value))


def _pairs(rows: Sequence[Sequence[Value]]) -> str:
    cells = [(printable(name), _format_cell(value, CellType.VALUE)) for name, value in rows]
    width = max((text_width(name) for name, _ in cells), default=0)
    return "".join(f"{line}\n" for line in align(cells, (False, False), (width, 0)))


def _format_cell(value: Value, cell_type: CellType) -> str:
    if value is None or value == "":
        return "-"
    if cell_type is CellType.CHANGE and isinstance(value, Mapping):
        return " -> ".join(_format_cell(value[side], CellType.VALUE) for side in ("old", "new"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        if cell_type is CellType.TIME:
            return utc(value)
        if cell_type is CellType.BYTES:
            return _size(value)
        return str(value)
    text = value if isinstance(value, str) else as_json(value)
    return printable(" ".join(text.split("\n")))


def _size(number: float) -> str:
    power = 0
    while abs(number) >= 1024 ** (power + 1) and power + 1 < len(_UNITS):
        power += 1
    return f"{number / 1024**power:.1f} {_UNITS[power]}" if power else f"{number} B"
