"""Writes rows as text for people, JSON lines, CSV and Parquet.

All formats have the same columns in the same order. A missing value is null, in CSV an empty field,
in text a dash.
"""

from __future__ import annotations

import base64
import datetime
import importlib
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from rocketwire_tools.pcap.arrow import column, encode, pa, parquet_writer, take
from rocketwire_tools.pcap.rows.json_rows import JsonRows
from rocketwire_tools.terminal import csv_cell, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from rocketwire_tools.pcap.arrow import Batch, Column, Schema

FORMATS: Final = ("text", "jsonl", "csv", "parquet")
_SUFFIXES: Final = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".txt": "text",
}

_OBJECTS: Final = 4096  # Rows that are objects at the same time


class Sink(Protocol):
    def write(self, batch: Batch) -> None:
        """Write a batch."""

    def close(self) -> None:
        """Finish the output."""


class FormatError(ValueError):
    """The suffix of a file name is not a known format."""


def format_of(path: str | None) -> str | None:
    """The format for a file name's suffix; None for a name without suffix."""
    suffix = "" if path is None else Path(path).suffix.lower()
    if suffix and suffix not in _SUFFIXES:
        suffixes = ", ".join(_SUFFIXES)
        raise FormatError(
            f"{path}: no format is called {suffix}; there are {suffixes}, or choose one by --format"
        )
    return _SUFFIXES.get(suffix)


@contextmanager
def open_sink(path: str | None, form: str, schema: Schema) -> Generator[Sink]:
    if path is None:
        sink = _SINKS[form](sys.stdout.buffer, schema)
        yield sink
        sink.close()
        return
    with Path(path).open("wb") as file:
        sink = _SINKS[form](file, schema)
        try:
            yield sink
        finally:
            sink.close()


def _pieces(batch: Batch) -> Iterator[Batch]:
    # Split a batch, to limit the rows that become objects at once
    for start in range(0, batch.num_rows, _OBJECTS):
        yield batch.slice(start, _OBJECTS)


class JsonLines:
    def __init__(self, file: IO[bytes], schema: Schema) -> None:
        self._file = file
        self._rows = JsonRows(schema)

    def write(self, batch: Batch) -> None:
        for lines in self._rows.lines(batch):
            self._file.write(lines)

    def close(self) -> None:
        self._file.flush()


class Csv:
    """Comma-separated values with a header line; bytes are in base64, as in JSON lines."""

    def __init__(self, file: IO[bytes], schema: Schema) -> None:
        csv: Any = importlib.import_module("pyarrow.csv")
        self._file = file
        self._schema = pa.schema(
            [
                (name, pa.string() if _is_text(kind) else kind)
                for name, kind in zip(schema.names, schema.types, strict=True)
            ]
        )
        self._writer = csv.CSVWriter(file, self._schema)

    def write(self, batch: Batch) -> None:
        columns = [_cells(batch.column(name)) for name in batch.schema.names]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()
        if not self._file.closed:
            self._file.flush()


def _is_text(kind: object) -> bool:
    return kind in (pa.string(), pa.binary())


def _cells(values: Column) -> Column:
    # A column of CSV; texts of others neither change a terminal nor are formulas
    if not _is_text(values.type):
        return values
    distinct, numbers = encode(values)
    texts = [
        base64.b64encode(value).decode() if isinstance(value, bytes) else value and csv_cell(value)
        for value in distinct.to_pylist()
    ]
    return take(column(texts, pa.string()), numbers)


