"""How much one task reads: as large parts of files as keep all processors busy, and small files together.

Rules of this file: sizes are those of files as they are; nobody opens one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.spark.part import Part

LARGEST_PART: Final = 512 << 20
LEAST_PART: Final = 256 << 20
"""Each part has to find its place in all connections anew, which costs as much as decoding some 30 MB; and how many of
the processors Spark uses is not known here."""
_TOGETHER: Final = 64 << 20
"""Small files that one task reads, at most."""
_TURNS: Final = 3
"""Parts for each processor, at least, where several files do not come out even."""


def part_size(paths: Sequence[str], wanted: int | None, processors: int | None = None) -> int:
    """Bytes of a part: as large as can be while processors are equally busy.

    Args:
        paths: the files that are read together.
        wanted: what the options say; None for nothing.
        processors: how many; None for as many as there are here.
    """
    if wanted is not None:
        return wanted
    total = sum(map(_size, paths))
    among = _processors() if processors is None else processors
    turns = max(-(-total // (among * LARGEST_PART)), 1 if len(paths) == 1 else _TURNS)
    return min(max(-(-total // (among * turns)), LEAST_PART), LARGEST_PART)


def tasks(parts: Sequence[Part], processors: int | None = None) -> list[list[Part]]:
    """Parts that one task reads: one that was cut, or some small files.

    Args:
        parts: of all files, in order.
        processors: how many; None for as many as there are here.
    """
    among = _processors() if processors is None else processors
    sizes = [_whole(part) for part in parts]
    most = min(_TOGETHER, sum(filter(None, sizes)) // (among * _TURNS))
    made: list[list[Part]] = []
    room = 0
    for part, size in zip(parts, sizes, strict=True):
        if made and size is not None and size <= room:
            made[-1].append(part)
            room -= size
        else:
            made.append([part])
            room = 0 if size is None else most - size
    return made


def _whole(part: Part) -> int | None:
    """Bytes of a file that is read in one piece; None for a piece of one."""
    split = part.split
    alone = split.start == 0 and split.end is None and part.share == (0, 1)
    return _size(split.path) if alone else None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0  # whoever reads it will say it


def _processors() -> int:
    """Those that this process may use; in a cluster, the driver's."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
