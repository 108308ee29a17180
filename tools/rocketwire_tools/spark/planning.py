"""Finds the files of a read, and cuts them into parts.

Rules of this file: files are sorted by their names with numbers in them as numbers, which is the
order in which tcpdump and dumpcap rotate. Paths are absolute, since tasks run in other folders.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.series import series
from rocketwire_tools.pcap.files.splits import Split, plan, read_head
from rocketwire_tools.spark.option_values import OptionError, local
from rocketwire_tools.spark.sizing import file_size, part_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.spark.options import Settings

MAX_SHARES: Final = 8
MAX_PARTS: Final = 10_000  # Maximum parts of a file; planning reads a little of each part
_DIGITS: Final = re.compile(r"(\d+)")
_HIDDEN: Final = (".", "_")
_PACKED: Final = re.compile(r"\.(gz|zst|lz4)$")

Order = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    split: Split  # part of a file
    share: tuple[int, int] = (0, 1)  # ``(k, n)`` for share k of n of its connections

    @property
    def whole_size(self) -> int | None:
        """Bytes of a file that is read as a whole; None for a part of a file."""
        is_whole = self.split.start == 0 and self.split.end is None and self.share == (0, 1)
        return file_size(self.split.path) if is_whole else None


def order_of(path: str) -> Order:
    """Return the sort key of a path: numbers count as numbers, ``x.pcap9`` before ``x.pcap10``;
    ``x.pcap.gz`` sorts as ``x.pcap``, its name while it was written."""
    pieces = _DIGITS.split(_PACKED.sub("", path))
    return tuple((int(piece), 0, "") if i % 2 else (-1, 1, piece) for i, piece in enumerate(pieces))


def files(paths: Sequence[str]) -> list[str]:
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
        if not regular:
            raise CaptureError(pattern, None, "there is no such file")
        unique.update(regular)
    return sorted(unique, key=lambda path: (order_of(path), path))


def parts(settings: Settings) -> list[Part]:
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


def _parts_of(file: Split, size: int, settings: Settings) -> list[Part]:
    try:
        if settings.mode == "exact":
            count = settings.shares or _shares(file.path, size)
            return [Part(file, (k, count)) for k in range(count)]
        _refuse_crumbs(file.path, size)
        splits = plan(file.path, size)
    except CaptureError as error:
        if settings.bad_file == "fail":
            raise
        log_skipped(error)
        return []
    return [
        Part(replace(split, before=file.before, after=file.after, certain=file.certain))
        for split in splits
    ]


def _refuse_crumbs(path: str, size: int) -> None:
    count = os.path.getsize(path) // size if size and os.path.exists(path) else 0
    if count > MAX_PARTS:
        message = f"{size} bytes make {count} parts of {path}; {MAX_PARTS} are the most"
        raise OptionError(f"option 'splitSize': {message}")


def _shares(path: str, size: int) -> int:
    if not size or not os.path.exists(path) or not os.path.getsize(path) or read_head(path) is None:
        return 1  # inflating it costs more than it saves
    return max(1, min(MAX_SHARES, -(-os.path.getsize(path) // size)))


def log_skipped(error: CaptureError) -> None:
    print(f"rocketmq-pcap: skipped: {error}", file=sys.stderr)
