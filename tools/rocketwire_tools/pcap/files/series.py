"""Captures that continue each other, as ``tcpdump -C``, ``tcpdump -G`` and ``dumpcap -b`` write
them.

Files may continue each other if they lie in one folder and their names differ only by numbers. A
file does continue another if it begins when the other ends. This is decided after the other file
has been read, so that no file is read twice.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.files.splits import Range, RangeReader, find_record, read_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.files.records import Array

MAX_APART_NS: Final = 60_000_000_000
"""Nanoseconds from the last packet of a file to the first packet of the next one: RocketMQ
clients are never silent for longer."""
_MAX_BACK_NS: Final = 10_000_000
"""Overlap of two files: the packets of several processors come in no exact order. A short file
may overlap by a ``_BACK_SHARE``th of its duration."""
_BACK_SHARE: Final = 10
_NUMBER: Final = re.compile(r"\d+")
_PACKED: Final = re.compile(r"\.(gz|zst|lz4)$")
_TAIL: Final = 1 << 20  # Bytes at the end of a file that hold at least one record


@dataclass(frozen=True, slots=True)
class Series:
    paths: tuple[str, ...]  # of the files, in order
    certain: bool = False  # whether they continue each other regardless of their times

    @classmethod
    def of(cls, captures: str | Series) -> Series:
        return cls((captures,)) if isinstance(captures, str) else captures

    def rest(self, count: int) -> Series | None:
        """The series without its first files; None if no file is left."""
        paths = self.paths[max(count, 1) :]
        return replace(self, paths=paths) if paths else None

    def name(self, count: int) -> str:
        last = self.paths[max(count, 1) - 1]
        return last if last == self.paths[0] else f"{self.paths[0]} to {last}"


class Span:
    def __init__(self, first_ns: int | None = None, last_ns: int = 0) -> None:
        self.first_ns = first_ns  # time of its first packet; None before the first packet
        self.last_ns = last_ns  # time of its latest packet

    def add(self, time_ns: Array) -> None:
        if self.first_ns is None:
            self.first_ns = int(time_ns[0])
        self.last_ns = max(self.last_ns, int(time_ns.max()))

    def is_continued_at(self, time_ns: int) -> bool:
        """Whether a file whose first packet has this time continues this one."""
        if self.first_ns is None:
            return True
        back = min(_MAX_BACK_NS, (self.last_ns - self.first_ns) // _BACK_SHARE)
        distance = time_ns - self.last_ns
        return time_ns > self.first_ns and -back <= distance <= MAX_APART_NS


def series(paths: Sequence[str], join: str) -> list[Series]:
    """Group captures: files that may continue each other form one series, in the order of their
    times, at the position of the first."""
    if join == "all":
        return [Series(tuple(paths), certain=True)]
    if join == "none":
        return [Series((path,)) for path in paths]
    groups: dict[tuple[str, str] | int, list[str]] = {}
    for index, path in enumerate(paths):
        groups.setdefault(_series_key(path) if os.path.isfile(path) else index, []).append(path)
    return [
        Series(tuple(sorted_paths))
        for group in groups.values()
        for sorted_paths in _sort_by_time(group)
    ]


def _series_key(path: str) -> tuple[str, str]:
    # The common part of the paths of a series: the folder, and the name without its numbers. The
    # first file of ``tcpdump -C`` has no number.
    folder, name = os.path.split(os.path.abspath(path))
    return folder, _NUMBER.sub("#", _PACKED.sub("", name)).removesuffix("#")


def _sort_by_time(paths: list[str]) -> list[list[str]]:
    if len(paths) < 2:
        return [paths]
    times = {path: first_time(path) for path in paths}
    timed = sorted((time, path) for path in times if (time := times[path]) is not None)
    without_time = [[path] for path in paths if times[path] is None]
    if len(timed) < len(times) - len(without_time) or len(set(paths)) < len(paths):
        return [[path] for path in paths]
    return ([[path for _, path in timed]] if timed else []) + without_time


def first_time(path: str) -> int | None:
    """Time of the first packet of a capture in nanoseconds since 1970; None if there is none or
    the file cannot be read."""
    try:
        source = open_input(path, ahead=2)
        try:
            for records in CaptureReader(path, source, chunk_size=1):
                return int(records.time_ns[0])
        finally:
            source.close()
    except CaptureError:
        return None  # the decoder reports it
    return None


def last_time(path: str) -> int | None:
    """Time of the last packet of a capture; None if it is unknown without reading the whole
    file."""
    try:
        head = read_head(path)
        if head is None:
            return None
        size = os.path.getsize(path)
        start = find_record(path, head, max(size - _TAIL, 0))
        with Range(path, start, None) as source:
            latest = [
                int(records.time_ns.max()) for records in RangeReader(path, head, source, start)
            ]
    except (CaptureError, OSError):
        return None
    return max(latest, default=None)
