"""Which files there are, and into which parts they are cut.

Rules of this file: files are sorted by their names with numbers in them as numbers, which is the order in which tcpdump and
dumpcap rotate; which frames come out of a plan depends on what is there alone, so that a batch is the same after a restart.  Paths
are absolute, since tasks run in other folders.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.files.series import series
from rocketwire_tools.pcap.files.splits import Split, plan, read_head
from rocketwire_tools.spark.options import OptionError
from rocketwire_tools.spark.part import Part
from rocketwire_tools.spark.sizing import part_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.spark.options import Settings

MOST_SHARES: Final = 8
MOST_PARTS: Final = 10_000
"""Parts of one file; to plan each, some of it is read."""
_DIGITS: Final = re.compile(r"(\d+)")
_HIDDEN: Final = (".", "_")
_PACKED: Final = re.compile(r"\.(gz|zst|lz4)$")

Order = tuple[tuple[int, int, str], ...]


def order_of(path: str) -> Order:
    """What a path is sorted by: the numbers in it as numbers, ``x.pcap9`` before ``x.pcap10``; ``x.pcap.gz`` as
    ``x.pcap``, for that is what it was while it was written."""
    pieces = _DIGITS.split(_PACKED.sub("", path))
    return tuple((int(piece), 0, "") if i % 2 else (-1, 1, piece) for i, piece in enumerate(pieces))


def files(paths: Sequence[str], *, may_be_none: bool = False) -> list[str]:
    """The files that paths name, sorted.

    Args:
        paths: of files and folders, or patterns.
        may_be_none: whether they may come later.

    Raises:
        CaptureError: a path names nothing, or is none of this machine.
    """
    found: set[str] = set()
    for each in paths:
        path = os.path.abspath(local(each))
        if os.path.isdir(path):
            path = os.path.join(path, "*")
        matches = [path] if os.path.isfile(path) else glob.glob(path, recursive=True)
        regular = [
            one
            for one in matches
            if os.path.isfile(one) and not os.path.basename(one).startswith(_HIDDEN)
        ]
        if not regular and not may_be_none:
            raise CaptureError(each, None, "there is no such file")
        found.update(regular)
    return sorted(found, key=lambda path: (order_of(path), path))


def rotated(paths: Sequence[str]) -> list[str]:
    """The files of a stream: of one that is being compressed the one that is complete.

    Args:
        paths: sorted files.
    """
    return list({order_of(path): path for path in reversed(paths)}.values())[::-1]


def local(path: str) -> str:
    """The path of a file that a Python process can open.

    Raises:
        CaptureError: it is one of a file system that only Java sees.
    """
    parts = urlsplit(path)
    if parts.scheme == "file":
        return unquote(parts.path)
    if len(parts.scheme) > 1 and "://" in path:
        message = "Python workers see mounted file systems alone, not those of Hadoop"
        raise CaptureError(path, None, message)
    return path


def parts(settings: Settings) -> list[Part]:
    """The parts of a batch read.

    Raises:
        CaptureError: a file cannot be read, unless such are to be skipped.
    """
    made: list[Part] = []
    found = files(settings.paths)
    size = part_size(found, settings.split_size)
    for captures in series(found, settings.join):
        paths = captures.paths
        for before, path, after in zip((None, *paths), paths, (*paths[1:], None), strict=False):
            certain = captures.certain or len(paths) == 1
            split = Split(path, before=before, after=after, certain=certain)
            made += _parts_of(split, size, settings)
    return made


def parts_between(settings: Settings, known: Sequence[str], start: str, end: str) -> list[Part]:
    """The parts of a micro-batch.

    Args:
        settings: options.
        known: all files so far, as ``rotated`` gives them.
        start: path of the last file of the batch before, empty for none.
        end: path of the last file of this one.

    Raises:
        CaptureError: a file cannot be read, or the last one is gone, unless such are to be skipped.
    """
    if not end:
        return []
    made: list[Part] = []
    orders = [order_of(path) for path in known]
    after_start, last = order_of(start), order_of(end)
    if last not in orders:
        _missing(end, settings)
    wanted = [
        i
        for i, order in enumerate(orders)
        if not (start and order <= after_start) and order <= last
    ]
    size = part_size([known[i] for i in wanted], settings.split_size)
    for i in wanted:
        before = known[i - 1] if i else None
        after = known[i + 1] if i + 1 < len(known) else None
        made += _parts_of(Split(known[i], before=before, after=after), size, settings)
    return made


def _missing(path: str, settings: Settings) -> None:
    """A file that was to be read is not there any more."""
    error = CaptureError(path, None, "it was there when this batch was planned, and is gone")
    if settings.bad_file == "fail":
        raise error
    skipped(error)


def latest(
    settings: Settings, known: Sequence[str], start: str, most: int, *, last_too: bool
) -> str:
    """Path of the last file that can be read now: one behind which enough has been captured for its last frames.

    Args:
        settings: options.
        known: all files so far, as ``rotated`` gives them.
        start: path of the last file that has been read, empty for none.
        most: files at most, 0 for no limit.
        last_too: whether the last file is as good.
    """
    after = order_of(start)
    fresh = [path for path in known if not start or order_of(path) > after]
    if not (last_too or settings.last_file == "read"):
        enough = len(fresh) > 1 and _is_enough(fresh[-1], settings)
        fresh = fresh[: -1 if enough else -2]
    if most:
        fresh = fresh[:most]
    return fresh[-1] if fresh else start


def _is_enough(path: str, settings: Settings) -> bool:
    """Whether a file that still grows has all that a task looks at behind the file in front of it."""
    from rocketwire_tools.pcap.decode.split_decoder import (
        Reach,  # batch reads do without the engine here
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
        return False  # it has only just begun
    finally:
        if source is not None:
            source.close()
    return False


def _parts_of(whole: Split, size: int, settings: Settings) -> list[Part]:
    """The parts of one file."""
    try:
        if settings.mode == "exact":
            count = settings.shares or _shares(whole.path, size)
            return [Part(whole, (k, count)) for k in range(count)]
        _refuse_crumbs(whole.path, size)
        splits = plan(whole.path, size)
    except CaptureError as error:
        if settings.bad_file == "fail":
            raise
        skipped(error)
        return []
    return [
        Part(replace(one, before=whole.before, after=whole.after, certain=whole.certain))
        for one in splits
    ]


def _refuse_crumbs(path: str, size: int) -> None:
    """Refuse a part size that was meant to be megabytes.

    Raises:
        OptionError: it makes too many parts of a file.
    """
    count = os.path.getsize(path) // size if size and os.path.exists(path) else 0
    if count > MOST_PARTS:
        message = f"{size} bytes make {count} parts of {path}; {MOST_PARTS} are the most"
        raise OptionError(f"option 'splitSize': {message}")


def _shares(path: str, size: int) -> int:
    """Tasks for a file in exact mode."""
    if not size or not os.path.exists(path) or not os.path.getsize(path) or read_head(path) is None:
        return 1  # inflating it costs more than it saves
    return max(1, min(MOST_SHARES, -(-os.path.getsize(path) // size)))


def skipped(error: CaptureError) -> None:
    """Say in the log that a file, or the rest of it, was left out."""
    print(f"rocketmq-pcap: skipped: {error}", file=sys.stderr)
