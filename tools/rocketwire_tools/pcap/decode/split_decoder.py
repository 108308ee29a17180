"""``SplitDecoder``: decodes the frames that begin in a part of a capture.

A frame belongs to the part with the record of its first byte. The part reads on after its end until
the frame is complete, within ``Reach``. Frame boundaries and retransmissions at its start are
learned from the bytes before it; no SYN is needed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.decode.decoder import Decoder, Options, connections_of
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.series import Span, first_time, last_time
from rocketwire_tools.pcap.files.splits import Range, RangeReader, Split, find_record, read_head

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from rocketwire_tools.pcap.files.inputs import ByteSource
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.files.splits import Head
    from rocketwire_tools.pcap.packets.packets import Segments
    from rocketwire_tools.pcap.rows.rows import Rows
    from rocketwire_tools.pcap.streams.stream import Stream

_FAR: Final = 1 << 50
"""Distance between the offsets of a capture and those of the next or previous one."""
_AHEAD_CHUNK: Final = 2 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    backward: int = 16 << 20  # bytes before the part; retransmissions of these are recognised
    ahead: int = 64 << 20  # bytes after the part
    ahead_ns: int = 5_000_000_000  # nanoseconds of capture time after the part


class SplitDecoder(Decoder):
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
        yield from self._decode_front()
        yield from self._part()
        yield from self._decode_beyond()
        self.totals.forgotten = self._flows.forgotten
        yield from self._finish()

    def _select_rows(self, rows: Rows) -> Rows | None:
        mine = (rows.first_offset >= self._split.start) & (rows.first_offset < self._end)
        if mine.all():
            return rows
        kept = np.flatnonzero(mine)
        return rows.take(kept) if len(kept) else None

    def _select_segments(self, every: Segments) -> Segments:
        every = super()._select_segments(every)
        if self._open is None:
            return every
        return every.take(np.flatnonzero(np.isin(connections_of(every), self._open)))

    # ---- before the part

    def _decode_front(self) -> Iterator[Rows]:
        split = self._split
        if not self._reach.backward:
            return
        missing = self._reach.backward - split.start
        try:
            if missing > 0 and split.before is not None and self._continues(split.before):
                yield from self._learn(split.before, os.path.getsize(split.before), missing, -_FAR)
            if split.start:
                yield from self._learn(split.path, split.start, self._reach.backward, 0)
        except (CaptureError, OSError):
            return  # the decoder of that part reports the error

    def _continues(self, previous_path: str) -> bool:
        # Whether the file continues an uncompressed one
        if self._split.certain:
            return True
        first, last, own_first = (
            first_time(previous_path),
            last_time(previous_path),
            first_time(self._split.path),
        )
        return (
            own_first is not None
            and last is not None
            and Span(first, last).is_continued_at(own_first)
        )

    def _learn(self, path: str, end: int, count: int, shift: int) -> Iterator[Rows]:
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
        is_whole_file = split.start == 0 and split.end is None
        head = None if is_whole_file else read_head(split.path)
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

    # ---- after the part

    def _decode_beyond(self) -> Iterator[Rows]:
        # Read on until the frames of the part are complete, if necessary in the next file
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
            return  # the decoder of that part reports the error

    def _is_continued(self) -> bool:
        split = self._split
        if split.certain or split.after is None:
            return True
        span, next_first = Span(first_time(split.path), self._last_ns), first_time(split.after)
        return next_first is None or span.is_continued_at(next_first)

    def _read_on(
        self, path: str, head: Head | None, source: ByteSource, start: int
    ) -> Generator[Rows, None, bool]:
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
                if int(records.file_offset[-1]) - start > self._reach.ahead:
                    return False
        finally:
            source.close()
        return True

    def _look_for_open(self) -> bool:
        if self._open is None:
            self._doubted = self._flows.in_doubt(self._end)
        else:  # no stream is added after the part
            self._doubted = [stream for stream in self._doubted if stream.may_have_begun(self._end)]
        ends = np.array([stream.source + stream.target for stream in self._doubted], np.int64)
        self._open = np.unique(ends)
        return bool(self._doubted)
