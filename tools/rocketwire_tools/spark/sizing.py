"""The work of a task: large parts of files that keep all processors busy, or several small files.

Rules of this file: sizes are file sizes; no file is opened.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.spark.part import Part

LARGEST_PART: Final = 512 << 20
SMALLEST_PART: Final = 256 << 20
"""Each part has to find the frames of all connections again, which costs as much as decoding some
30 MB; and the number of processors that Spark uses is unknown here."""
_TOGETHER: Final = 64 << 20
"""Maximum bytes of the small files of a task."""
_TURNS: Final = 3
"""Minimum parts per processor, because several files cannot be distributed evenly."""


def part_size(paths: Sequence[str], split_size: int | None, processors: int | None = None) -> int:
    """Return the bytes of a part: as large as possible while processors are equally busy.

    Args:
        paths: the files that are read together.
        split_size: the option; None if it is not set.
        processors: their number; None for those of this machine.
    """
    if split_size is not None:
        return split_size
    total = sum(map(_size, paths))
    among = _processors() if processors is None else processors
    turns = max(-(-total // (among * LARGEST_PART)), 1 if len(paths) == 1 else _TURNS)
    return min(max(-(-total // (among * turns)), SMALLEST_PART), LARGEST_PART)


def tasks(parts: Sequence[Part], processors: int | None = None) -> list[list[Part]]:
    """Return the parts of each task: a part of a file, or several small files.

    Args:
        parts: of all files, in order.
        processors: their number; None for those of this machine.
    """
    among = _processors() if processors is None else processors
    sizes = [_whole(part) for part in parts]
    max_together = min(_TOGETHER, sum(filter(None, sizes)) // (among * _TURNS))
    grouped: list[list[Part]] = []
    room = 0
    for part, size in zip(parts, sizes, strict=True):
        if grouped and size is not None and size <= room:
            grouped[-1].append(part)
            room -= size
        else:
            grouped.append([part])
            room = 0 if size is None else max_together - size
    return grouped


def _whole(part: Part) -> int | None:
    """Return the size of a file that is read as a whole; None for a part of a file."""
    split = part.split
    is_whole = split.start == 0 and split.end is None and part.share == (0, 1)
    return _size(split.path) if is_whole else None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0  # the task that reads it raises the error


def _processors() -> int:
    """Return the processors that this process may use; in a cluster, the driver's."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
