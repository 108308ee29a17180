"""Captures that continue each other, as ``tcpdump -C``, ``tcpdump -G`` and ``dumpcap -b`` write
them, one after the other.

Rules of this file: names propose, times decide.  Files may continue each other if they lie in one
folder and their names differ by numbers alone; one does continue another if it begins where that
ends.  Whether it does is known when the other has been read, so that nothing is read twice,
however the files are compressed.
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

    from rocketwire_tools.pcap.files.records import Integers

JOIN: Final = ("auto", "all", "none")
"""Which captures are taken as one: those that continue each other, all of them, or none."""
MOST_APART_NS: Final = 60_000_000_000
"""Nanoseconds from the last packet of a file to the first of the next: no client of RocketMQ is
silent for longer."""
_MOST_BACK_NS: Final = 10_000_000
"""The next file may begin so much earlier, because the packets of several processors come in no
exact order; or by a ``_BACK_SHARE``th of what a short file lasts."""
_BACK_SHARE: Final = 10
_NUMBER: Final = re.compile(r"\d+")
_PACKED: Final = re.compile(r"\.(gz|zst|lz4)$")
_TAIL: Final = 1 << 20
"""Bytes of the end of a file that hold a record, however large it is."""


@dataclass(frozen=True, slots=True)
class Series:
    """Captures that are decoded as one.

    Attributes:
        paths: of the files, in order.
        certain: whether they continue each other whatever their times say.
    """

    paths: tuple[str, ...]
    certain: bool = False

    @classmethod
    def of(cls, captures: str | Series) -> Series:
        """A series, also of a single path."""
        return cls((captures,)) if isinstance(captures, str) else captures

    def rest(self, count: int) -> Series | None:
        """What is left behind so many files."""
        paths = self.paths[max(count, 1) :]
        return replace(self, paths=paths) if paths else None

    def name(self, count: int) -> str:
        """The first files, in words."""
        last = self.paths[max(count, 1) - 1]
        return last if last == self.paths[0] else f"{self.paths[0]} to {last}"


class Span:
    """The time that a file covers.

    Attributes:
        first_ns: time of its first packet; None if it has none so far.
        last_ns: of its latest.
    """

    def __init__(self, first_ns: int | None = None, last_ns: int = 0) -> None:
        self.first_ns = first_ns
        self.last_ns = last_ns

    def add(self, time_ns: Integers) -> None:
        """More packets of it."""
        if self.first_ns is None:
            self.first_ns = int(time_ns[0])
        self.last_ns = max(self.last_ns, int(time_ns.max()))

    def is_continued_at(self, time_ns: int) -> bool:
        """Whether a file that begins at a time continues this one."""
        if self.first_ns is None:
            return True
        back = min(_MOST_BACK_NS, (self.last_ns - self.first_ns) // _BACK_SHARE)
        after = time_ns - self.last_ns
        return time_ns > self.first_ns and -back <= after <= MOST_APART_NS


def series(paths: Sequence[str], join: str) -> list[Series]:
    """Group captures.

    Args:
        paths: in the order in which they are to be decoded.
        join: one of ``JOIN``.

    Returns:
        Each path once, those that may continue each other together, in the order of their times,
        in the place of the first.
    """
    if join == "all":
        return [Series(tuple(paths), certain=True)]
    if join == "none":
        return [Series((path,)) for path in paths]
    groups: dict[tuple[str, str] | int, list[str]] = {}
    for number, path in enumerate(paths):
        groups.setdefault(_name(path) if os.path.isfile(path) else number, []).append(path)
    return [Series(tuple(some)) for group in groups.values() for some in _in_time(group)]


def _name(path: str) -> tuple[str, str]:
    """What the paths of captures that continue each other have in common: the folder, and the
    name without its numbers; the first file of ``tcpdump -C`` has none."""
    folder, name = os.path.split(os.path.abspath(path))
    return folder, _NUMBER.sub("#", _PACKED.sub("", name)).removesuffix("#")


def _in_time(paths: list[str]) -> list[list[str]]:
    if len(paths) < 2:
        return [paths]
    times = {path: first_time(path) for path in paths}
    timed = sorted((time, path) for path in times if (time := times[path]) is not None)
    others = [[path] for path in paths if times[path] is None]
    if len(timed) < len(times) - len(others) or len(set(paths)) < len(paths):
        return [[path] for path in paths]
    return ([[path for _, path in timed]] if timed else []) + others


def first_time(path: str) -> int | None:
    """When the first packet of a capture came, nanoseconds since 1970; None if it has none, or
    cannot be read."""
    try:
        source = open_input(path, ahead=2)
        try:
            for records in CaptureReader(path, source, chunk_size=1):
                return int(records.time_ns[0])
        finally:
            source.close()
    except CaptureError:
        return None  # whoever decodes it will say it
    return None


def last_time(path: str) -> int | None:
    """When the last packet of a capture came; None if that takes reading all of it, or cannot be
    told."""
    try:
        head = read_head(path)
        if head is None:
            return None
        size = os.path.getsize(path)
        start = find_record(path, head, max(size - _TAIL, 0))
        with Range(path, start, None) as source:
            latest = [int(each.time_ns.max()) for each in RangeReader(path, head, source, start)]
    except (CaptureError, OSError):
        return None
    return max(latest, default=None)
