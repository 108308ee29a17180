"""``export``: messages as JSON lines, Parquet or Arrow."""

from __future__ import annotations

import itertools
import os
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.durable_file import sync_path
from rocketwire_tools.store.engine.rows import COLUMNS, TopicNames, parse_columns
from rocketwire_tools.store.formats.json_rows import JsonRows
from rocketwire_tools.store.output import create_whole, json_line
from rocketwire_tools.store.selecting import SelectedLogs, select_rows, selection_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterator

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

FILE_SIZE: Final = 1 << 30  # bytes of rows after which a file of a folder ends
FOLDER_PART: Final = 256 << 20  # bytes of the log that a process reads for a file of a folder
_UNNAMED: Final = ".tmp"
_NUMBERS: Final = itertools.count()
_STANDARD_OUTPUT: Final = "-"
_FOLDER: Final = "/"  # the end of a folder's name
_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once: columns of small messages take several times as much."""


def run(arguments: argparse.Namespace) -> int:
    logs = SelectedLogs(arguments)
    _columns(arguments)  # an error in them creates no file
    file_format = _format(arguments)
    count = broken = 0
    write = _write_folder if arguments.output.endswith(_FOLDER) else _write_file
    with closing(write(file_format, arguments, logs)) as counts:
        for messages, broken_messages in counts:
            count += messages
            broken += broken_messages
    report = {
        "messages": count,
        "broken_messages": broken,
        "damaged_regions": sum(scan.damaged_regions for scan in logs.scans),
        "damaged_bytes": sum(scan.damaged_bytes for scan in logs.scans),
    }
    _report(report, is_json=arguments.json)
    return 0 if logs.are_whole and not broken else 1


def _write_file(
    file_format: str, arguments: argparse.Namespace, logs: SelectedLogs
) -> Generator[tuple[int, int]]:
    with (
        _create_file(arguments.output) as file,
        _open_rows(file_format, arguments, file) as write,
        logs.read(encode, lambda piece: any(piece[1])) as pieces,
    ):
        for rows, counts in pieces:
            _write(write, rows)
            yield counts


def _write_folder(
    file_format: str, arguments: argparse.Namespace, logs: SelectedLogs
) -> Generator[tuple[int, int]]:
    """Let each process write files of the parts that it reads; those of whole parts get names."""
    number = 0
    with create_whole(_new_path(arguments.output), is_folder=True) as folder:
        arguments.folder = folder
        with logs.read(write_files, lambda file: any(file[1]), part_size=FOLDER_PART) as files:
            for path, counts in files:
                path.rename(folder / f"part-{number:05}.{file_format}")
                number += 1
                yield counts
        for path in folder.glob(f"*{_UNNAMED}"):
            path.unlink()
        if not number:
            with _create_rows(folder / f"part-00000.{file_format}", arguments):
                pass
        sync_path(folder)


def write_files(
    arguments: argparse.Namespace, scan: LogScan
) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Write the messages of a log to files without names; yield paths and counts of messages."""
    pieces = encode(arguments, scan)
    for rows, counts in pieces:
        path: Path = arguments.folder / f"{os.getpid()}-{next(_NUMBERS)}{_UNNAMED}"
        with _create_rows(path, arguments) as write:
            size, (messages, broken) = _write(write, rows), counts
            for more, (further, wrong) in pieces:
                size += _write(write, more)
                messages, broken = messages + further, broken + wrong
                if size >= FILE_SIZE:
                    break
        yield path, (messages, broken)


def _write(write: Callable[[Any], object], rows: Any) -> int:
    if rows is None:
        return 0
    write(rows)
    return len(rows) if isinstance(rows, bytes) else int(rows.nbytes)


@contextmanager
def _create_rows(path: Path, arguments: argparse.Namespace) -> Generator[Callable[[Any], object]]:
    with path.open("xb") as file:
        with _open_rows(_format(arguments), arguments, file) as write:
            yield write
        os.fsync(file.fileno())


@contextmanager
def _open_rows(
    file_format: str, arguments: argparse.Namespace, file: IO[bytes]
) -> Generator[Callable[[Any], object]]:
    """Yield what writes rows, as lines or as record batches, to a file of a format."""
    if file_format == "jsonl":
        yield file.write
    else:
        from rocketwire_tools.store.formats.arrow_files import ArrowFile

        compression = arguments.compression if file_format == "parquet" else None
        with ArrowFile(file, _columns(arguments), compression) as output:
            yield output.write
    file.flush()


def encode(arguments: argparse.Namespace, scan: LogScan) -> Iterator[tuple[Any, tuple[int, int]]]:
    """Yield lines or record batches, the number of messages, and of those with a wrong checksum."""
    file_format = _format(arguments)
    encode_rows = _encoder(file_format, arguments)
    selection, topics = selection_of(arguments), TopicNames()
    scan.block_size = _BLOCK_SIZE
    for rows in select_rows(scan, selection, topics, is_folded=arguments.folded):
        broken = 0
        if not arguments.broken:
            holds = rows.crc_holds
            if not holds.all():
                broken = int((~holds).sum())
                rows = rows.pick(np.flatnonzero(holds))
        yield encode_rows(rows) if len(rows) else None, (len(rows), broken)


def _encoder(file_format: str, arguments: argparse.Namespace) -> Callable[[Rows], Any]:
    names = _columns(arguments)
    if file_format == "jsonl":
        return JsonRows(names, "base64" if arguments.body == "none" else arguments.body).encode
    from rocketwire_tools.store.formats.arrow_rows import record_batch

    return lambda rows: record_batch(rows, names, has_dictionaries=file_format == "parquet")


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
    names = parse_columns(arguments.columns, DEFAULT_COLUMNS)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} is named twice")
    return [name for name in names if name != "body" or arguments.body != "none"]


def _format(arguments: argparse.Namespace) -> str:
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
def _create_file(name: str) -> Generator[IO[bytes]]:
    if name == _STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    with create_whole(_new_path(name)) as partial, partial.open("wb") as file:
        yield file
        os.fsync(file.fileno())


def _new_path(name: str) -> Path:
    path = Path(name)
    if path.exists():
        raise FileExistsError(f"{name} exists; export overwrites nothing")
    return path
