"""``export``: messages as JSON lines, Parquet or Arrow."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rocketwire.durable_file import rename_new, sync_path
from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames
from rocketwire_tools.store.formats.json_rows import JsonRows
from rocketwire_tools.store.jobs import results
from rocketwire_tools.store.opened import are_whole, open_stores, scans_of
from rocketwire_tools.store.output import describe_leftover, json_line
from rocketwire_tools.store.selecting import (
    describe_absence,
    require_messages,
    selected_rows,
    selection_of,
)

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

FILE_SIZE: Final = 1 << 30
"""Bytes of rows after which a file of a folder ends."""
FOLDER_PART: Final = 256 << 20
"""Bytes of the log that a process reads for a file of a folder."""
_UNNAMED: Final = ".tmp"
_NUMBERS: Final = itertools.count()
_STANDARD_OUTPUT: Final = "-"
_FOLDER: Final = "/"
"""The end of a folder's name."""
_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once: columns of small messages take several times as much."""


def run(arguments: argparse.Namespace) -> int:
    """Export messages."""
    stores = open_stores(arguments.paths)
    absence = describe_absence(stores, arguments)
    scans = scans_of(stores)
    _columns(arguments)  # an error in them creates no file
    kind = _format(arguments)
    count = broken = 0
    with closing(_written(kind, arguments, scans, absence)) as counts:
        for messages, broken_messages in counts:
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
    kind: str, arguments: argparse.Namespace, scans: Sequence[LogScan], absence: str | None
) -> Generator[tuple[int, int]]:
    """Write the messages of logs; yield for some each their number, and that of broken ones."""
    if arguments.output.endswith(_FOLDER):
        with _new_folder(arguments.output) as folder:
            written = _written_to_folder(kind, arguments, scans, folder)
            yield from require_messages(written, absence, any)
        return
    with _opened(arguments.output) as file:
        output = _rows_file(kind, arguments, file)
        pieces = results(arguments, scans, encode)
        with closing(require_messages(pieces, absence, lambda piece: any(piece[1]))) as pieces:
            try:
                for rows, counts in pieces:
                    if rows is not None:
                        output.write(rows)
                    yield counts
                output.close()
            except BaseException:
                output.give_up()
                raise


def _written_to_folder(
    kind: str, arguments: argparse.Namespace, scans: Sequence[LogScan], folder: Path
) -> Generator[tuple[int, int]]:
    """Each process writes files of the parts that it reads; those of parts that count get names."""
    arguments.folder = folder
    number = 0
    with closing(results(arguments, scans, write_files, part_size=FOLDER_PART)) as files:
        for path, counts in files:
            path.rename(folder / f"part-{number:05}.{kind}")
            number += 1
            yield counts
    for path in folder.glob(f"*{_UNNAMED}"):
        path.unlink()
    if not number:
        with (folder / f"part-00000.{kind}").open("xb") as file:
            _rows_file(kind, arguments, file).close()
            file.flush()
            os.fsync(file.fileno())


def write_files(
    arguments: argparse.Namespace, scan: LogScan
) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Write the messages of a log to files in ``arguments.folder``, which get their names later.

    Yields:
        The path of each file, and the counts of its messages.
    """
    pieces = encode(arguments, scan)
    for rows, counts in pieces:
        path: Path = arguments.folder / f"{os.getpid()}-{next(_NUMBERS)}{_UNNAMED}"
        with path.open("xb") as file:
            output = _rows_file(_format(arguments), arguments, file)
            try:
                size, (messages, broken) = _add(output, rows), counts
                for more, (further, wrong) in pieces:
                    size += _add(output, more)
                    messages, broken = messages + further, broken + wrong
                    if size >= FILE_SIZE:
                        break
                output.close()
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                output.give_up()
                raise
        yield path, (messages, broken)


def _add(output: RowsFile, rows: Any) -> int:
    """Write rows, if there are some; returns their bytes."""
    if rows is None:
        return 0
    output.write(rows)
    return len(rows) if isinstance(rows, bytes) else int(rows.nbytes)


class RowsFile(Protocol):
    """A file to which rows are written."""

    def write(self, rows: Any, /) -> object:
        """Write rows: lines, or a record batch."""

    def close(self) -> None:
        """Write the end of the file."""

    def give_up(self) -> None:
        """Write nothing more."""


class _LinesFile:
    """A file of JSON lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, lines: bytes) -> None:
        self._file.write(lines)

    def close(self) -> None:
        self._file.flush()

    def give_up(self) -> None:
        """Nothing is left to write."""


def _rows_file(kind: str, arguments: argparse.Namespace, file: IO[bytes]) -> RowsFile:
    if kind == "jsonl":
        return _LinesFile(file)
    from rocketwire_tools.store.formats.arrow_files import ArrowFile

    return ArrowFile(
        file, _columns(arguments), arguments.compression if kind == "parquet" else None
    )


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
        yield encoded(rows) if len(rows) else None, (len(rows), broken)


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
    if arguments.output.endswith(_FOLDER):
        return "parquet"
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
    path, partial = _names(name)
    try:
        file = partial.open("xb")
    except FileExistsError:
        raise FileExistsError(describe_leftover(partial)) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        rename_new(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def _new_folder(name: str) -> Generator[Path]:
    """The folder to write; it appears under its name when it is complete.

    Raises:
        FileExistsError: something of that name is there.
    """
    path, partial = _names(name)
    try:
        partial.mkdir(0o700)
    except FileExistsError:
        raise FileExistsError(describe_leftover(partial)) from None
    try:
        yield partial
        sync_path(partial)
        rename_new(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _names(name: str) -> tuple[Path, Path]:
    """Return the path to write, and that of the same until it is complete.

    Raises:
        FileExistsError: something of that name is there.
    """
    path = Path(name)
    if path.exists():
        raise FileExistsError(f"{name} exists; export overwrites nothing")
    return path, path.with_name(f"{path.name}.partial")
