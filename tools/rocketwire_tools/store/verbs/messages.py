"""``messages``: the messages of a store, as a table or as JSON lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames, parse_columns
from rocketwire_tools.store.formats.json_rows import JsonRows, body_texts
from rocketwire_tools.store.output import time_text, write_table
from rocketwire_tools.store.selecting import SelectedLogs, select_rows, selection_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import LogScan

TABLE_COLUMNS: Final = (
    "commit_log_offset",
    "topic",
    "queue_id",
    "queue_offset",
    "store_timestamp",
    "tags",
    "keys",
    "msg_id",
    "body_length",
    "kind",
    "state",
)
JSON_COLUMNS: Final = tuple(name for name in COLUMNS if name != "body")
_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once for JSON: lines of small messages take several times as
much."""
_LINES: Final = 1000  # lines that are written at once; a table takes its widths of them


def run(arguments: argparse.Namespace) -> int:
    logs = SelectedLogs(arguments)
    if arguments.limit is None:
        reading = logs.read(encode)
    else:
        rows = _limit(_rows(logs.scans, arguments), arguments.limit)
        reading = logs.require(_encode(arguments, rows))
    with reading as pieces:
        if arguments.json:
            for lines in pieces:
                sys.stdout.buffer.write(lines)
        else:
            _write_tables(pieces, _columns(arguments))
    if logs.is_damaged:
        print("some bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 0 if logs.are_whole else 1


def encode(arguments: argparse.Namespace, scan: LogScan) -> Iterator[Any]:
    return _encode(arguments, _rows([scan], arguments))


def _encode(arguments: argparse.Namespace, parts: Iterable[Rows]) -> Generator[Any]:
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
        yield from select_rows(scan, selection, topics, is_folded=arguments.folded)


def _limit(parts: Iterable[Rows], limit: int) -> Iterator[Rows]:
    for rows in parts:
        if len(rows) >= limit:
            yield rows.pick(np.arange(limit))
            return
        yield rows
        limit -= len(rows)


def _columns(arguments: argparse.Namespace) -> list[str]:
    names = parse_columns(arguments.columns, JSON_COLUMNS if arguments.json else TABLE_COLUMNS)
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
