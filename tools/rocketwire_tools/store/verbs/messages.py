"""``messages``: the messages of a store, as a table or as JSON lines."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames
from rocketwire_tools.store.formats.json_rows import JsonRows, body_texts
from rocketwire_tools.store.jobs import results
from rocketwire_tools.store.opened import are_whole, open_stores, scans_of
from rocketwire_tools.store.output import time_text, write_table
from rocketwire_tools.store.selecting import (
    describe_absence,
    require_messages,
    selected_rows,
    selection_of,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterable, Iterator, Sequence

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
_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once for JSON: lines of small messages take several times as
much."""
_LINES: Final = 1000
"""Lines that are written at once; a table takes its widths of them."""


def run(arguments: argparse.Namespace) -> int:
    """List messages."""
    stores = open_stores(arguments.paths)
    absence = describe_absence(stores, arguments)
    scans = scans_of(stores)
    if arguments.limit is not None:
        pieces = _encoded(arguments, _limited(_rows(scans, arguments), arguments.limit))
    else:
        pieces = results(arguments, scans, encode)
    with closing(require_messages(pieces, absence)) as pieces:
        if arguments.json:
            for lines in pieces:
                sys.stdout.buffer.write(lines)
        else:
            _write_tables(pieces, _columns(arguments))
    is_damaged = any(scan.is_damaged for scan in scans)
    if is_damaged:
        print("some bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 0 if are_whole(stores) and not is_damaged else 1


def encode(arguments: argparse.Namespace, scan: LogScan) -> Iterator[Any]:
    """The messages of a log: as lines of JSON, or as lists of cells."""
    return _encoded(arguments, _rows([scan], arguments))


def _encoded(arguments: argparse.Namespace, parts: Iterable[Rows]) -> Generator[Any]:
    names = _columns(arguments)
    form = "text" if arguments.body == "none" else arguments.body
    encoder = JsonRows(names, form)
    for rows in parts:
        if arguments.json:
            yield encoder.encode(rows)
        else:
            yield list(_values(rows, names, form))


def _rows(scans: Iterable[LogScan], arguments: argparse.Namespace) -> Iterator[Rows]:
    selection, topics = selection_of(arguments), TopicNames()
    for scan in scans:
        if arguments.json:
            scan.block_size = _BLOCK_SIZE
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
    columns: list[list[Any]] = []
    for name in names:
        values = rows.column(name)
        if name == "body":
            values = body_texts(values, form)
        columns.append(values.tolist() if isinstance(values, np.ndarray) else values)
    for row in zip(*columns, strict=True):
        yield list(row)


def _write_tables(pieces: Iterable[list[list[Any]]], names: Sequence[str]) -> None:
    lines: list[list[Any]] = []
    is_first = True
    for piece in pieces:
        lines += piece
        if len(lines) >= _LINES:
            _write_table(names, lines)
            lines, is_first = [], False
    if lines or is_first:
        _write_table(names, lines)


def _write_table(names: Sequence[str], rows: list[list[Any]]) -> None:
    times = [column for column, name in enumerate(names) if name.endswith("_timestamp")]
    keys = [column for column, name in enumerate(names) if name == "keys"]
    for row in rows:
        for column in times:
            row[column] = time_text(row[column])
        for column in keys:
            row[column] = " ".join(row[column] or ())
    write_table(names, rows)
