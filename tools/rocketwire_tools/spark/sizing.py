"""The work of a task: large parts of files that keep all processors busy, or several small files.

Rules of this file: sizes are file sizes; no file is opened.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    class _Part(Protocol):
        @property
        def whole_size(self) -> int | None:
            """Bytes of a file that is read as a whole; None for a part of a file."""


_PartT = TypeVar("_PartT", bound="_Part")

LARGEST_PART: Final = 512 << 20
SMALLEST_PART: Final = 256 << 20
"""Each part has to find the frames of all connections again, which costs as much as decoding some
30 MB; and the number of processors that Spark uses is unknown here."""
_TOGETHER: Final = 64 << 20  # Maximum bytes of the small files of a task
_TURNS: Final = 3  # Minimum parts per processor, because several files cannot be distributed evenly


def part_size(
    paths: Sequence[str],  # the files that are read together
    split_size: int | None,  # the option; None if it is not set
    processors: int | None = None,  # their number; None for those of this machine
    *,
    smallest: int = SMALLEST_PART,  # bytes of a part, at least
    largest: int = LARGEST_PART,  # bytes of a part, at most
) -> int:
    """Return the bytes of a part: as large as possible while processors are equally busy."""
    if split_size is not None:
        return split_size
    total = sum(map(file_size, paths))
    among = _processors() if processors is None else processors
    turns = max(-(-total // (among * largest)), 1 if len(paths) == 1 else _TURNS)
    return min(max(-(-total // (among * turns)), smallest), largest)


def tasks(parts: Sequence[_PartT], processors: int | None = None) -> list[list[_PartT]]:
    among = _processors() if processors is None else processors
    sizes = [part.whole_size for part in parts]
    max_together = min(_TOGETHER, sum(filter(None, sizes)) // (among * _TURNS))
    grouped: list[list[_PartT]] = []
    room = 0
    for part, size in zip(parts, sizes, strict=True):
        if grouped and size is not None and size <= room:
            grouped[-1].append(part)
            room -= size
        else:
            grouped.append([part])
            room = 0 if size is None else max_together - size
    return grouped


def file_size(path: str) -> int:
    """Return the size of a file; 0 if it is gone."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0  # the task that reads it raises the error


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
