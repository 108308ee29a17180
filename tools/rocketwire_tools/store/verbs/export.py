"""``export``: messages as JSON lines, Parquet or Arrow."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np

from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames
from rocketwire_tools.store.formats.json_rows import JsonRows
from rocketwire_tools.store.jobs import results, written
from rocketwire_tools.store.opened import are_whole, open_stores, scans_of
from rocketwire_tools.store.output import json_line
from rocketwire_tools.store.queued.scans import scans_of_topics
from rocketwire_tools.store.selecting import selected_rows, selection_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterator, Sequence

    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import LogScan

DEFAULT_COLUMNS: Final = tuple(name for name in COLUMNS if name != "crc_ok")
FORMATS: Final = {
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""Suffix of a file → format."""

_STANDARD_OUTPUT: Final = "-"
_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once: columns of small messages take several times as much."""
_WITHOUT_ORDER: Final = frozenset({"body", "properties", "keys", "offset_msg_id"})
"""Columns of which no reader asks for the least and the largest value."""
_GROUP_SIZE: Final = 16 << 20
"""Bytes of the rows that become one row group of Parquet."""


def run(arguments: argparse.Namespace) -> int:
    """Export messages."""
    stores = open_stores(arguments.paths)  # an archive is unpacked as long as they live
    if arguments.queues:
        scans = scans_of_topics(stores, arguments)
    else:
        scans = scans_of(stores, is_compacted=arguments.compacted)
    _columns(arguments)  # an error in them creates no file
    kind = _format(arguments)
    count = broken = 0
    with _opened(arguments.output) as file:
        for messages, broken_messages in _written(kind, arguments, scans, file):
            count += messages
            broken += broken_messages
    damaged = [region for scan in scans for region in scan.regions if region.is_damage]
    report = {
        "messages": count,
        "broken_messages": broken,
        "damaged_regions": len(damaged) + sum(scan.regions_left_out for scan in scans),
        "damaged_bytes": sum(region.size for region in damaged),
    }
    _report(report, is_json=arguments.json)
    is_complete = not broken and not report["damaged_regions"]
    return 0 if is_complete and are_whole(stores) else 1


def _written(
    kind: str, arguments: argparse.Namespace, scans: Sequence[LogScan], file: IO[bytes]
) -> Iterator[tuple[int, int]]:
    """Write the messages of logs; yield for some each their number, and that of broken ones."""
    if kind == "jsonl":
        importlib.import_module("rocketwire_tools.store.formats.json_columns")  # before a fork
        yield from written(arguments, scans, encode, file)
        file.flush()
        return
    compression = arguments.compression if kind == "parquet" else None
    with _ArrowOutput(file, _columns(arguments), compression) as output:
        for batch, counts in results(arguments, scans, encode):
            if counts[0]:
                output.write(batch)
            yield counts


def encode(arguments: argparse.Namespace, scan: LogScan) -> Iterator[tuple[Any, tuple[int, int]]]:
    """The messages of a log in the format that was asked for.

    Returns:
        For some messages each: the lines or the record batch, and their number with the number of
        those with a wrong checksum that were left out.
    """
    kind = _format(arguments)
    encoded = _encoder(kind, arguments)
    selection, topics = selection_of(arguments), TopicNames()
    scan.block_size = _BLOCK_SIZE
    for rows in selected_rows(scan, selection, topics, is_folded=arguments.folded):
        broken = 0
        if not arguments.broken:
            holds = rows.crc_holds
            if not holds.all():
                broken = int((~holds).sum())
                rows = rows.picked(np.flatnonzero(holds))
        nothing = b"" if kind == "jsonl" else None
        yield encoded(rows) if len(rows) else nothing, (len(rows), broken)


def _encoder(kind: str, arguments: argparse.Namespace) -> Callable[[Rows], Any]:
    names = _columns(arguments)
    if kind == "jsonl":
        return JsonRows(names, "base64" if arguments.body == "none" else arguments.body).encode
    from rocketwire_tools.store.formats.arrow_rows import record_batch

    return lambda rows: record_batch(rows, names, has_dictionaries=kind == "parquet")


def _report(report: dict[str, Any], *, is_json: bool) -> None:
    if is_json:
        sys.stderr.write(json_line(report).decode())
        return
    line = f"{report['messages']} messages"
    if report["broken_messages"]:
        line += f"; skipped {report['broken_messages']} with a wrong checksum"
    if report["damaged_regions"]:
        line += (
            f"; skipped {report['damaged_regions']} damaged regions"
            f" with {report['damaged_bytes']} bytes; rocketwire-store check"
        )
    print(line, file=sys.stderr)


def _columns(arguments: argparse.Namespace) -> list[str]:
    """The columns that were asked for.

    Raises:
        ValueError: there is no such column, or one is named twice.
    """
    text: str | None = arguments.columns
    names = [name.strip() for name in text.split(",")] if text else list(DEFAULT_COLUMNS)
    for name in names:
        if name not in COLUMNS:
            raise ValueError(f"no column {name!r}; there are {', '.join(COLUMNS)}")
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} is named twice")
    return [name for name in names if name != "body" or arguments.body != "none"]


def _format(arguments: argparse.Namespace) -> str:
    """The format that was asked for, or that of the file's suffix.

    Raises:
        ValueError: the suffix is that of no format.
    """
    if arguments.format:
        return str(arguments.format)
    if arguments.output == _STANDARD_OUTPUT:
        return "jsonl"
    suffix = Path(arguments.output).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{arguments.output}: give --format, or a name that ends in {', '.join(FORMATS)}"
        )
    return FORMATS[suffix]


@contextmanager
def _opened(name: str) -> Generator[IO[bytes], None, None]:
    """The file to write; it appears under its name when it is complete.

    Raises:
        FileExistsError: the file is there.
    """
    if name == _STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    path = Path(name)
    if path.exists():
        raise FileExistsError(f"{name} exists; export overwrites nothing")
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            partial.unlink()
            raise
    partial.rename(path)


class _ArrowOutput:
    """A file of Parquet, or of Arrow if no compression is given."""

    def __init__(self, file: IO[bytes], names: Sequence[str], compression: str | None) -> None:
        from rocketwire_tools.store.formats import arrow_rows
        from rocketwire_tools.store.formats.arrow_rows import pa

        self._table = pa.Table
        self._batches: list[Any] = []
        self._size = 0
        schema = arrow_rows.schema_of(names, has_dictionaries=compression is not None)
        self._schema = schema
        self._writer: Any
        if compression:
            parquet: Any = importlib.import_module("pyarrow.parquet")
            self._writer = parquet.ParquetWriter(
                file,
                schema,
                compression=compression,
                store_schema=False,  # or Arrow's readers would get dictionaries and not texts
                use_dictionary=list(arrow_rows.FEW_VALUES),
                write_statistics=[name for name in names if name not in _WITHOUT_ORDER],
            )
        else:
            self._writer = pa.ipc.new_file(file, schema)

    def write(self, encoded: Any) -> None:
        self._batches.append(encoded)
        self._size += encoded.nbytes
        if self._size >= _GROUP_SIZE:
            self._write_batches()

    def _write_batches(self) -> None:
        table = self._table.from_batches(self._batches, self._schema)
        self._writer.write_table(table.unify_dictionaries())
        self._batches, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        try:
            if error is None:
                self._write_batches()
                self._writer.close()
        finally:
            if hasattr(self._writer, "is_open"):  # Parquet's would write when it is collected
                self._writer.is_open = False