class Parquet:
    def __init__(self, file: IO[bytes], schema: Schema) -> None:
        repeating = [name for name in schema.names if name not in _DISTINCT]
        bounded = [name for name in schema.names if name not in _WITHOUT_BOUNDS]
        self._writer = parquet_writer(
            file, schema, compression="zstd", use_dictionary=repeating, write_statistics=bounded
        )
        self._batches: list[Batch] = []
        self._rows = 0

    def write(self, batch: Batch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        if self._rows >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._batches:
            table = pa.Table.from_batches(self._batches)
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._batches, self._rows = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()


_GROUP: Final = 65_536  # Least rows of a row group of Parquet
_DISTINCT: Final = frozenset(
    {"time_ns", "end_time_ns", "opaque", "latency_ns", "frame_length", "body_length", "ext_fields",
     "body", "header_ok", "body_ok", "gap"}
)  # fmt: skip
"""Columns that a dictionary would not make smaller."""
_WITHOUT_BOUNDS: Final = frozenset(
    {
        "connection",
        "src",
        "dst",
        "kind",
        "code_name",
        "language",
        "topic",
        "group",
        "serialize_type",
    }
)
"""Columns without minimum and maximum in each row group. Rows are in the order of time, so each
group has nearly all of these texts, and no reader could skip one. To compare them takes longer
than much of the writing."""


class Text:
    """Lines for people: time, sender and receiver, kind and code, then all other columns with a
    value."""

    def __init__(self, file: IO[bytes], schema: Schema) -> None:
        self._file = file
        self._names = [name for name in schema.names if name not in _IN_FRONT]
        self._front = [name for name in _IN_FRONT if name in schema.names]

    def write(self, batch: Batch) -> None:
        for part in _pieces(batch):
            lines = [self._line(row) for row in part.to_pylist()]
            self._file.write("".join(lines).encode(errors="backslashreplace"))

    def _line(self, row: dict[str, Any]) -> str:
        words = [_FRONT_FORMS.get(name, plain)(row[name]) for name in self._front]
        if "src" in row and "dst" in row:
            words.append(f"{_end(row, 'src')} > {_end(row, 'dst')}")
        if "kind" in row:
            words.append(row["kind"] or "unreadable")
        if "code" in row or "code_name" in row:
            words.append(_code(row))
        words += [
            f"{_NAMES.get(name, name)}={_FORMS.get(name, plain)(row[name])}"
            for name in self._names
            if name not in _IN_WORDS and row[name] is not None and row[name] != _USUAL.get(name)
        ]
        return " ".join(words) + "\n"

    def close(self) -> None:
        self._file.flush()


def _end(row: dict[str, Any], which: str) -> str:
    host = row[which]
    port = row.get(f"{which}_port")
    if port is None:
        return str(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _code(row: dict[str, Any]) -> str:
    name, number = row.get("code_name"), row.get("code")
    if name is None:
        return "-" if number is None else str(number)
    return str(name) if number is None else f"{name}({number})"


def clock(time_ns: int) -> str:
    seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"


def _milliseconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.3f}ms"


def plain(value: object) -> str:
    """A value as one word."""
    if value is None:
        return "-"
    text = str(value)
    return printable(repr(text) if not text.isprintable() or " " in text or not text else text)


TERSE: Final = (
    "time_ns", "src", "src_port", "dst", "dst_port", "kind", "code", "code_name", "request_code",
    "opaque", "topic", "group", "queue_id", "remark", "frame_length", "latency_ns", "header_ok",
    "body_ok", "gap",
)  # fmt: skip
"""Default columns of the text format."""
_IN_FRONT: Final = ("time_ns",)
_FRONT_FORMS: Final[dict[str, Callable[[Any], str]]] = {"time_ns": clock}
_IN_WORDS: Final = frozenset({"src", "src_port", "dst", "dst_port", "kind", "code", "code_name"})
_FORMS: Final[dict[str, Callable[[Any], str]]] = {
    "latency_ns": _milliseconds,
    "end_time_ns": clock,
}
_NAMES: Final = {name: name.removesuffix("_ns") for name in _FORMS}
"""Names of columns that are not written in nanoseconds."""
_USUAL: Final = {"header_ok": True, "body_ok": True, "gap": False}
"""Default values, which are omitted."""
_SINKS: Final[dict[str, Callable[[IO[bytes], Schema], Sink]]] = {
    "text": Text,
    "jsonl": JsonLines,
    "csv": Csv,
    "parquet": Parquet,
}
