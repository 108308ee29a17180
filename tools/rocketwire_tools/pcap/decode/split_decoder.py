"""``SplitDecoder``: the frames that begin in a part of a capture, without the rest of it.

Rules of this file: a frame belongs to the part that holds the record with its first byte; its part reads on behind its end
until the frame is there, within bounds (``Reach``).  What a part does not know at its start - where frames begin, what has been
sent before - it learns from the bytes in front of it; no connection needs its SYN.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.decode.decoder import Decoder, Options, connections_of
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.series import Span, first_time, last_time
from rocketwire_tools.pcap.files.splits import Range, RangeReader, Split, find_record, read_head

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from rocketwire_tools.pcap.files.inputs import ByteSource
    from rocketwire_tools.pcap.files.splits import Head
    from rocketwire_tools.pcap.packets.packets import Segments
    from rocketwire_tools.pcap.rows.rows import Rows
    from rocketwire_tools.pcap.streams.stream import Stream

    Array = np.ndarray[Any, Any]

_FAR: Final = 1 << 50
"""Added to offsets in the capture behind; taken from those in the one in front."""
_AHEAD_CHUNK: Final = 2 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a part looks beyond itself.

    Attributes:
        behind: bytes in front of it; segments that were sent again within them are known as such.
        ahead: bytes behind it.
        ahead_ns: nanoseconds of capture time behind it.
    """

    behind: int = 16 << 20
    ahead: int = 64 << 20
    ahead_ns: int = 5_000_000_000


class SplitDecoder(Decoder):
    """Decodes a part of a capture.

    Args:
        split: the part.
        options: how, as for ``Decoder``.
        reach: how far it looks beyond the part.
    """

    def __init__(
        self, split: Split, options: Options | None = None, reach: Reach | None = None
    ) -> None:
        super().__init__(split.path, options)
        self._split = split
        self._reach = Reach() if reach is None else reach
        self._end = _FAR if split.end is None else split.end
        self._open: Array | None = None
        self._doubted: list[Stream] = []
        self._latest: int | None = None
        self._last_ns = 0

    def _rows(self) -> Iterator[Rows]:
        yield from self._front()
        yield from self._part()
        yield from self._beyond()
        self.totals.forgotten = self._flows.forgotten
        yield from self._finish()

    def _owned(self, rows: Rows) -> Rows | None:
        mine = (rows.first_where >= self._split.start) & (rows.first_where < self._end)
        if mine.all():
            return rows
        kept = np.flatnonzero(mine)
        return rows.take(kept) if len(kept) else None

    def _wanted(self, every: Segments) -> Segments:
        every = super()._wanted(every)
        if self._open is None:
            return every
        return every.take(np.flatnonzero(np.isin(connections_of(every), self._open)))

    # ---- in front of the part

    def _front(self) -> Iterator[Rows]:
        """Learn from the bytes in front of the part."""
        split = self._split
        if not self._reach.behind:
            return
        left = self._reach.behind - split.start
        try:
            if left > 0 and split.before is not None and self._continues(split.before):
                yield from self._learn(split.before, os.path.getsize(split.before), left, -_FAR)
            if split.start:
                yield from self._learn(split.path, split.start, self._reach.behind, 0)
        except (CaptureError, OSError):
            return  # whoever owns that part will say it

    def _continues(self, before: str) -> bool:
        """Whether the file continues one that is not compressed."""
        if self._split.certain:
            return True
        first, last, own = first_time(before), last_time(before), first_time(self._split.path)
        return own is not None and last is not None and Span(first, last).is_continued_at(own)

    def _learn(self, path: str, end: int, count: int, shift: int) -> Iterator[Rows]:
        """Learn from some bytes in front of an offset; those of a compressed file are out of reach."""
        head = read_head(path)
        if head is None:
            return
        start = find_record(path, head, end - count)
        with Range(path, start, end) as source:
            for records in RangeReader(path, head, source, start + shift, self._options.chunk_size):
                yield from self._feed(records)

    # ---- the part

    def _part(self) -> Iterator[Rows]:
        split = self._split
        whole = split.start == 0 and split.end is None
        head = None if whole else read_head(split.path)
        if head is None:
            source: ByteSource = open_input(split.path)
            start = 0
        else:
            start = max(split.start, head.end)
            source = Range(split.path, start, split.end)
        try:
            reader = RangeReader(split.path, head, source, start, self._options.chunk_size)
            for records in reader:
                self._last_ns = max(self._last_ns, int(records.time_ns.max()))
                yield from self._feed(records)
            self.totals.truncated = reader.truncated
        finally:
            source.close()

    # ---- behind the part

    def _beyond(self) -> Iterator[Rows]:
        """Read on until the frames that began in the part are there, in the next file too if need be."""
        split = self._split
        try:
            if split.end is not None and self._look_for_open():
                source: ByteSource = Range(split.path, split.end, None)
                head = read_head(split.path)
                if not (yield from self._read_on(split.path, head, source, split.end)):
                    return
            if split.after is not None and self._look_for_open() and self._is_continued():
                yield from self._read_on(split.after, None, open_input(split.after), _FAR)
        except CaptureError:
            return  # whoever owns that part will say it

    def _is_continued(self) -> bool:
        """Whether the file behind continues this one, all of which has been read."""
        split = self._split
        if split.certain or split.after is None:
            return True
        span, after = Span(first_time(split.path), self._last_ns), first_time(split.after)
        return after is None or span.is_continued_at(after)

    def _read_on(
        self, path: str, head: Head | None, source: ByteSource, start: int
    ) -> Generator[Rows, None, bool]:
        """Returns whether that was all of the file."""
        reader = RangeReader(path, head, source, start, _AHEAD_CHUNK)
        try:
            for records in reader:
                if start < _FAR:
                    self._last_ns = max(self._last_ns, int(records.time_ns.max()))
                if self._latest is None:
                    self._latest = int(records.time_ns[0]) + self._reach.ahead_ns
                yield from self._feed(records)
                if not self._look_for_open() or int(records.time_ns[-1]) > self._latest:
                    return False
                if int(records.where[-1]) - start > self._reach.ahead:
                    return False
        finally:
            source.close()
        return True

    def _look_for_open(self) -> bool:
        """Find out which connections may have frames of the part that are not known yet."""
        if self._open is None:
            self._doubted = self._flows.in_doubt(self._end)
        else:  # what comes behind the part brings no others into doubt
            self._doubted = [one for one in self._doubted if one.may_have_begun(self._end)]
        ends = np.array([one.source + one.target for one in self._doubted], np.int64)
        self._open = np.unique(ends)
        return bool(self._doubted)
