"""``messages``: the messages of a store, as a table or as JSON lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.rows import COLUMNS, parse_columns
from rocketwire_tools.store.output import JsonRows, body_texts, time_text, write_table
from rocketwire_tools.store.selecting import SelectedLogs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.store.engine.rows import Rows

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
    logs, names = SelectedLogs(arguments), _columns(arguments)
    form = "text" if arguments.body == "none" else arguments.body
    block_size = _BLOCK_SIZE if arguments.json else BLOCK_SIZE
    parts = logs.rows(is_folded=arguments.folded, block_size=block_size)
    if arguments.limit is not None:
        parts = _limit(parts, arguments.limit)
    if arguments.json:
        encoder = JsonRows(names, form)
        for rows in parts:
            sys.stdout.buffer.write(encoder.encode(rows))
    else:
        _write_tables((list(_values(rows, names, form)) for rows in parts), names)
    if logs.is_damaged:
        print("some bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 0 if logs.are_whole else 1


def _limit(parts: Iterable[Rows], limit: int) -> Iterator[Rows]:
    for rows in parts:
        if len(rows) >= limit:
            yield rows.choose(np.arange(limit))
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
