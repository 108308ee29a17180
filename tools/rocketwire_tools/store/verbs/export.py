"""``export``: messages as JSON lines, Parquet or Arrow."""

from __future__ import annotations

import itertools
import os
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.durable_file import sync_path
from rocketwire_tools.store.engine.rows import COLUMNS, parse_columns
from rocketwire_tools.store.output import JsonRows, create_whole, json_line
from rocketwire_tools.store.selecting import SelectedLogs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterator

    from rocketwire_tools.store.engine.rows import Rows

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
_STANDARD_OUTPUT: Final = "-"
_FOLDER: Final = "/"  # the end of a folder's name
_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once: columns of small messages take several times as much."""


def run(arguments: argparse.Namespace) -> int:
    logs = SelectedLogs(arguments)
    _columns(arguments)  # an error in them creates no file
    counts: Counter[str] = Counter()
    pieces = _encode(arguments, logs, counts)
    if arguments.output.endswith(_FOLDER):
        _write_folder(arguments, pieces)
    else:
        with _create_file(arguments.output) as file, _open_rows(arguments, file) as write:
            for piece in pieces:
                write(piece)
    report = {
        "messages": counts["messages"],
        "broken_messages": counts["broken"],
        "damaged_regions": sum(scan.damaged_regions for scan in logs.scans),
        "damaged_bytes": sum(scan.damaged_bytes for scan in logs.scans),
    }
    _report(report, is_json=arguments.json)
    return 0 if logs.are_whole and not counts["broken"] else 1


def _write_folder(arguments: argparse.Namespace, pieces: Iterator[Any]) -> None:
    with create_whole(_new_path(arguments.output), is_folder=True) as folder:
        piece = next(pieces, None)
        for number in itertools.count():
            path = folder / f"part-{number:05}.{_format(arguments)}"
            with path.open("xb") as file:
                with _open_rows(arguments, file) as write:
                    size = 0
                    while piece is not None and size < FILE_SIZE:
                        write(piece)
                        size += len(piece) if isinstance(piece, bytes) else piece.nbytes
                        piece = next(pieces, None)
                os.fsync(file.fileno())
            if piece is None:
                break
        sync_path(folder)


@contextmanager
def _open_rows(
    arguments: argparse.Namespace, file: IO[bytes]
) -> Generator[Callable[[Any], object]]:
    file_format = _format(arguments)
    if file_format == "jsonl":
        yield file.write
    else:
        from rocketwire_tools.store.formats.arrow_rows import ArrowFile

        compression = arguments.compression if file_format == "parquet" else None
        with ArrowFile(file, _columns(arguments), compression) as output:
            yield output.write
    file.flush()


def _encode(
    arguments: argparse.Namespace, logs: SelectedLogs, counts: Counter[str]
) -> Iterator[Any]:
    encode_rows = _encoder(arguments)
    for rows in logs.rows(is_folded=arguments.folded, block_size=_BLOCK_SIZE):
        if not arguments.broken:
            holds = rows.crc_holds
            if not holds.all():
                counts["broken"] += int((~holds).sum())
                rows = rows.choose(holds)
        counts["messages"] += len(rows)
        if len(rows):
            yield encode_rows(rows)


def _encoder(arguments: argparse.Namespace) -> Callable[[Rows], Any]:
    names, file_format = _columns(arguments), _format(arguments)
    if file_format == "jsonl":
        return JsonRows(names, "base64" if arguments.body == "none" else arguments.body).encode
    from rocketwire_tools.store.formats.arrow_rows import record_batch

    return lambda rows: record_batch(rows, names)


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
