"""``SplitDecoder``: the frames that begin in a part of a capture, without the rest of it.

Rules of this file: a frame belongs to the part that holds the record with its first byte; its part reads on behind its end
until the frame is there, within bounds (``Reach``).  What a part does not know at its start - where frames begin, what has been
sent before - it learns from the bytes in front of it; no connection needs its SYN.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from rocketwire_tools.pcap.engine import Decoder, Options, connections_of
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.inputs import open_input
from rocketwire_tools.pcap.splits import RangeReader, Split, find_record, read_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.inputs import ByteSource
    from rocketwire_tools.pcap.packets import Segments
    from rocketwire_tools.pcap.rows import Rows
    from rocketwire_tools.pcap.splits import Head

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

    def _rows(self) -> Iterator[Rows]:
        yield from self._front()
        yield from self._part()
        yield from self._beyond()
        self.totals.forgotten = self._flows.forgotten
        yield from self._finish()

    def _owned(self, rows: Rows | None) -> Rows | None:
        if rows is None:
            return None
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
        try:
            if split.start:
                head = read_head(split.path)
                if head is not None:
                    start = find_record(split.path, head, split.start - self._reach.behind)
                    yield from self._learn(split.path, head, start, split.start, 0)
            elif split.before is not None:
                yield from self._learn_of(split.before)
        except CaptureError:
            return  # whoever owns that part will say it

    def _learn_of(self, path: str) -> Iterator[Rows]:
        head = read_head(path)
        if head is not None:
            size = os.path.getsize(path)
            start = find_record(path, head, size - self._reach.behind)
            yield from self._learn(path, head, start, size, -_FAR)

    def _learn(self, path: str, head: Head, start: int, end: int, shift: int) -> Iterator[Rows]:
        with _Range(path, start, end) as source:
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
            source = _Range(split.path, start, split.end)
        try:
            reader = RangeReader(split.path, head, source, start, self._options.chunk_size)
            for records in reader:
                yield from self._feed(records)
            self.totals.truncated = reader.truncated
        finally:
            source.close()

    # ---- behind the part

    def _beyond(self) -> Iterator[Rows]:
        """Read on until the frames that began in the part are there."""
        split = self._split
        if not self._look_for_open():
            return
        if split.end is not None:
            head, path, start, shift = read_head(split.path), split.path, split.end, 0
        elif split.after is not None:
            head, path, start, shift = None, split.after, 0, _FAR
        else:
            return
        source = open_input(path) if head is None else _Range(path, start, None)
        try:
            reader = RangeReader(path, head, source, start + shift, _AHEAD_CHUNK)
            yield from self._until_closed(reader, start + shift)
        except CaptureError:
            return  # whoever owns that part will say it
        finally:
            source.close()

    def _until_closed(self, reader: RangeReader, start: int) -> Iterator[Rows]:
        latest: int | None = None
        for records in reader:
            if latest is None:
                latest = int(records.time_ns[0]) + self._reach.ahead_ns
            yield from self._feed(records)
            if not self._look_for_open() or int(records.time_ns[-1]) > latest:
                return
            if int(records.where[-1]) - start > self._reach.ahead:
                return

    def _look_for_open(self) -> bool:
        """Find out which connections may have frames of the part that are not known yet."""
        streams = self._flows.in_doubt(self._end)
        ends = np.array([one.source + one.target for one in streams], np.int64)
        self._open = np.unique(ends)
        return bool(streams)


class _Range:
    """Some bytes of a file.

    Args:
        path: of the file.
        start: offset of the first one.
        end: offset behind the last one; None for the end of the file.
    """

    def __init__(self, path: str, start: int, end: int | None) -> None:
        try:
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close
        except OSError as error:
            raise CaptureError(path, None, error.strerror or str(error)) from error
        self._file.seek(start)
        self._left = _FAR if end is None else end - start

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``."""
        count = self._file.readinto(buffer[: self._left]) or 0
        self._left -= count
        return count

    def close(self) -> None:
        """See ``ByteSource``."""
        self._file.close()
