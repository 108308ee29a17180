"""Finds the files of a read, and cuts them into parts.

Rules of this file: files are sorted by their names with numbers in them as numbers, which is the
order in which tcpdump and dumpcap rotate; a plan depends on the files only, so that a batch is the
same after a restart. Paths are absolute, since tasks run in other folders.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.files.series import series
from rocketwire_tools.pcap.files.splits import Split, plan, read_head
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.part import Part
from rocketwire_tools.spark.paths import local
from rocketwire_tools.spark.sizing import part_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.spark.options import Settings

MOST_SHARES: Final = 8
MOST_PARTS: Final = 10_000
"""Maximum parts of a file; planning reads a little of each part."""
_DIGITS: Final = re.compile(r"(\d+)")
_HIDDEN: Final = (".", "_")
_PACKED: Final = re.compile(r"\.(gz|zst|lz4)$")

Order = tuple[tuple[int, int, str], ...]


def order_of(path: str) -> Order:
    """Return the sort key of a path: numbers count as numbers, ``x.pcap9`` before ``x.pcap10``;
    ``x.pcap.gz`` sorts as ``x.pcap``, its name while it was written."""
    pieces = _DIGITS.split(_PACKED.sub("", path))
    return tuple((int(piece), 0, "") if i % 2 else (-1, 1, piece) for i, piece in enumerate(pieces))


def files(paths: Sequence[str], *, may_be_none: bool = False) -> list[str]:
    """Return the files of paths, sorted.

    Args:
        paths: of files and folders, or patterns.
        may_be_none: whether a path may match no file yet.

    Raises:
        CaptureError: a path matches no file.
        OptionError: a path is not on this machine.
    """
    unique: set[str] = set()
    for pattern in paths:
        path = os.path.abspath(local(pattern))
        if os.path.isdir(path):
            path = os.path.join(path, "*")
        matches = [path] if os.path.isfile(path) else glob.glob(path, recursive=True)
        regular = [
            match
            for match in matches
            if os.path.isfile(match) and not os.path.basename(match).startswith(_HIDDEN)
        ]
        if not regular and not may_be_none:
            raise CaptureError(pattern, None, "there is no such file")
        unique.update(regular)
    return sorted(unique, key=lambda path: (order_of(path), path))


def rotated(paths: Sequence[str]) -> list[str]:
    """Return the files of a stream; of a file that is being compressed, the complete one.

    Args:
        paths: sorted files.
    """
    return list({order_of(path): path for path in reversed(paths)}.values())[::-1]


def parts(settings: Settings) -> list[Part]:
    """Return the parts of a batch read.

    Raises:
        CaptureError: a file cannot be read, and ``badFile`` is not ``skip``.
    """
    planned: list[Part] = []
    all_paths = files(settings.paths)
    size = part_size(all_paths, settings.split_size)
    for captures in series(all_paths, settings.join):
        paths = captures.paths
        for previous, path, following in zip(
            (None, *paths), paths, (*paths[1:], None), strict=False
        ):
            certain = captures.certain or len(paths) == 1
            split = Split(path, before=previous, after=following, certain=certain)
            planned += _parts_of(split, size, settings)
    return planned


def parts_between(settings: Settings, paths: Sequence[str], start: str, end: str) -> list[Part]:
    """Return the parts of a micro-batch.

    Args:
        settings: options.
        paths: all files so far, as ``rotated`` returns them.
        start: path of the last file of the previous batch, empty for none.
        end: path of the last file of this batch.

    Raises:
        CaptureError: a file cannot be read, or the last one was deleted, and ``badFile`` is not
            ``skip``.
    """
    if not end:
        return []
    planned: list[Part] = []
    orders = [order_of(path) for path in paths]
    start_order, last = order_of(start), order_of(end)
    if last not in orders:
        _missing(end, settings)
    indexes = [
        i
        for i, order in enumerate(orders)
        if not (start and order <= start_order) and order <= last
    ]
    size = part_size([paths[i] for i in indexes], settings.split_size)
    for i in indexes:
        previous = paths[i - 1] if i else None
        following = paths[i + 1] if i + 1 < len(paths) else None
        planned += _parts_of(Split(paths[i], before=previous, after=following), size, settings)
    return planned


def _missing(path: str, settings: Settings) -> None:
    """Refuse or skip a planned file that was deleted."""
    error = CaptureError(path, None, "the file was deleted after this batch was planned")
    if settings.bad_file == "fail":
        raise error
    skipped(error)


def latest(
    settings: Settings, paths: Sequence[str], start: str, max_files: int, *, last_too: bool
) -> str:
    """Return the path of the last file that can be read now: enough has been captured after it for
    its last frames.

    Args:
        settings: options.
        paths: all files so far, as ``rotated`` returns them.
        start: path of the last file that was read, empty for none.
        max_files: maximum number of files, 0 for no limit.
        last_too: whether the last file can be read, too.
    """
    start_order = order_of(start)
    fresh = [path for path in paths if not start or order_of(path) > start_order]
    if not (last_too or settings.last_file == "read"):
        enough = len(fresh) > 1 and _is_enough(fresh[-1], settings)
        fresh = fresh[: -1 if enough else -2]
    if max_files:
        fresh = fresh[:max_files]
    return fresh[-1] if fresh else start


def _is_enough(path: str, settings: Settings) -> bool:
    """Return whether a growing file has all bytes that a task reads after the previous file."""
    from rocketwire_tools.pcap.decode.split_decoder import (
        Reach,  # batch reads do not need the engine here
    )

    source, enough = None, Reach().ahead_ns
    try:
        if os.path.getsize(path) >= settings.look_ahead:
            return True
        source = open_input(path)
        first: int | None = None
        for records in CaptureReader(path, source):
            first = int(records.time_ns[0]) if first is None else first
            if int(records.time_ns[-1]) - first > enough:
                return True
    except (CaptureError, OSError):
        return False  # the file has just been created
    finally:
        if source is not None:
            source.close()
    return False


def _parts_of(file: Split, size: int, settings: Settings) -> list[Part]:
    """Return the parts of a file."""
    try:
        if settings.mode == "exact":
            count = settings.shares or _shares(file.path, size)
            return [Part(file, (k, count)) for k in range(count)]
        _refuse_crumbs(file.path, size)
        splits = plan(file.path, size)
    except CaptureError as error:
        if settings.bad_file == "fail":
            raise
        skipped(error)
        return []
    return [
        Part(replace(split, before=file.before, after=file.after, certain=file.certain))
        for split in splits
    ]


def _refuse_crumbs(path: str, size: int) -> None:
    """Refuse a part size without a unit that was probably meant as megabytes.

    Raises:
        OptionError: it makes too many parts of a file.
    """
    count = os.path.getsize(path) // size if size and os.path.exists(path) else 0
    if count > MOST_PARTS:
        message = f"{size} bytes make {count} parts of {path}; {MOST_PARTS} are the most"
        raise OptionError(f"option 'splitSize': {message}")


def _shares(path: str, size: int) -> int:
    """Return the number of tasks for a file in exact mode."""
    if not size or not os.path.exists(path) or not os.path.getsize(path) or read_head(path) is None:
        return 1  # inflating it costs more than it saves
    return max(1, min(MOST_SHARES, -(-os.path.getsize(path) // size)))


def skipped(error: CaptureError) -> None:
    """Log that a file, or the rest of it, was skipped."""
    print(f"rocketmq-pcap: skipped: {error}", file=sys.stderr)
