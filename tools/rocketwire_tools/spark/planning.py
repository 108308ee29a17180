"""Which files there are, and into which parts they are cut.

Rules of this file: files are sorted by their names with numbers in them as numbers, which is the order in which tcpdump and
dumpcap rotate; a plan depends on what is there alone, so that it comes out the same after a restart.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.splits import Split, plan, read_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.spark.options import Settings

MOST_SHARES: Final = 8
_DIGITS: Final = re.compile(r"(\d+)")
_HIDDEN: Final = (".", "_")

Order = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What one task reads.

    Attributes:
        split: part of a file.
        share: ``(k, n)`` for the kth of n shares of its connections.
    """

    split: Split
    share: tuple[int, int] = (0, 1)


def order_of(path: str) -> Order:
    """What a path is sorted by: the numbers in it as numbers, ``x.pcap9`` before ``x.pcap10``."""
    pieces = _DIGITS.split(path)
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
        path = local(each)
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
    return sorted(found, key=order_of)


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
    for path in files(settings.paths):
        made += _parts_of(Split(path), settings)
    return made


def parts_between(settings: Settings, known: Sequence[str], start: str, end: str) -> list[Part]:
    """The parts of a micro-batch.

    Args:
        settings: options.
        known: all files so far, sorted.
        start: path of the last file of the batch before, empty for none.
        end: path of the last file of this one.
    """
    made: list[Part] = []
    after_start, last = order_of(start), order_of(end)
    for i, path in enumerate(known):
        if (start and order_of(path) <= after_start) or order_of(path) > last or not end:
            continue
        before = known[i - 1] if i else None
        after = known[i + 1] if i + 1 < len(known) else None
        made += _parts_of(Split(path, before=before, after=after), settings)
    return made


def latest(
    settings: Settings, known: Sequence[str], start: str, most: int, *, last_too: bool
) -> str:
    """Path of the last file that can be read now: one that has a successor.

    Args:
        settings: options.
        known: all files so far, sorted.
        start: path of the last file that has been read, empty for none.
        most: files at most, 0 for no limit.
        last_too: whether the last file is as good.
    """
    complete = known if last_too or settings.last_file == "read" else known[:-1]
    fresh = [path for path in complete if not start or order_of(path) > order_of(start)]
    if most:
        fresh = fresh[:most]
    return fresh[-1] if fresh else start


def _parts_of(whole: Split, settings: Settings) -> list[Part]:
    """The parts of one file."""
    try:
        if settings.mode == "exact":
            count = _shares(whole.path, settings)
            return [Part(whole, (k, count)) for k in range(count)]
        splits = plan(whole.path, settings.split_size)
    except CaptureError as error:
        if settings.bad_file == "fail":
            raise
        skipped(error)
        return []
    splits[0] = replace(splits[0], before=whole.before)
    splits[-1] = replace(splits[-1], after=whole.after)
    return [Part(split) for split in splits]


def _shares(path: str, settings: Settings) -> int:
    if settings.shares:
        return settings.shares
    if read_head(path) is None:
        return 1  # inflating it costs more than it saves
    size = os.path.getsize(path)
    return max(1, min(MOST_SHARES, -(-size // max(settings.split_size, 1))))


def skipped(error: CaptureError) -> None:
    """Say in the log that a file, or the rest of it, was left out."""
    print(f"rocketmq-pcap: skipped: {error}", file=sys.stderr)
