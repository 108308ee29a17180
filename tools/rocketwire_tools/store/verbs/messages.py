"""``messages``: the messages of a store, as a table or as JSON lines."""

from __future__ import annotations

import base64
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.output import json_line, time_text, write_table
from rocketwire_tools.store.selecting import selected_rows, selection_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import LogScan

TABLE_COLUMNS: Final = (
    "physical_offset",
    "topic",
    "queue_id",
    "queue_offset",
    "store_timestamp",
    "tags",
    "keys",
    "uniq_key",
    "body_length",
    "kind",
    "state",
)
JSON_COLUMNS: Final = tuple(name for name in COLUMNS if name != "body")
_LINES: Final = 1000
"""Lines that are written at once; a table takes its widths of them."""


def run(arguments: argparse.Namespace) -> int:
    """List messages."""
    store = OpenedStore(arguments.paths)
    names = _columns(arguments)
    write = _write_json if arguments.json else _write_table
    lines: list[list[Any]] = []
    scans = store.compaction_scans() if arguments.compacted else store.scans()
    for rows in _limited(_rows(scans, arguments), arguments.limit):
        lines += _values(rows, names, arguments.body)
        if len(lines) >= _LINES:
            write(names, lines)
            lines = []
    if lines or not arguments.json:
        write(names, lines)
    is_damaged = any(region.is_damage for scan in scans for region in scan.regions)
    if is_damaged:
        print("some bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 1 if is_damaged else 0


def _rows(scans: Iterable[LogScan], arguments: argparse.Namespace) -> Iterator[Rows]:
    selection, topics = selection_of(arguments), TopicNames()
    for scan in scans:
        yield from selected_rows(scan, selection, topics, is_folded=arguments.folded)


def _limited(parts: Iterator[Rows], limit: int | None) -> Iterator[Rows]:
    """The rows of ``parts`` up to a number of them."""
    for rows in parts:
        if limit is not None and len(rows) >= limit:
            yield rows.picked(np.arange(limit))
            return
        yield rows
        if limit is not None:
            limit -= len(rows)


def _columns(arguments: argparse.Namespace) -> list[str]:
    if arguments.columns:
        names = [name.strip() for name in arguments.columns.split(",")]
        for name in names:
            if name not in COLUMNS:
                raise ValueError(f"no column {name!r}; there are {', '.join(COLUMNS)}")
    else:
        names = list(JSON_COLUMNS if arguments.json else TABLE_COLUMNS)
    if arguments.body != "none" and "body" not in names:
        names.append("body")
    return names


def _values(rows: Rows, names: Sequence[str], form: str) -> Iterator[list[Any]]:
    columns = []
    for name in names:
        values = rows.column(name)
        if name == "body":
            values = [_body(body, form) for body in values]
        columns.append(values.tolist() if isinstance(values, np.ndarray) else values)
    for row in zip(*columns, strict=True):
        yield list(row)


def _body(body: bytes | None, form: str) -> str | None:
    if body is None:
        return None
    if form == "hex":
        return body.hex()
    if form == "base64":
        return base64.b64encode(body).decode()
    return body.decode("utf-8", "replace")


def _write_json(names: Sequence[str], rows: list[list[Any]]) -> None:
    lines = [json_line(dict(zip(names, row, strict=True))) for row in rows]
    sys.stdout.buffer.write(b"".join(lines))


def _write_table(names: Sequence[str], rows: list[list[Any]]) -> None:
    times = [column for column, name in enumerate(names) if name.endswith("_timestamp")]
    keys = [column for column, name in enumerate(names) if name == "keys"]
    for row in rows:
        for column in times:
            row[column] = time_text(row[column])
        for column in keys:
            row[column] = " ".join(row[column] or ())
    write_table(names, rows)
