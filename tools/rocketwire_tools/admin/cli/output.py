"""Formats the output of a command as a table, JSON or CSV.

A table is for people: times and sizes are readable, columns are aligned. JSON and CSV are for
programs: they contain the raw values. JSON is one array with one row (an object) per line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.controls import escape_lines
from rocketwire_tools.admin.command import CellType, Column, Incomplete, Record, Table
from rocketwire_tools.jsonlines import unbroken
from rocketwire_tools.terminal import csv_cell, printable
from rocketwire_tools.times import utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.admin.command import Output, Value

FORMS: Final = ("table", "json", "csv")

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SEPARATORS: Final = (",", ":")


def rendered(output: Output, form: str) -> str:
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
        return _pairs(rows) if form == "table" else _csv(columns, rows)
    if form == "json":
        return _json(output) if output.document is None else as_json(output.document) + "\n"
    if form == "csv":
        return _csv(output.typed, output.rows)
    return _table(output.typed, output.rows) + (
        f"{escape_lines(output.footer)}\n" if output.footer else ""
    )


def as_json(value: Value) -> str:
    """Format a value as JSON on one line."""
    text = json.dumps(value, ensure_ascii=False, separators=_SEPARATORS)
    return unbroken(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _json(table: Table) -> str:
    names = [column.name for column in table.typed]
    lines = [as_json(dict(zip(names, row, strict=True))) for row in table.rows]
    return "[" + ",\n ".join(lines) + "]\n"


def _csv(columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    writer.writerows([[_plain(value) for value in row] for row in rows])
    return text.getvalue()


def _plain(value: Value) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return csv_cell(value if isinstance(value, str) else as_json(value))


def _table(columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> str:
    cells = [[column.name for column in columns]]
    cells += [[_shown(v, c.cell_type) for v, c in zip(row, columns, strict=True)] for row in rows]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    to_right = [column.cell_type in (CellType.NUMBER, CellType.BYTES) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines) + "\n"


def _pairs(rows: Sequence[Sequence[Value]]) -> str:
    width = max((len(printable(name)) for name, _ in rows), default=0)
    return "".join(
        f"{printable(name):<{width}}  {_shown(value, CellType.VALUE)}\n" for name, value in rows
    )


def _shown(value: Value, cell_type: CellType) -> str:
    """Format a cell of a table on one line."""
    if value is None or value == "":
        return "-"
    if cell_type is CellType.CHANGE and isinstance(value, Mapping):
        return " -> ".join(_shown(value[side], CellType.VALUE) for side in ("old", "new"))
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
